import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { errorOf } from "./answer.ts";
import { forget, type KeptPayment } from "./kept.ts";
import { usdc } from "./money.ts";
import type { Delivered } from "./post-payment.ts";
import type { PaymentView } from "./view.ts";

/**
 * What the answer to a payment means for its payer.
 * - `delivered`: the result is here. `free`: it is here, and nothing was taken for it.
 * - `owed`: settled without a result yet; the same payment fetches one, unless nothing sells it any more (`gone`).
 * - `used`: settled, and its result was handed out before.
 * - `refused`: the payment was refused. `failed`: the run failed, and the payment was not settled. `rejected`: the request was wrong.
 * - `open`: the answer says nothing of the money, and the payment is not over: it was settled, or still may be.
 */
export type PaymentEnd = "delivered" | "free" | "owed" | "gone" | "used" | "refused" | "failed" | "rejected" | "open";

/**
 * Shows how the payment ended, and forgets it unless the same one can still fetch its result. A delivered one is left to
 * `closePayment`, once its result is shown and kept.
 */
export async function endPayment({ bought, kept, delivered, hasResult, view }: Ended): Promise<PaymentEnd> {
  const end = await endOf(delivered, hasResult);
  if (end === "delivered") return end;
  if (end === "owed") view.payment(kept, await delivered.watch.last());
  if (end === "gone" || end === "used") await closePayment({ bought, kept, delivered, view });
  if (end === "owed" || end === "gone" || end === "used") return end;
  if (end !== "free" && delivered.body.charged !== false) {
    const progress = await delivered.watch.last();
    if (!isOver(progress, kept, delivered)) {
      view.payment(kept, progress);
      // Only what it was posted with is wrong: it buys a run of something else.
      return progress?.state === "settled" && delivered.body.field !== undefined ? "owed" : "open";
    }
  }
  forget(bought, "payment");
  delivered.watch.stop();
  if (end === "refused") view.payment(kept, undefined, { at: "payment", said: "Nothing moved" });
  else if (end === "failed") view.payment(kept, undefined, { at: "run", said: "Not settled" });
  else view.noPayment();
  return end;
}

/** Forgets a payment that fetches nothing more, then shows how it went at last. */
export async function closePayment({ bought, kept, delivered, view }: Omit<Ended, "hasResult">): Promise<void> {
  forget(bought, "payment");
  view.payment(kept, await delivered.watch.last());
}

interface Ended {
  /** By which name the payment is kept. */
  readonly bought: string;
  readonly kept: KeptPayment;
  readonly delivered: Delivered;
  readonly hasResult: boolean;
  readonly view: PaymentView;
}

async function endOf({ status, body, isSettled, isAgain, watch }: Delivered, hasResult: boolean): Promise<PaymentEnd> {
  if (status === 200 && hasResult) {
    // An earlier post may have been settled, whatever this one was answered.
    const isPaid = isSettled || (isAgain && (await watch.last())?.state === "settled");
    return isPaid ? "delivered" : "free";
  }
  if (status === 402 && errorOf(status, body).startsWith("already_settled:")) return "used";
  if (body.charged === true) return status === 410 ? "gone" : "owed";
  if (status === 402) return "refused";
  return status >= 500 ? "failed" : "rejected";
}

/** Nothing of it can move any more: it failed; or it was never seen, and no earlier post can be on its way. */
export function isOver(
  progress: PaymentProgress | undefined,
  { endsAt, clockAhead = 0 }: Pick<KeptPayment, "endsAt" | "clockAhead">,
  { isAgain }: Pick<Delivered, "isAgain">,
): boolean {
  if (progress?.state === "failed") return true;
  return progress?.state === "unseen" && !(isAgain && Date.now() - clockAhead < endsAt + clocksDifferMs);
}

const clocksDifferMs = 60_000;

/** Without the code that it begins with. */
export function withoutCode(error: string): string {
  return error.replace(/^\w+: /, "");
}

/** Money moved, and the answer left the service; this page, or its connection, was gone when it came. */
export function usedSaid({ amount }: KeptPayment, error: string): string {
  return `${withoutCode(error)} ${usdc(amount)} USDC moved, once. Nothing more was charged.`;
}
