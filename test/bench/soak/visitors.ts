import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { pick } from "./chance.ts";
import type { MadePayment } from "./payments.ts";
import type { PaymentRow, Truth } from "./verdict.ts";

const pauseMs = 100;
const pageTimeoutMs = 15_000;

/** What a payment's page says of its end, in the sentence that people read. */
const sentences = {
  settled: "the agreed transfer, seen on the chain",
  failed: "certainly not settled",
} as const;

type Said = keyof typeof sentences | "no end";

interface Page {
  readonly key: string;
  readonly said: Said;
  readonly text: string;
}

/** People who look at the pages of payments while these are settled, on whichever daemon they meet. Nothing stops them but `stop`. */
export class Visitors {
  readonly pages: Page[] = [];
  readonly #payments: readonly MadePayment[];
  readonly #urls: readonly string[];
  readonly #agent = new Agent({ connections: 16, connectTimeout: 2_000 });
  #stopped = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(payments: readonly MadePayment[], urls: readonly string[]) {
    this.#payments = payments;
    this.#urls = urls;
  }

  start(visitors: number): void {
    this.#working = Promise.all(Array.from({ length: visitors }, () => this.#visit()));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  /** A payment's page as it is now; undefined where there is none, or no daemon. */
  async look({ network, key }: Pick<MadePayment, "network" | "key">): Promise<Page | undefined> {
    try {
      const { statusCode, body } = await request(`${pick(this.#urls)}${pathOf(network, key)}`, {
        headers: { accept: "text/html" },
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(pageTimeoutMs),
      });
      const text = await body.text();
      return statusCode === 200 ? { key, said: saidBy(text), text } : undefined;
    } catch {
      return undefined;
    }
  }

  async #visit(): Promise<void> {
    while (!this.#stopped) {
      const newest = this.#payments.slice(-50);
      const page = newest.length > 0 ? await this.look(pick(newest)) : undefined;
      if (page) this.pages.push({ ...page, text: "" });
      await sleep(pauseMs);
    }
  }
}

function pathOf(network: string, key: string): string {
  if (!network.startsWith("eip155:")) return `/tx/${key}`;
  const [, payer = "", nonce = ""] = key.split(":");
  return `/tx?${new URLSearchParams({ network, payer, nonce })}`;
}

function saidBy(text: string): Said {
  const [end] = Object.entries(sentences).find(([, sentence]) => text.includes(sentence)) ?? [];
  return (end as Said | undefined) ?? "no end";
}

/** Pages that called a payment settled which never moved. One that failed may have been tried again since, and settled. */
export function untruePages(pages: readonly Page[], truth: Truth): readonly string[] {
  return pages
    .filter(({ key, said }) => said === "settled" && !truth.has(key))
    .map(({ key }) => `${key}: its page called it settled, and it did not move`);
}

/** Pages that do not say how their payment ended, or name another transaction. */
export async function wrongEnds(visitors: Visitors, rows: readonly PaymentRow[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { network, key, state, transaction } of rows) {
    const page = await visitors.look({ network, key });
    if (page?.said !== state) problems.push(`${key}: ${state}, and its page says ${page?.said ?? "nothing"}`);
    else if (state === "settled" && !page.text.includes(transaction ?? "")) {
      problems.push(`${key}: its page does not name ${transaction}`);
    }
  }
  return problems;
}
