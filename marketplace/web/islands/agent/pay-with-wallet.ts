import { decodeHeader } from "../../../../client/payments/quote.ts";
import { challengeIn, type SignInChallenge, signInHeader, signInText } from "../../../../client/payments/sign-in.ts";
import { byId, el } from "../dom/elements.ts";
import { readInput, saysInput, showFieldError } from "../dom/fields.ts";
import { AnswerError, errorOf } from "../payment/answer.ts";
import { closePayment, endPayment, usedSaid, withoutCode } from "../payment/end-payment.ts";
import { findKept, forget, type KeptPayment, keep } from "../payment/kept.ts";
import { usdc } from "../payment/money.ts";
import { type Delivered, postPayment } from "../payment/post-payment.ts";
import { signPayment } from "../payment/sign-payment.ts";
import { OtherAccountError, signTextAs } from "../payment/sign-text.ts";
import { forgetUnsigned, keepUnsigned, releaseUnsigned, type SignedPayment } from "../payment/unsigned.ts";
import type { ChosenWallet, WalletPanel } from "../payment/wallet-panel.ts";
import { refusalOf } from "../wallet/providers.ts";
import type { Outcome } from "./outcome.ts";
import type { Price } from "./price.ts";
import type { Answer, Output } from "./result.ts";
import { freeResult } from "./run-free.ts";

/** What paying from this page takes. */
export interface Paying {
  readonly form: HTMLFormElement;
  /** Its id, by which the tab keeps what was paid for: its creator may rename it meanwhile. */
  readonly agent: string;
  readonly address: string;
  readonly url: string;
  readonly price: Price;
  readonly outcome: Outcome;
  readonly panel: Pick<WalletPanel, "walletFor">;
  /** Does one thing at a time. */
  readonly press: (work: () => Promise<void>) => void;
}

/**
 * Asks for the price, has the wallet sign it, and posts the payment until its answer is here. What was paid for and is not here yet
 * comes first: no second payment is made beside it.
 */
export async function payAndRun(paying: Paying, by: ChosenWallet): Promise<void> {
  const { form, agent, url, price, outcome } = paying;
  const { payment: owed } = findKept(agent);
  if (owed) return deliverAgain(paying, owed);
  const input = readInput(form);
  const agreesTo = (credits: number) => price.agreedTo(credits);
  const body = JSON.stringify(input);
  const kept = await signPayment({ url, body, input, agreesTo, view: outcome, ...by }).catch(resultForNothing);
  if ("runId" in kept) {
    outcome.noPayment();
    return outcome.show(kept);
  }
  if ("title" in kept) return outcome.tell(kept.tone, kept.title, kept.said);
  keep(agent, { payment: kept });
  await deliver(paying, kept, false);
}

/** What an agent that became free answers instead of a price. */
function resultForNothing(error: unknown): Answer {
  if (error instanceof AnswerError && error.body.success === true) return freeResult(error.body, becameFree);
  throw error;
}

const becameFree = "It is free by now: nothing was charged.";

/** Posts a kept payment again; one whose run failed buys a run of what the form says now, which is kept then. */
async function deliverAgain(paying: Paying, { isOwed, ...kept }: KeptPayment): Promise<void> {
  if (!isOwed) return deliver(paying, kept, true);
  if (!paying.form.reportValidity()) return;
  const input = readInput(paying.form);
  const anew = { ...kept, input, body: JSON.stringify(input) };
  keep(paying.agent, { payment: anew });
  await deliver(paying, anew, true);
}

/** What a reload finds: a payment whose end was not known is posted again; one whose run failed waits to be asked to. */
export async function resume(paying: Paying, kept: KeptPayment): Promise<void> {
  if (!kept.isOwed) return deliver(paying, kept, true);
  keepUnsigned(paying.agent, kept);
  const button = askAgainButton(paying, kept, runAgain);
  paying.outcome.tell("bad", "The agent failed", "The payment was settled, and is good for another run.", button);
}

const runAgain = "Run again without paying";

/** Posts a payment until it is known what came of it. `signIn` shows the wallet that paid. */
export async function deliver(paying: Paying, kept: KeptPayment, isResumed: boolean, signIn?: string): Promise<void> {
  const { agent, outcome } = paying;
  keepUnsigned(agent, kept);
  const delivered = await postPayment(paying.url, kept, outcome, { isResumed, signIn });
  if (delivered) {
    return conclude(paying, kept, delivered).finally(() => {
      delivered.watch.stop();
      const { payment } = findKept(agent);
      if (payment && !isOtherwiseSigned(kept, delivered)) return keepUnsigned(agent, payment);
      if (!payment && !challengeIn(delivered.body, location.origin)) return forgetUnsigned(agent, kept);
      forget(agent, "payment");
      releaseUnsigned(agent, kept);
    });
  }
  const again = askAgainButton(paying, kept, "Ask again");
  const said = "Do not pay again. This page keeps the payment; the same one fetches the result.";
  outcome.tell("maybe", "The end of this payment is not known yet", said, again);
}

async function conclude(paying: Paying, kept: KeptPayment, delivered: Delivered): Promise<void> {
  const { outcome, agent } = paying;
  const { status, body, isAgain } = delivered;
  const error = errorOf(status, body);
  const advice = String(body.advice ?? "The payment was settled and stays on record.");
  const hasResult = body.success === true;
  const ended = { bought: agent, kept, delivered, view: outcome };
  switch (await endPayment({ ...ended, hasResult })) {
    case "delivered":
      outcome.show({
        runId: String(body.run_id),
        output: body.output as Output,
        receipt: body.receipt as Record<string, unknown> | null,
        paid: `Paid ${usdc(kept.amount)} USDC. Nothing else is due.`,
        ms: undefined,
        isFoundAgain: isAgain,
        isOfEarlierInput: !saysInput(paying.form, kept.input),
      });
      forgetUnsigned(agent, kept);
      return closePayment(ended);
    case "free":
      return outcome.show(freeResult(body, becameFree));
    case "owed":
      keep(agent, { payment: { ...kept, isOwed: true } });
      outcome.tell("bad", error, advice, askAgainButton(paying, kept, runAgain));
      break;
    case "gone":
      return outcome.tell("bad", error, advice);
    case "used":
      return tellUsed(paying, kept, body);
    case "open": {
      const challenge = challengeIn(body, location.origin);
      if (challenge) {
        const again = fetchButton(paying, kept, challenge);
        return outcome.tell("warn", "The result was not given for that signature", withoutCode(error), again);
      }
      if (isOtherwiseSigned(kept, delivered)) {
        const stays = "It stays kept. Choose the account that paid in the wallet, then reload this page.";
        return outcome.tell("warn", "The wallet did not sign the same payment", stays);
      }
      const said = `${withoutCode(error)} Do not pay again: this page keeps the payment.`;
      outcome.tell("maybe", "This payment is not over", said, askAgainButton(paying, kept, "Ask again"));
      break;
    }
    case "refused":
      return outcome.tell("bad", "The payment was refused", `${withoutCode(error)} Nothing was charged.`);
    case "failed":
      return outcome.tell("bad", "The agent failed", `“${error}” Nothing was charged.`);
    case "rejected":
      outcome.tell("warn", error, "Nothing was charged.");
  }
  // The field is wrong, but the payment posted with it may have been charged before.
  showFieldError(paying.form, body.field, error);
}

/** An answer that has left may not have arrived: the wallet that paid is given it once more. */
function tellUsed(paying: Paying, kept: KeptPayment, body: Delivered["body"]): void {
  const title = "This payment was used already";
  const said = usedSaid(kept, String(body.error));
  const challenge = challengeIn(body, location.origin);
  if (challenge) {
    const how = "If its result did not arrive, the wallet that paid fetches it: it signs a text, which costs nothing.";
    paying.outcome.tell("maybe", title, `${said} ${how}`, fetchButton(paying, kept, challenge));
  } else paying.outcome.tell("bad", title, said);
}

function fetchButton(paying: Paying, kept: KeptPayment, challenge: SignInChallenge): HTMLElement {
  return pressButton(paying, "Fetch it once more", () => fetchDelivered(paying, kept, challenge));
}

async function fetchDelivered(paying: Paying, kept: KeptPayment, challenge: SignInChallenge): Promise<void> {
  const { agent, outcome, panel } = paying;
  const { accepted, payload } = decodeHeader(kept.header) as SignedPayment;
  const payer = payload.authorization?.from ?? kept.signed?.by ?? "";
  const again = fetchButton(paying, kept, challenge);
  const wallet = await panel.walletFor(accepted.network);
  if (!wallet) return outcome.tell("warn", "No wallet here signs on that network", "Nothing was signed.", again);
  outcome.wait("sign the text in your wallet");
  let signature: string;
  try {
    signature = await signTextAs(wallet, accepted.network, payer, signInText(challenge, payer));
    keep(agent, { payment: kept });
  } catch (error) {
    const isOther = error instanceof OtherAccountError;
    const said = isOther
      ? `${payer} paid. Choose that account in the wallet, then press again.`
      : "Nothing more was charged.";
    return outcome.tell("warn", isOther ? "Another account paid for this run" : refusalOf(error), said, again);
  }
  await deliver(paying, kept, true, signInHeader(challenge, payer, signature));
}

/** What a wallet was asked to sign again is refused for its signature: posted again it would be refused again. */
function isOtherwiseSigned({ isSignedAgain }: KeptPayment, { status, body }: Delivered): boolean {
  return isSignedAgain === true && status === 402 && /signature/i.test(errorOf(status, body));
}

function askAgainButton(paying: Paying, kept: KeptPayment, text: string): HTMLElement {
  return pressButton(paying, text, () => deliverAgain(paying, findKept(paying.agent).payment ?? kept));
}

function pressButton(paying: Paying, text: string, work: () => Promise<void>): HTMLElement {
  const button = el("button", { type: "button", class: "btn" }, text);
  button.addEventListener("click", () => paying.press(work));
  return button;
}

/** What went wrong before anything was signed. */
export function tellFailure(
  { form, outcome, agent }: Pick<Paying, "form" | "outcome" | "agent">,
  error: unknown,
): void {
  if (findKept(agent).payment) {
    const said =
      "The payment is kept, and nothing is paid twice. Reload this page: the same payment fetches the result.";
    outcome.tell("maybe", "This page failed while the payment was under way", said);
    return;
  }
  const said = error instanceof Error ? error.message : "Something failed in this page.";
  outcome.noPayment();
  outcome.tell("warn", said, "Nothing was charged.");
  if (error instanceof AnswerError) showFieldError(form, error.body.field, said);
  byId("result")?.scrollIntoView({ block: "nearest" });
}
