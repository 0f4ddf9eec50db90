import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { callout, el, hash } from "../dom/elements.ts";
import { writeInput } from "../dom/fields.ts";
import { focusOn } from "../dom/focus.ts";
import { findKept, type KeptPayment, keep } from "../payment/kept.ts";
import { usdc } from "../payment/money.ts";
import { signAgain } from "../payment/sign-again.ts";
import { OtherAccountError } from "../payment/sign-text.ts";
import {
  findUnsigned,
  forgetNamed,
  hold,
  isHeld,
  readUnsigned,
  release,
  released,
  signerOf,
  type UnsignedPayment,
} from "../payment/unsigned.ts";
import { refusalOf } from "../wallet/providers.ts";
import type { Paying } from "./pay-with-wallet.ts";

interface Needs {
  readonly paying: Paying;
  /** Posts a payment that was signed. */
  readonly post: (kept: KeptPayment) => Promise<void>;
}

/**
 * Offers to fetch what was paid for in a page that is closed since, also one that is closed while this one is open; of what ended
 * meanwhile it tells how.
 */
export async function offerLost(needs: Needs): Promise<void> {
  for (const name of findUnsigned(needs.paying.agent)) {
    const offered = offerWhenReleased(needs, name).catch(() => {});
    if (!(await isHeld(name))) await offered;
  }
}

async function offerWhenReleased(needs: Needs, name: string): Promise<void> {
  if (await isHeld(name)) await released(name);
  const payment = readUnsigned(name);
  if (!payment) return;
  const progress = await progressOf(payment.asked);
  // The page that had it was loaded anew.
  if (await isHeld(name)) return void offerWhenReleased(needs, name).catch(() => {});
  // Its result may be shown by another tab, or was forgotten there, while it was asked about.
  if (!readUnsigned(name)) return;
  const end = endOf(payment, progress);
  needs.paying.form.before(end ? endNotice(name, end) : offer(needs, [name, payment], progress));
}

async function progressOf(asked: Readonly<Record<string, string>>): Promise<PaymentProgress | undefined> {
  const signal = AbortSignal.timeout(5_000);
  const answer = await fetch(`/api/payments?${new URLSearchParams(asked)}`, { signal }).catch(() => undefined);
  return answer?.ok ? ((await answer.json().catch(() => undefined)) as PaymentProgress | undefined) : undefined;
}

type Said = readonly [title: string, said: string];

/** Undefined while the same payment can fetch a result. */
function endOf(payment: UnsignedPayment, progress: PaymentProgress | undefined): Said | undefined {
  const { amount, signedAt, endsAt, clockAhead = 0 } = payment;
  const spoken = `${usdc(amount)} USDC`;
  const isLate = Date.now() - clockAhead > endsAt + clocksDifferMs;
  const cannotLand = progress?.state === "failed" || (isLate && /^(unseen|verified)$/.test(progress?.state ?? ""));
  if (!cannotLand) return undefined;
  return [`Your payment of ${spoken} ${when(signedAt)} was not settled`, "Nothing was charged. It is over."];
}

function endNotice(name: string, [title, said]: Said): HTMLElement {
  // A page in the background may be closed unseen.
  if (document.visibilityState === "visible") forgetNamed(name);
  else document.addEventListener("visibilitychange", () => forgetNamed(name), { once: true });
  const close = button("Close", "btn btn-sm btn-ghost");
  const notice = callout("info", title, said, el("div", { class: "row" }, close));
  close.addEventListener("click", () => notice.remove());
  return notice;
}

function offer(
  needs: Needs,
  [name, payment]: readonly [string, UnsignedPayment],
  progress: PaymentProgress | undefined,
): HTMLElement {
  const { amount, signedAt, isOwed } = payment;
  const spoken = `${usdc(amount)} USDC`;
  const begun = progress?.state === "settled" ? `You paid ${spoken}` : `You signed a payment of ${spoken}`;
  const wasSent = progress?.delivered === true;
  const unseen = wasSent ? "its result left the service, and may not have arrived" : "its result did not arrive";
  const lost = isOwed ? "the run failed. The payment is good for another run" : unseen;
  const how = el(
    "p",
    {},
    "Signed by ",
    hash(signerOf(payment), null),
    ". That wallet is asked to sign the same payment again, and shows its amount again: it is charged once.",
    wasSent ? " Then it signs a text, which costs nothing." : "",
  );
  const kept = "This browser keeps what was asked for a day at most, without the signature.";
  const fetching = button(isOwed ? "Use the payment" : "Fetch the result", "btn");
  const forgetting = button("Forget it", "btn btn-ghost");
  const notice = callout(
    "maybe",
    `${begun} for a run here ${when(signedAt)}, and ${lost}`,
    how,
    el("p", { class: "small" }, kept),
    el("div", { class: "row" }, fetching, forgetting),
  );
  fetching.addEventListener("click", () => needs.paying.press(() => fetchLost(needs, name, notice)));
  forgetting.addEventListener("click", () => {
    forgetNamed(name);
    leave(notice);
  });
  // Another tab fetched it, or forgot it.
  addEventListener("storage", ({ key, newValue }) => {
    if (key === name && newValue === null) leave(notice);
  });
  return notice;
}

async function fetchLost({ paying, post }: Needs, name: string, notice: HTMLElement): Promise<void> {
  const { agent, form, outcome, panel } = paying;
  if (findKept(agent).payment) return outcome.tell("info", "Another payment is under way here", "It comes first.");
  const { network } = readUnsigned(name)?.accepted ?? {};
  const wallet = network && (await panel.walletFor(network));
  if (!wallet)
    return outcome.tell("warn", "No wallet here signs on that network", "Nothing was signed. The payment is kept.");
  if (!(await hold(name).catch(() => false)))
    return outcome.tell("info", "Another tab fetches this result", "It is shown there.");
  const payment = readUnsigned(name);
  if (!payment) {
    leave(notice);
    release(name);
    return outcome.tell("info", "This payment was used or forgotten in another tab", "Nothing was signed.");
  }
  outcome.wait("sign the same payment again in your wallet");
  const signed = await signAgain(wallet, payment).catch((error: unknown): Said => {
    if (!(error instanceof OtherAccountError)) return [refusalOf(error), "Nothing more was charged."];
    const said = `${signerOf(payment)} paid. Choose that account in the wallet, then press again. Nothing was signed.`;
    return ["Another account paid for this run", said];
  });
  if (!("header" in signed)) {
    release(name);
    return outcome.tell("warn", ...signed);
  }
  try {
    keep(agent, { payment: signed });
  } catch {
    release(name);
    return outcome.tell("warn", "This tab has no room for the payment", "It stays kept. Open the page in another tab.");
  }
  writeInput(form, signed.input);
  form.dispatchEvent(new Event("input"));
  leave(notice);
  await post(signed);
}

/** The keyboard goes on where the notice stood. */
function leave(notice: HTMLElement): void {
  const next = notice.nextElementSibling;
  const hadFocus = notice.contains(document.activeElement);
  notice.remove();
  if (hadFocus && next instanceof HTMLElement) focusOn(next);
}

function button(text: string, look: string): HTMLElement {
  return el("button", { type: "button", class: look }, text);
}

/** In the reader's own time zone: `at 14:32`, `yesterday at 14:32`. */
function when(at: number): string {
  const moment = new Date(at);
  const day = moment.toDateString() === new Date().toDateString() ? "" : "yesterday ";
  return `${day}at ${moment.toTimeString().slice(0, 5)}`;
}

const clocksDifferMs = 60_000;
