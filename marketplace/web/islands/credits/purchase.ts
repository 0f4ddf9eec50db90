import { figures } from "../../../../shared/page/figures.ts";
import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { byId, callout, el } from "../dom/elements.ts";
import { showFieldError } from "../dom/fields.ts";
import { pageAt } from "../dom/page-at.ts";
import { AnswerError, errorOf, jsonOf } from "../payment/answer.ts";
import { isOver, withoutCode } from "../payment/end-payment.ts";
import { findKept, forget, type KeptPayment, keep } from "../payment/kept.ts";
import { creditsOf, usdcOf } from "../payment/money.ts";
import { type Delivered, postPayment } from "../payment/post-payment.ts";
import { signPayment } from "../payment/sign-payment.ts";
import type { ChosenWallet } from "../payment/wallet-panel.ts";
import type { Amount } from "./amount.ts";
import type { PurchaseView } from "./purchase-view.ts";

export interface Buying {
  readonly form: HTMLFormElement;
  readonly amount: Amount;
  readonly view: PurchaseView;
  /** By which name the payment is kept in this tab: it is good for one account. */
  readonly keptAs: string;
}

const purchasePath = "/api/account/credits/purchase";

/**
 * Asks what the credits cost, has the wallet sign that, and posts the payment until its end is known. A payment whose end is not
 * known yet is posted instead: no second one is made beside it.
 */
export async function buy(buying: Buying, by: ChosenWallet): Promise<void> {
  const { form, amount, view, keptAs } = buying;
  const { account } = form.dataset;
  const { payment: unended } = findKept(keptAs);
  if (unended) return deliver(buying, unended, true);
  const input = { credits: amount.credits };
  const body = JSON.stringify(input);
  view.payment({});
  const agreesTo = async (credits: number) => credits === input.credits;
  const kept = await signPayment({ url: purchasePath, body, input, account, agreesTo, view, ...by });
  if ("title" in kept) return view.tell(kept.title, kept.said);
  keep(keptAs, { payment: kept });
  await deliver(buying, kept, false);
}

/** Posts a payment, again and again where its answer is lost: it is charged and credited once. */
export async function deliver(buying: Buying, kept: KeptPayment, isResumed: boolean): Promise<void> {
  const { view } = buying;
  const delivered = await postPayment(purchasePath, kept, view, { isResumed });
  if (!delivered) return view.offerToAsk(kept, view.last, "The end of this payment is not known yet", doNotPay);
  await conclude(buying, kept, delivered, await delivered.watch.last());
}

const doNotPay = "Do not pay again. This page keeps the payment; the same one is credited once.";

async function conclude(
  { view, keptAs }: Buying,
  kept: KeptPayment,
  delivered: Delivered,
  progress: PaymentProgress | undefined,
): Promise<void> {
  const { status, body } = delivered;
  const error = errorOf(status, body);
  if ((status === 200 && body.success === true) || (await isInStatement(progress))) {
    forget(keptAs, "payment");
    const [isListed] = await Promise.all([showInStatement(), showBalance()]);
    const settled = progress && ({ ...progress, state: "settled", ran: true } as const);
    return view.show(kept, settled, undefined, credited(kept, isListed));
  }
  // The session ended, or the service failed: neither says anything of the money.
  const isSettled = progress?.state === "settled" || body.charged === true;
  if (status === 401 || status === 403) {
    return view.offerToAsk(kept, progress, "Sign in again", `${error} ${doNotPay}`);
  }
  if (isSettled || status >= 500 || !isOver(progress, kept, delivered)) {
    return view.offerToAsk(kept, progress, isSettled ? "Paid, and not credited yet" : error, doNotPay);
  }
  forget(keptAs, "payment");
  view.show(
    kept,
    undefined,
    { at: "payment", said: "Nothing moved" },
    callout("bad", "The payment was refused", withoutCode(error)),
  );
}

/** A payment that was answered before is not answered again: the statement says whether it was credited. */
async function isInStatement(progress: PaymentProgress | undefined): Promise<boolean> {
  if (!progress || progress.transaction === null) return false;
  const answer = await fetch("/api/account/ledger?kind=purchase&limit=100").catch(() => undefined);
  if (!answer?.ok) return false;
  const { postings } = (await jsonOf(answer)) as {
    postings?: ReadonlyArray<{ payment?: { transaction: string } | null }>;
  };
  return (postings ?? []).some(({ payment }) => payment?.transaction === progress.transaction);
}

function credited({ input }: KeptPayment, isListed: boolean): HTMLElement {
  const href = isListed ? "#statement" : "/settings/credits";
  const link = el("a", { class: "link", href }, "Show it in the statement");
  return callout("ok", `${creditsOf(Number(input.credits))} are in your balance`, link);
}

/** The statement of this page, with what was bought; false where it stays as it was, since it shows a part. */
async function showInStatement(): Promise<boolean> {
  if (location.search !== "") return false;
  const [here, page] = [byId("statement-rows"), await pageAt(location.pathname)];
  const there = page?.getElementById("statement-rows");
  if (!here || !there) return false;
  here.replaceChildren(...there.childNodes);
  return true;
}

async function showBalance(): Promise<void> {
  const answer = await fetch("/api/account/credits").catch(() => undefined);
  if (!answer?.ok) return;
  const credits = Number((await jsonOf(answer)).credits);
  const text = figures(credits);
  byId("balance-usd")?.replaceChildren(`= ${usdcOf(credits).replace("USDC", "USD")}`);
  byId("balance-now")?.replaceChildren(text);
  document.querySelector(".bar .balance b")?.replaceChildren(text);
}

/** What went wrong in this page: before anything was signed, or while a payment is under way. */
export function tellFailure({ form, view, keptAs }: Buying, error: unknown): void {
  const { payment } = findKept(keptAs);
  if (payment) {
    view.offerToAsk(payment, undefined, "This page failed while the payment was under way", doNotPay);
    return;
  }
  const said = error instanceof Error ? error.message : "Something failed in this page.";
  view.tell(said, "Nothing was charged.");
  if (error instanceof AnswerError) showFieldError(form, error.body.field, said);
}
