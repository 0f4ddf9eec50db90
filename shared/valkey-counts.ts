import { createClient } from "@redis/client";
import type { ClientRateLimitInfo, Options } from "express-rate-limit";
import { type RedisReply, RedisStore } from "rate-limit-redis";
import { z } from "zod";
import { type EnvReader, Secret } from "./env.ts";
import type { Log } from "./log.ts";
import { Counter, type Family, Gauge } from "./metrics.ts";
import type { Disposer } from "./process.ts";
import { InMemoryCounts, type RequestCounts, windowMs } from "./rate-limit.ts";

/** Where all copies count requests together, other than in the database; it speaks the protocol of Redis. */
export interface ValkeyConfig {
  readonly url: Secret;
  /** How long a request waits for its count at most. */
  readonly answerWithinMs: number;
}

export function readValkey(env: EnvReader): ValkeyConfig | undefined {
  const url = env.optional("REDIS_URL");
  const answerWithinMs = env.integer("REDIS_TIMEOUT_MS", 50, { min: 1, max: 10_000 });
  if (url === undefined) return undefined;
  if (!/^rediss?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    env.problem("REDIS_URL must be a URL starting with redis:// or rediss://", undefined);
  }
  return { url: new Secret(url), answerWithinMs };
}

/** All that the store reads of them. */
const windowOptions = { windowMs } as Options;
const failuresMax = 3;
const askAgainMs = 500;
const silentMaxMs = 3_000;
const firstConnectMs = 1_000;

/**
 * Counts requests of all copies together in a Valkey. Whatever becomes of it, a request waits for some milliseconds at most:
 * one whose count does not come in time is counted by this copy alone, and so are all others once three in a row have failed,
 * until a count of this copy's own comes through again.
 */
export class ValkeyCounts implements RequestCounts {
  readonly #config: ValkeyConfig;
  readonly #log: Log;
  readonly #store: RedisStore;
  readonly #own = new InMemoryCounts();
  readonly #missed = new Counter(
    "limit_counts_missed_total",
    "Requests that the Valkey did not count in time, or not.",
  );
  readonly #asking: NodeJS.Timeout;
  #client: ReturnType<typeof connect>;
  #isShared = false;
  #isAsking = false;
  #failures = 0;
  #heardAt = Date.now();

  /** `name` keeps the counts of different services in one Valkey apart. */
  constructor(config: ValkeyConfig, { name, log }: { readonly name: string; readonly log: Log }) {
    this.#config = config;
    this.#log = log;
    this.#client = connect(this.#config.url);
    this.#store = new RedisStore({ prefix: `${name}:`, sendCommand: (...args) => this.#send(args) });
    this.#asking = setInterval(() => void this.#askAgain(), askAgainMs).unref();
  }

  /** Waits a moment for the connection; without one this copy begins by counting alone. */
  async start(): Promise<void> {
    const connected = new Promise((resolve) => this.#client.once("ready", resolve));
    await within(firstConnectMs, connected).catch(() => {});
    await this.#askAgain();
    if (!this.#isShared) this.#log.warn("the Valkey does not answer: each copy counts alone");
  }

  /** False while this copy counts alone. */
  get isShared(): boolean {
    return this.#isShared;
  }

  get families(): readonly Family[] {
    const help = "1 while this copy counts requests alone, because the Valkey does not answer.";
    return [new Gauge("limits_counted_alone", help, [[{}, this.#isShared ? 0 : 1]]), this.#missed];
  }

  async increment(caller: string): Promise<ClientRateLimitInfo> {
    if (this.#isShared) {
      try {
        const counted = await within(this.#config.answerWithinMs, this.#store.increment(caller));
        this.#failures = 0;
        return counted;
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#missed.add({});
    return this.#own.increment(caller);
  }

  decrement(): void {}

  resetKey(): void {}

  stop(): void {
    clearInterval(this.#asking);
    this.#client.destroy();
  }

  #send(command: string[]): Promise<RedisReply> {
    return this.#client.sendCommand<RedisReply>(command);
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    if (!this.#isShared || this.#failures < failuresMax) return;
    this.#isShared = false;
    this.#heardAt = Date.now();
    this.#log.warn({ err: error }, "the Valkey does not count: each copy counts alone");
  }

  /** Counts something of our own: a server that is full or only reads answers everything else. */
  async #askAgain(): Promise<void> {
    if (this.#isShared || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const counted = this.#store.init(windowOptions).then(() => this.#store.increment("is it there"));
      await within(Math.max(askAgainMs, this.#config.answerWithinMs), counted);
      this.#isShared = true;
      this.#failures = 0;
      this.#log.info("the Valkey counts for all copies together");
    } catch {
      this.#reconnectIfSilent();
    } finally {
      this.#isAsking = false;
    }
  }

  /** A machine that vanished closes nothing, and a socket would wait for a quarter of an hour. */
  #reconnectIfSilent(): void {
    if (Date.now() - this.#heardAt < silentMaxMs) return;
    this.#heardAt = Date.now();
    this.#client.destroy();
    this.#client = connect(this.#config.url);
  }
}

function connect(url: Secret) {
  const client = createClient({
    url: url.reveal(),
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: 2_000, reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, 1_000) },
  });
  // What it leads to is said once: that counting together has ended.
  client.on("error", () => {});
  client.connect().catch(() => {});
  return client;
}

/** Those that the configuration asks for, connected where that takes a moment only. */
export async function startValkeyCounts(
  config: ValkeyConfig | undefined,
  options: { readonly name: string; readonly log: Log },
  disposer: Disposer,
): Promise<ValkeyCounts | undefined> {
  if (!config) return undefined;
  const counts = new ValkeyCounts(config, options);
  disposer.add(() => counts.stop());
  await counts.start();
  return counts;
}

/** Rejects when the work takes longer. An answer that has come while this process was busy is read before it is given up. */
function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(reject, new Error(`no answer within ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Where the limits on requests are counted, as `/health` tells it. */
export interface Counting {
  readonly store: "database" | "valkey";
  readonly shared: boolean;
}

export const countingShape = z
  .object({
    store: z.enum(["database", "valkey"]),
    shared: z.boolean().describe("False while the Valkey does not answer, and each copy counts alone."),
  })
  .describe("Where the limits on requests are counted. Those that guard money are always in the database.")
  .meta({ id: "Counting" });

export function countingOf(valkey: ValkeyCounts | undefined): Counting {
  return valkey ? { store: "valkey", shared: valkey.isShared } : { store: "database", shared: true };
}
