import { setTimeout as sleep } from "node:timers/promises";
import { TransactionId } from "@hashgraph/sdk";
import { Agent, request } from "undici";
import type { Database } from "../../../shared/postgres.ts";
import { newLedgerBuyer } from "../../bench/ledger-process.ts";
import { chance, pick } from "../../bench/soak/chance.ts";
import type { World } from "../../bench/soak/world.ts";
import { signAuthorization } from "../../support/evm-payments.ts";
import { signHederaTransfer } from "../../support/hedera-payments.ts";
import type { Service } from "../../support/service.ts";
import type { OpenMarket } from "./market.ts";

const giveUpAfterMs = 40_000;
const callTimeoutMs = 20_000;
const agents = ["echo", "note", "tip"] as const;

/** One payment, what it was for, and every answer that was given for it. */
export interface Purchase {
  readonly agent: (typeof agents)[number];
  readonly network: string;
  readonly key: string;
  readonly header: string;
  readonly good: string;
  readonly bad: string | undefined;
  /** Settled at the facilitator first, as the specification's flow has it. */
  readonly literal: boolean;
  readonly settleBody: string;
  readonly answers: Answered[];
  readonly strangers: Answered[];
}

export interface Answered {
  readonly status: number;
  readonly input: string;
  /** Whether it says when to try again. */
  readonly retryAfter: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
  readonly body: any;
}

interface ShoppersNeeds {
  readonly world: World;
  readonly market: OpenMarket;
  readonly marketplaces: readonly Service[];
  readonly facilitators: readonly Service[];
  /** The facilitators'. */
  readonly db: Database;
}

/** Buyers who post until something is certain, each time to any of the copies. */
export class Shoppers {
  readonly purchases: Purchase[] = [];
  readonly statuses = new Map<string, number>();
  readonly #world: World;
  readonly #market: OpenMarket;
  readonly #marketplaces: readonly string[];
  readonly #facilitators: readonly string[];
  readonly #db: Database;
  readonly #agent = new Agent({ connections: 64, connectTimeout: 2_000 });
  #stopped = false;
  #working: Promise<unknown> = Promise.resolve();
  #made = 0;

  constructor({ world, market, marketplaces, facilitators, db }: ShoppersNeeds) {
    this.#world = world;
    this.#market = market;
    this.#marketplaces = marketplaces.map(({ url }) => url);
    this.#facilitators = facilitators.map(({ url }) => url);
    this.#db = db;
  }

  start(count: number): void {
    this.#working = Promise.all(Array.from({ length: count }, () => this.#work()));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  summary(): string {
    const had = this.purchases.filter(isDelivered).length;
    const statuses = [...this.statuses].toSorted().map(([status, times]) => `${status} × ${times}`);
    return `payments ${this.purchases.length} on ${this.#market.topic}, delivered ${had}; ${statuses.join(", ")}`;
  }

  /** Without faults: each buyer without a result posts again, until each is told something certain. */
  async collect(): Promise<void> {
    const open = this.purchases.filter((purchase) => !isDelivered(purchase));
    for (let at = 0; at < open.length; at += 8) {
      await Promise.all(
        open.slice(at, at + 8).map(async (purchase) => {
          for (let tries = 0; tries < 12; tries += 1) {
            const answer = await this.#post(purchase, purchase.good);
            if (answer && (answer.status === 200 || answer.status === 402)) return;
            await sleep(1_000);
          }
        }),
      );
    }
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const purchase = await this.#quoteAndSign().catch(() => undefined);
      if (!purchase) {
        await sleep(300);
        continue;
      }
      this.purchases.push(purchase);
      const untilMs = Date.now() + giveUpAfterMs;
      if (purchase.literal) await this.#settleFirst(purchase);
      let input = purchase.bad ?? purchase.good;
      while (Date.now() < untilMs) {
        if (chance() < 0.2) void this.#postAsStranger(purchase);
        const twice = chance() < 0.25;
        const answers = await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => this.#post(purchase, input)));
        if (answers.some((answer) => answer?.status === 200)) break;
        if (answers.some((answer) => answer && [400, 409, 422].includes(answer.status))) input = purchase.good;
        else if (answers.some((answer) => answer?.status === 402)) break;
        await sleep(100 + chance() * 600);
      }
    }
  }

  async #quoteAndSign(): Promise<Purchase> {
    this.#made += 1;
    const number = this.#made;
    const agent = agents[number % agents.length]!;
    const isBad = chance() < 0.3;
    const [good, bad] = await this.#inputsFor(agent);
    const quoted = await this.#call(`${pick(this.#marketplaces)}/api/agent/soak-creator/${agent}`, good, {});
    const quote = JSON.parse(Buffer.from(String(quoted.header), "base64").toString());
    const network = pick(["eip155:84532", "hedera:testnet"]);
    // biome-ignore lint/suspicious/noExplicitAny: a quote's entry
    const accepted = quote.accepts.find((entry: any) => entry.network === network);
    const { key, payload } = network.startsWith("eip155")
      ? await this.#signEvm(accepted)
      : await this.#signHedera(accepted, number);
    const proof = { x402Version: 2, resource: quote.resource, accepted, payload };
    return {
      agent,
      network,
      key,
      header: Buffer.from(JSON.stringify(proof)).toString("base64"),
      good,
      bad: isBad ? bad : undefined,
      literal: chance() < 0.3,
      settleBody: JSON.stringify({ x402Version: 2, paymentPayload: proof, paymentRequirements: accepted }),
      answers: [],
      strangers: [],
    };
  }

  /** One that the agent takes, different for each purchase, and one that it cannot. */
  async #inputsFor(agent: (typeof agents)[number]): Promise<[string, string]> {
    const text = (value: string) => JSON.stringify({ text: value });
    const name = `purchase ${this.#made}-${Math.floor(chance() * 1e9)}`;
    if (agent === "echo") return [text(name), text("x".repeat(300))];
    if (agent === "note") return [text(name), text("y".repeat(3_000))];
    const { accountId } = await newLedgerBuyer(this.#world.ledger, 0n);
    return [text(accountId), text(pick(["xyz", "0.0.99999999"]))];
  }

  // biome-ignore lint/suspicious/noExplicitAny: a quote's entry
  async #signEvm(accepted: any) {
    const buyer = pick(this.#world.buyers);
    const terms = { ...this.#world.terms, payTo: accepted.payTo, amount: accepted.amount };
    const validBefore = String(Math.floor(Date.now() / 1_000) + 75);
    const payload = await signAuthorization(buyer, terms, { validBefore });
    const { from, nonce } = payload.authorization;
    return { key: `${accepted.asset}:${from}:${nonce}`.toLowerCase(), payload };
  }

  // biome-ignore lint/suspicious/noExplicitAny: a quote's entry
  async #signHedera(accepted: any, number: number) {
    // Some seconds ago, as the SDK makes its ids.
    const seconds = Math.floor(Date.now() / 1_000) - 8;
    const nanos = String(number).padStart(9, "0");
    const key = `${accepted.extra.feePayer}@${seconds}.${nanos}`;
    const { buyer } = this.#world.ledger.accounts;
    const payload = await signHederaTransfer(
      buyer,
      { ...accepted, maxTimeoutSeconds: 75 },
      TransactionId.fromString(key),
    );
    return { key, payload };
  }

  async #settleFirst(purchase: Purchase): Promise<void> {
    for (let tries = 0; tries < 10; tries += 1) {
      const answer = await this.#call(`${pick(this.#facilitators)}/settle`, purchase.settleBody, {}).catch(
        () => undefined,
      );
      if (answer?.body?.success || answer?.body?.errorReason === "already_settled") return;
      await sleep(500);
    }
  }

  /** What the chain would show to every reader. */
  async #isSettled({ network, key }: Purchase): Promise<boolean> {
    const settled = "select from payments where network = $1 and payment_key = $2 and state = 'settled'";
    return (await this.#db.query(settled, [network, key])).rowCount === 1;
  }

  /** Posts what a stranger can know: a settled payment as the chain shows it, without the quote's secret; and another input. */
  async #postAsStranger(purchase: Purchase): Promise<void> {
    if (!(await this.#isSettled(purchase).catch(() => false))) return;
    const proof = JSON.parse(Buffer.from(purchase.header, "base64").toString());
    const { quoteId: _, ...extra } = proof.accepted.extra;
    const header = Buffer.from(JSON.stringify({ ...proof, accepted: { ...proof.accepted, extra } })).toString("base64");
    const [input] = await this.#inputsFor(purchase.agent).catch(() => []);
    if (input === undefined) return;
    const answer = await this.#call(this.#urlOf(purchase), input, { "payment-signature": header }).catch(
      () => undefined,
    );
    if (answer) purchase.strangers.push({ ...answer, input });
  }

  async #post(purchase: Purchase, input: string): Promise<Answered | undefined> {
    // Some hang up before they are answered.
    const timeoutMs = chance() < 0.1 ? chance() * 500 : callTimeoutMs;
    const header = { "payment-signature": purchase.header };
    const answer = await this.#call(this.#urlOf(purchase), input, header, timeoutMs).catch(() => undefined);
    if (!answer) return undefined;
    const { status, body, retryAfter } = answer;
    const said = { status, input, body, retryAfter };
    purchase.answers.push(said);
    const name =
      answer.status === 500
        ? `500 ${answer.body?.charged === undefined ? "bare" : "of the agent"}`
        : String(answer.status);
    this.statuses.set(name, (this.statuses.get(name) ?? 0) + 1);
    return said;
  }

  readonly #urlOf = ({ agent }: Purchase) => `${pick(this.#marketplaces)}/api/agent/soak-creator/${agent}`;

  async #call(url: string, text: string, headers: Record<string, string>, timeoutMs = callTimeoutMs) {
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: text,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const retryAfter = answered["retry-after"] !== undefined;
    // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
    return { status: statusCode, retryAfter, header: answered["payment-required"], body: (await body.json()) as any };
  }
}

export const isDelivered = ({ answers }: Purchase): boolean => answers.some(({ status }) => status === 200);
