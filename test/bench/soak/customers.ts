import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { chance } from "./chance.ts";
import { evmPayment, hederaPayment, type MadePayment } from "./payments.ts";
import type { World } from "./world.ts";

const giveUpAfterMs = 45_000;
const callTimeoutMs = 15_000;

/** A payment and all that any daemon ever answered about it. */
export interface Asked extends MadePayment {
  readonly answers: Answer[];
}

export interface Answer {
  readonly success: boolean;
  readonly reason: string;
  readonly transaction: string;
}

/**
 * Resource servers that settle one payment after another through whichever daemon they meet, ask again while nothing is
 * certain, and sometimes ask twice at once. Nothing stops them but `stop`.
 */
export class Customers {
  readonly asked: Asked[] = [];
  readonly #world: World;
  readonly #urls: readonly string[];
  readonly #agent = new Agent({ connections: 64, connectTimeout: 2_000 });
  #stopped = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(world: World, urls: readonly string[]) {
    this.#world = world;
    this.#urls = urls;
  }

  start(onEachNetwork: number): void {
    const workers = Array.from({ length: onEachNetwork }, (_, index) => [
      this.#work(() => evmPayment(this.#world.buyers[index % this.#world.buyers.length]!, this.#world.terms)),
      this.#work(() => hederaPayment(this.#world.ledger)),
    ]);
    this.#working = Promise.all(workers.flat());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  /** One more /settle of a payment, wherever. */
  async ask(payment: Asked): Promise<Answer | undefined> {
    const url = this.#urls[Math.floor(chance() * this.#urls.length)];
    try {
      const { statusCode, body } = await request(`${url}/settle`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: payment.body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(callTimeoutMs),
      });
      const { success, errorReason = "", transaction } = (await body.json()) as Reply;
      const answer = { success, reason: statusCode === 200 ? errorReason : `status ${statusCode}`, transaction };
      payment.answers.push(answer);
      return answer;
    } catch {
      // Killed, or too slow: what became of it is to be asked.
      return undefined;
    }
  }

  async #work(make: () => Promise<MadePayment>): Promise<void> {
    while (!this.#stopped) {
      const payment: Asked = { ...(await make()), answers: [] };
      this.asked.push(payment);
      const untilMs = Date.now() + giveUpAfterMs;
      const twice = chance() < 0.25;
      while (Date.now() < untilMs) {
        const answers = await Promise.all(twice ? [this.ask(payment), this.ask(payment)] : [this.ask(payment)]);
        if (answers.some((answer) => answer && isCertain(answer))) break;
        await sleep(100 + chance() * 400);
      }
    }
  }
}

interface Reply {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly transaction: string;
}

const isCertain = ({ success, reason }: Answer) =>
  success || !(reason === "settlement_pending" || reason.startsWith("status ") || passing.has(reason));

/** Nothing happened, and the same payment may be tried again. */
const passing = new Set(["transaction_failed", "invalid_exact_evm_transaction_failed", "unexpected_verify_error"]);
