import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { createPublicClient, http, parseAbiItem } from "viem";
import { evmPayment, type MadePayment } from "../bench/soak/payments.ts";
import type { World } from "../bench/soak/world.ts";
import type { Service } from "../support/service.ts";

const payersAtOnce = 6;
const attemptsMax = 400;

interface SettleAnswer {
  readonly success?: boolean;
  readonly errorReason?: string;
}

/** Each settles one payment after the other, and posts each until a copy says how it ended. */
export class Payers {
  readonly told: MadePayment[] = [];
  readonly toldAtMs: number[] = [];
  readonly #world: World;
  readonly #daemons: readonly Service[];
  #stopped = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(world: World, daemons: readonly Service[]) {
    this.#world = world;
    this.#daemons = daemons;
  }

  start(): void {
    this.#working = Promise.all(Array.from({ length: payersAtOnce }, (_, place) => this.#work(place)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  /** Posts a payment, to one copy after the other, until one says that it is settled. */
  async untilTold({ key, body }: MadePayment, first = 0): Promise<void> {
    const headers = { "content-type": "application/json" };
    for (let attempt = 0; ; attempt += 1) {
      const { url } = this.#daemons[(first + attempt) % this.#daemons.length]!;
      const response = await fetch(`${url}/settle`, { method: "POST", headers, body }).catch(() => undefined);
      const answer = (await response?.json().catch(() => undefined)) as SettleAnswer | undefined;
      if (answer?.success === true || answer?.errorReason === "already_settled") return;
      if (attempt === attemptsMax) throw new Error(`no end of ${key}: ${JSON.stringify(answer)}`);
      await pause(200);
    }
  }

  /** How many of these a copy says are settled when they are posted once more. */
  async findAgain(payments: readonly MadePayment[]): Promise<number> {
    const found = await Promise.allSettled(payments.map((payment) => this.untilTold(payment)));
    return found.filter(({ status }) => status === "fulfilled").length;
  }

  async #work(place: number): Promise<void> {
    for (let made = place; !this.#stopped; made += 1) {
      const payment = await evmPayment(this.#world.buyers[place % this.#world.buyers.length]!, this.#world.terms);
      await this.untilTold(payment, made);
      this.told.push(payment);
      this.toldAtMs.push(performance.now());
    }
  }
}

export async function settledIn(databaseUrl: string): Promise<string[]> {
  const { rows } = await queryOnce(databaseUrl, "select payment_key as key from payments where state = 'settled'");
  return rows.map(({ key }) => key as string);
}

export async function keysOnChain({ chain }: World): Promise<ReadonlySet<string>> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const used = await client.getLogs({
    address: chain.usdc,
    event: parseAbiItem("event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)"),
    fromBlock: 0n,
  });
  return new Set(used.map(({ args }) => `${chain.usdc}:${args.authorizer}:${args.nonce}`.toLowerCase()));
}

export async function queryOnce(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end().catch(() => {});
  }
}
