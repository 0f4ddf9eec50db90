import type { ClientRateLimitInfo, Options } from "express-rate-limit";
import { type RedisReply, RedisStore } from "rate-limit-redis";
import type { Log } from "./log.ts";
import { Counter, type Family, Gauge } from "./metrics.ts";
import type { Disposer } from "./process.ts";
import { type RequestCounts, windowMs } from "./rate-limit.ts";
import type { ValkeyConfig } from "./valkey.ts";
import { connect, type ValkeyClient } from "./valkey-client.ts";
import { within } from "./within.ts";

/** All that the store reads of them. */
const windowOptions = { windowMs } as Options;
/** A moment without an answer is no outage. */
const failingMaxMs = 250;
const callersMax = 50_000;
const askAgainMs = 500;
const silentMaxMs = 3_000;
const firstConnectMs = 1_000;

/**
 * Counts requests of all copies together in a Valkey. Whatever becomes of it, a request waits for some milliseconds at most:
 * one whose count does not come in time is counted by this copy alone, from where all had got to, and so are all others once none
 * has come for a quarter of a second, until a count of this copy's own comes through again.
 */
export class ValkeyCounts implements RequestCounts {
  readonly #config: ValkeyConfig;
  readonly #log: Log;
  readonly #store: RedisStore;
  /** What is known here of each caller's minute, the caller seen longest ago first. */
  readonly #known = new Map<string, { readonly totalHits: number; readonly resetTime: Date }>();
  readonly #missed = new Counter(
    "limit_counts_missed_total",
    "Requests that the Valkey did not count in time, or not.",
  );
  readonly #asking: NodeJS.Timeout;
  #client: ValkeyClient;
  #isShared = false;
  #isAsking = false;
  #failingSince: number | undefined;
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
        const { totalHits, resetTime } = await within(this.#config.answerWithinMs, this.#store.increment(caller));
        this.#failingSince = undefined;
        return this.#know(caller, totalHits, resetTime);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#missed.add({});
    return this.#countAlone(caller);
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

  #countAlone(caller: string): ClientRateLimitInfo {
    const now = Date.now();
    const known = this.#known.get(caller);
    if (!known || known.resetTime.getTime() <= now) return this.#know(caller, 1, new Date(now + windowMs));
    return this.#know(caller, known.totalHits + 1, known.resetTime);
  }

  #know(caller: string, totalHits: number, resetTime = new Date(Date.now() + windowMs)): ClientRateLimitInfo {
    const known = { totalHits, resetTime };
    this.#known.delete(caller);
    this.#known.set(caller, known);
    if (this.#known.size > callersMax) this.#known.delete(this.#known.keys().next().value as string);
    return known;
  }

  #failed(error: unknown): void {
    this.#failingSince ??= Date.now();
    if (!this.#isShared || Date.now() - this.#failingSince < failingMaxMs) return;
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
      this.#failingSince = undefined;
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

/** Connected where that takes a moment only. */
export async function startValkeyCounts(
  config: ValkeyConfig,
  options: { readonly name: string; readonly log: Log },
  disposer: Disposer,
): Promise<ValkeyCounts> {
  const counts = new ValkeyCounts(config, options);
  disposer.add(() => counts.stop());
  await counts.start();
  return counts;
}
