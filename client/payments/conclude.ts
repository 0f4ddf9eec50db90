import {
  type Charged,
  errorOf,
  type MarketplaceError,
  OutcomeUnknownError,
  PaymentRefusedError,
  RunFailedError,
} from "../errors.ts";
import type { Answer } from "../http-client.ts";
import type { PaymentProgress } from "../shapes.ts";
import { decodeHeader } from "./quote.ts";
import type { SignedPayment } from "./signed-payment.ts";
import { canStillLand, isUntouched } from "./standing.ts";

/** What a payment came to. */
export interface Settlement {
  /** The chain's id of it. */
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
  readonly payTo: string;
  /** Base units. */
  readonly amount: string;
}

/** The settlement beside a result; null where nothing was taken, such as for what turned out to be free. */
export function settlementIn({ headers }: Answer, payment: SignedPayment): Settlement | null {
  const told = decodeHeader(headers.get("payment-response")) as
    | { success?: unknown; transaction?: unknown }
    | undefined;
  if (told?.success !== true || typeof told.transaction !== "string") return null;
  const { network, payer, payTo, amount } = payment;
  return { transaction: told.transaction, network, payer, payTo, amount };
}

/** Why there is no result, and whether the payment is to be kept. */
export interface Failure {
  readonly error: MarketplaceError;
  /** The payment may have moved money, or still can: no other one is signed for the same purchase. */
  readonly isKept: boolean;
}

/** What is known of a payment besides the answer. */
export interface Known {
  /** The payment was posted before, and the end of that post is open: a refusal of this post says nothing about it. */
  readonly isOpen: boolean;
  /** How it stands; asked where the answer leaves that open. */
  readonly progress: () => Promise<PaymentProgress>;
}

export async function failureOf(answer: Answer, payment: SignedPayment, known: Known): Promise<Failure> {
  const { status, body } = answer;
  if (status === 402 && reasonIn(body) === "already_settled") return refused(answer, payment, known);
  // The run failed. A payment that is not settled can still be, for as long as it was signed for: it is used again, or runs out.
  if (body.charged === true || "success" in body) return { error: failedRun(body, payment), isKept: true };
  // The run was not begun: the signature stays good, and is used again while it can still land.
  if (body.charged === false && !known.isOpen) return { error: errorOf(answer, { payment }), isKept: true };
  if (status === 402 && body.charged !== false) return refused(answer, payment, known);
  if (status >= 500 || status === 408 || status === 429) return notKnown(answer, payment);
  return known.isOpen
    ? failureOfRepeated(answer, payment, known)
    : { error: errorOf(answer, { payment }), isKept: false };
}

/** The payment's progress tells the end of the earlier post; the refusal of this one does not. */
async function failureOfRepeated(answer: Answer, payment: SignedPayment, known: Known): Promise<Failure> {
  const { charged, isOver } = await standingOf(payment, known);
  const isUncharged = charged === false && (isOver || answer.body.charged === false);
  if (charged !== true && !isUncharged) return notKnown(answer, payment);
  return { error: errorOf(answer, { payment, charged }), isKept: !isOver };
}

function notKnown(answer: Answer, payment: SignedPayment): Failure {
  const cause = errorOf(answer, { payment });
  return { error: new OutcomeUnknownError(`${cause.message} ${unknownText}`, { payment, cause }), isKept: true };
}

/** The error of a run that failed; a free run has no payment. */
export function failedRun(body: Answer["body"], payment?: SignedPayment): RunFailedError {
  const { error, advice, run_id: runId, charged } = body;
  const facts = { payment, charged: charged === true, runId: textOf(runId), advice: textOf(advice) };
  return new RunFailedError(textOf(error) ?? "The agent failed.", facts);
}

async function refused({ body }: Answer, payment: SignedPayment, known: Known): Promise<Failure> {
  const reason = reasonIn(body) ?? "payment_required";
  const text = String(body.error).replace(/^\w+: ?/, "");
  const isUsed = reason === "already_settled";
  const { charged, isOver } = isUsed ? used : await standingOf(payment, known);
  const error = new PaymentRefusedError(reason, text || String(body.error), { payment, charged });
  return { error, isKept: !isOver && (known.isOpen || charged !== false) };
}

/** Why a payment was refused, as a 402 begins: `already_settled: …`. */
const reasonIn = ({ error }: Answer["body"]) => /^(\w+):/.exec(String(error))?.[1];

/** Whether the payment moved money, and whether it no longer can. A payment whose end is not known is unknown, and never free of charge. */
async function standingOf(
  payment: SignedPayment,
  { progress }: Known,
): Promise<{ readonly charged: Charged; readonly isOver: boolean }> {
  try {
    const told = await progress();
    if (told.state === "settled") return { charged: true, isOver: false };
    if (!isUntouched(told)) return { charged: "unknown", isOver: false };
    return { charged: false, isOver: told.state === "failed" || !canStillLand(payment) };
  } catch {
    return { charged: "unknown", isOver: false };
  }
}

/** Its result was delivered. */
const used = { charged: true, isOver: true } as const;
const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

export const unknownText = "It is not known what became of the payment. Do not pay again: repeat this payment.";
