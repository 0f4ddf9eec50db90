import { encodeHeader } from "../../../../client/payments/quote.ts";
import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { refusalOf, type Wallet } from "../wallet/providers.ts";
import { usdc } from "./card.ts";
import type { KeptPayment } from "./kept.ts";
import { askQuote, jsonOf } from "./quote.ts";
import type { RailEnd } from "./rail.ts";
import { sign } from "./sign.ts";
import { connectHedera } from "./sign-hedera.ts";

/** Where the page shows how a payment goes. */
export interface PaymentView {
  payment(kept: Partial<KeptPayment>, told?: PaymentProgress, end?: RailEnd): void;
  noPayment(): void;
  wait(said?: string): void;
}

/** What is bought: the body is posted to the address, for the price that it quotes. */
export interface Purchase {
  readonly url: string;
  readonly body: string;
  /** What the price is asked for with, where the body is too large to be sent for that. */
  readonly priced?: string;
  readonly wallet: Wallet;
  readonly network: string;
  /** Asked with the price in credits, before anything is signed. */
  readonly agreesTo: (credits: number) => Promise<boolean>;
  readonly view: PaymentView;
}

/** Why nothing was signed; nothing was charged then. */
export interface NotSigned {
  readonly tone: "info" | "warn";
  readonly title: string;
  readonly said: string;
}

/** Asks for the price and has the wallet sign it. Throws AnswerError where there is something else than a price. */
export async function signPayment(purchase: Purchase): Promise<Omit<KeptPayment, "input"> | NotSigned> {
  const { url, body, priced = body, wallet, network, agreesTo, view } = purchase;
  // Before the price is: a quoted payment is good for minutes, which finding the telephone can take.
  if (wallet.networks) {
    const refusal = await connectHedera(wallet, network).then(() => undefined, refusalOf);
    if (refusal) return notSigned(view, refusal);
  }
  view.wait("price asked for");
  const quote = await askQuote(url, priced);
  const accepted = quote.accepts.find((entry) => entry.network === network);
  if (!accepted) {
    const said = "This network is not offered at the moment. Nothing was charged.";
    return { tone: "warn", title: "Not payable there", said };
  }
  // A credit is a cent, and the stablecoin has six decimals.
  if (!(await agreesTo(Math.ceil(Number(accepted.amount) / 10_000)))) {
    return { tone: "info", title: "Not run", said: "You did not agree to the new price. Nothing was charged." };
  }
  const quotedAt = Date.now();
  view.payment({ quotedAt, amount: accepted.amount });
  view.wait("confirm the payment in your wallet");
  const signed = await sign(wallet.provider, accepted, quote.at).catch((error: unknown) => ({
    refusal: refusalOf(error),
  }));
  if ("refusal" in signed) return notSigned(view, signed.refusal);
  const { payload, asked, endsAt } = signed;
  const payment = { x402Version: 2, resource: quote.resource, accepted, payload };
  const header = encodeHeader(payment);
  return { header, body, asked, endsAt, amount: accepted.amount, quotedAt, signedAt: Date.now() };
}

function notSigned(view: PaymentView, refusal: string): NotSigned {
  view.noPayment();
  return { tone: "warn", title: refusal, said: "Nothing was charged." };
}

/** The answer to a payment, and how it can still be watched. */
export interface Delivered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** It was posted before. */
  readonly isAgain: boolean;
  readonly watch: Watch;
}

/**
 * Posts a payment, again and again where its answer is lost: it is charged once and buys one result. Undefined while its end is not
 * known.
 */
export async function postPayment(url: string, kept: KeptPayment, view: PaymentView, isResumed: boolean) {
  const watch = watchPayment(kept, (progress) => view.payment(kept, progress));
  view.payment(kept);
  view.wait(isResumed ? "the same payment is posted again" : undefined);
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const answer = await post(url, kept);
      if (answer && !isPassing(answer.status)) {
        return { ...answer, isAgain: isResumed || attempt > 0, watch } satisfies Delivered;
      }
      view.wait(
        answer
          ? "not known yet; the same payment is posted again"
          : "connection lost; the same payment is posted again",
      );
      await pause(answer?.retryAfterMs ?? 1_500);
    }
    watch.stop();
  } catch (error) {
    watch.stop();
    throw error;
  }
  return undefined;
}

interface Posted {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number;
}

async function post(url: string, { header, body }: KeptPayment): Promise<Posted | undefined> {
  try {
    const headers = { "content-type": "application/json", "payment-signature": header };
    const answer = await fetch(url, { method: "POST", headers, body });
    const seconds = Number(answer.headers.get("retry-after") ?? 2);
    return {
      status: answer.status,
      body: await jsonOf(answer),
      retryAfterMs: Math.min(10, Math.max(1, seconds)) * 1_000,
    };
  } catch {
    return undefined;
  }
}

/** Of these it is not known what became of the payment: the same is asked again. */
const isPassing = (status: number) =>
  status === 408 || status === 429 || status === 502 || status === 503 || status === 504;

/** Money moved, and the answer left the service; this page, or its connection, was gone when it came. */
export function isUsed(error: string): boolean {
  return error.startsWith("already_settled:");
}

export function usedSaid({ amount }: KeptPayment, error: string): string {
  return `${error.replace(/^\w+: /, "")} ${usdc(amount)} USDC moved, once. Nothing more was charged.`;
}

interface Watch {
  stop(): void;
  /** How it went at last, with the times of all its stops. */
  last(): Promise<PaymentProgress | undefined>;
}

/** Asks how the payment goes, once a second. */
function watchPayment({ asked }: KeptPayment, told: (progress: PaymentProgress) => void): Watch {
  let isStopped = false;
  const ask = async (): Promise<PaymentProgress | undefined> => {
    const answer = await fetch(`/api/payments?${new URLSearchParams(asked)}`).catch(() => undefined);
    return answer?.ok ? ((await answer.json()) as PaymentProgress) : undefined;
  };
  const watch = async () => {
    while (!isStopped) {
      await pause(1_000);
      const progress = isStopped ? undefined : await ask();
      if (progress && !isStopped) told(progress);
    }
  };
  void watch();
  return {
    stop: () => {
      isStopped = true;
    },
    last: async () => {
      isStopped = true;
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const progress = await ask();
        if (progress?.state === "settled" && progress.settled_at !== null) return progress;
        await pause(500);
      }
      return ask();
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** With the pauses, minutes: longer than a payment can be unknown and its facilitator be asked. */
const attemptsMax = 120;
