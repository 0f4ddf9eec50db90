import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { jsonOf } from "./answer.ts";
import type { KeptPayment } from "./kept.ts";
import { shownTo } from "./shown-to.ts";
import type { PaymentView } from "./view.ts";

/** The answer to a payment, and how it can still be watched. */
export interface Delivered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** The payment was posted before. */
  readonly isAgain: boolean;
  /** A settlement came beside it: what turned out to be free has none. */
  readonly isSettled: boolean;
  readonly watch: Watch;
}

/**
 * Posts a payment, again and again where its answer is lost: it is charged once and buys one result. Undefined while its end is not
 * known. `signIn` shows the wallet that paid (SIGN-IN-WITH-X), and is good for one post.
 */
export async function postPayment(
  url: string,
  kept: KeptPayment,
  view: PaymentView,
  { isResumed, signIn }: { readonly isResumed: boolean; readonly signIn?: string | undefined },
) {
  const watch = watchPayment(kept, (progress) => view.payment(kept, progress));
  view.payment(kept);
  view.wait(isResumed ? "the same payment is posted again" : undefined);
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const answer = await post(url, kept, attempt === 0 ? signIn : undefined);
      if (answer && !isPassing(answer, attempt)) {
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
  readonly isSettled: boolean;
  readonly retryAfterMs: number;
  /** Somebody has to act first. */
  readonly takesLong: boolean;
}

async function post(url: string, { header, body, account }: KeptPayment, signIn?: string): Promise<Posted | undefined> {
  try {
    const shown = { ...shownTo(account), ...(signIn && { "sign-in-with-x": signIn }) };
    const headers = { "content-type": "application/json", "payment-signature": header, ...shown };
    const answer = await fetch(url, { method: "POST", headers, body });
    // What stands before the service may name a date there.
    const asked = Number(answer.headers.get("retry-after") ?? 2);
    const seconds = Number.isFinite(asked) ? asked : 2;
    return {
      status: answer.status,
      body: await jsonOf(answer),
      isSettled: answer.headers.has("payment-response"),
      retryAfterMs: Math.min(10, Math.max(1, seconds)) * 1_000,
      takesLong: seconds > 60,
    };
  } catch {
    return undefined;
  }
}

/** These leave it unknown what became of the payment, or may be over in a moment: the same one is posted again. */
function isPassing({ status, body, takesLong }: Posted, attempt: number): boolean {
  const saysWhatWasCharged = typeof body.charged === "boolean";
  return passingStatuses.has(status) && (!saysWhatWasCharged || (!takesLong && attempt + 1 < attemptsWhereCharged));
}

const passingStatuses = new Set([408, 429, 502, 503, 504]);

interface Watch {
  stop(): void;
  /** How it went at last, with the times of all its stops. */
  last(): Promise<PaymentProgress | undefined>;
}

/** Asks how the payment goes, once a second. */
function watchPayment({ asked }: KeptPayment, told: (progress: PaymentProgress) => void): Watch {
  let isStopped = false;
  const ask = async (): Promise<PaymentProgress | undefined> => {
    const signal = AbortSignal.timeout(askedMsMax);
    const answer = await fetch(`/api/payments?${new URLSearchParams(asked)}`, { signal }).catch(() => undefined);
    return answer?.ok ? ((await answer.json().catch(() => undefined)) as PaymentProgress | undefined) : undefined;
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
      const until = Date.now() + askedMsMax;
      for (let attempt = 0; attempt < 4 && Date.now() < until; attempt += 1) {
        const progress = await ask();
        if (progress?.state === "settled" && progress.settled_at !== null) return progress;
        await pause(500);
      }
      return ask();
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** How long the service may take to tell how a payment goes. */
const askedMsMax = 5_000;
/** With the pauses, minutes: longer than a payment can be unknown and its facilitator be asked. */
const attemptsMax = 120;
/** Where the answer says what was charged, its reader learns it soon. */
const attemptsWhereCharged = 3;
