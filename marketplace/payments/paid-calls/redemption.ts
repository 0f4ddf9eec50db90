import { ApiError } from "../../../shared/errors.ts";
import type { SettleResponse, VerifyResponse } from "../../../shared/x402.ts";
import type { LiveAgent } from "../../agents/find.ts";
import type { RefusalError } from "../../connectors/refusal.ts";
import type { Output, Remedy } from "../../connectors/result.ts";
import type { AccountId, RunId } from "../../ids.ts";
import type { PreparedRun } from "../../runs/prepare.ts";
import { type FacilitatorClient, nothingSent } from "../facilitator/client.ts";
import type { SpeculativeVerdict } from "../facilitator/speculative-verification.ts";
import type { PaidCallId, PaymentId, PaymentPayload, SettleRequirements } from "../payment-payload.ts";
import type { Offer } from "../quotes/offer.ts";
import type { SignInRequest } from "../sign-in-with-x.ts";
import type { LeasedCall } from "./paid-call.ts";

/** What one payment buys, ready to be done: everything that could refuse it was asked. */
export type PaidWork = PaidRun | CreditPurchase;

interface Bought {
  /** Names it in the record: an agent's id, or the name of what the platform sells itself. */
  readonly product: string;
  /** SHA-256 of the product and its input: a payment buys what it was first used for. */
  readonly digest: Buffer;
  /** Cannot be undone, so it is paid for before it is done. */
  readonly permanent: boolean;
}

/** A run of an agent, or a drawing. */
export interface PaidRun extends Bought {
  readonly kind: "run";
  readonly prepared: PreparedRun;
  /** Absent where what is bought has no versions. */
  readonly asked?: AgentInput;
  /** The answer's body, where it is not the output as the run gives it. */
  readonly present?: (output: Output) => Promise<object>;
}

/** An agent, and the input as it was posted: another version of the agent may read the same input otherwise. */
export interface AgentInput {
  readonly agent: LiveAgent;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Needs nothing but the settled payment, so it goes on by itself when its buyer does not come back. */
export interface CreditPurchase extends Bought {
  readonly kind: "credits";
  readonly accountId: AccountId;
  readonly credits: number;
}

/** A payment as it came for what is offered now. */
export interface Presented {
  readonly payload: PaymentPayload;
  readonly offer: Offer;
  /** SHA-256 of what was posted beside it: the body's bytes, or a tool's arguments in canonical JSON. */
  readonly bodyDigest: Buffer;
  /** What came as sign-in-with-x, unread; undefined when nothing did. */
  readonly signIn: unknown;
  /** The network address it came from. */
  readonly from: string;
  readonly receivedAt: Date;
  /** The facilitator's verdict on requirements that were expected, asked for ahead. */
  readonly speculative?: Promise<SpeculativeVerdict | undefined>;
}

/** A payment presented for a purchase, before it is known under which requirements it is redeemed. */
export interface Asked {
  readonly bought: PaidWork;
  readonly id: PaidCallId;
  readonly payload: PaymentPayload;
  readonly payment: PaymentId;
  readonly presented: Presented;
  /** What the facilitator holds of the buyer's money for the verdicts that this post got; added as they come. */
  readonly holdIds: string[];
}

/** A payment's purchase on its way to being done. */
export interface Work extends Omit<Asked, "presented"> {
  readonly requirements: SettleRequirements;
  /** The presenter has shown that the payment is theirs; any other presenter may at most have a copy of the result. */
  readonly isHolder: boolean;
  /** By a signature of the wallet that paid, which came with this post and is good for once. */
  readonly isWalletShown?: boolean;
  /** Undefined where it goes on by itself, and no buyer waits for the result. */
  readonly presented?: Presented;
}

export type Redemption = Delivered | Refused | Spent | Failed | DebtOutcome | Unknown;

/** The payment was not taken; the buyer was not charged for it here. */
export interface Refused {
  readonly outcome: "refused";
  readonly reason: string;
  readonly message: string;
  readonly settlement?: SettleResponse;
  /** A presenter who shows the payer's wallet may redeem the payment. */
  readonly signIn?: SignInRequest;
}

/** The payment bought a result once, and gives this presenter none any more; `message` says why. */
export interface Spent {
  readonly outcome: "spent";
  readonly message: string;
  readonly advice: string;
  readonly settlement: SettleResponse;
  /** A presenter who shows the payer's wallet is given it. */
  readonly signIn?: SignInRequest;
}

/** The agent failed. With a settlement the payment is charged, and good for another try. */
export interface Failed {
  readonly outcome: "failed";
  readonly error: string;
  readonly runId: RunId;
  readonly settlement?: SettleResponse;
  readonly remedy: Remedy;
  /** The run was not even begun. */
  readonly refusal?: RefusalError;
}

/** What an agent owes for a payment, to be told to the presenter. */
export interface Debt {
  /** `handle/slug` */
  readonly agent: string;
  readonly network: string;
  readonly transaction: string;
  readonly asset: string;
  /** Base units of the asset. */
  readonly amount: string;
}

export interface DebtOutcome {
  readonly outcome: "debt";
  readonly debt: Debt;
  readonly settlement: SettleResponse;
}

export interface Unknown {
  readonly outcome: "unknown";
  readonly message: string;
}

/** A result, to be delivered by `deliver` (deliver.ts) and nothing else. */
export interface Delivered {
  readonly outcome: "delivered";
  readonly result: PaidResult;
  /** The call to be concluded once the response is delivered; undefined for a copy, whose call stays as it is. */
  readonly leased?: { readonly call: LeasedCall; readonly isHolder: boolean };
}

export interface PaidResult {
  readonly runId: RunId;
  readonly output: Output;
  readonly receipt: object | null;
  readonly settlement: SettleResponse;
}

export const outcomeUnknown: Unknown = {
  outcome: "unknown",
  message: "The outcome is not known yet. Post the same payment again to learn it; do not pay anew.",
};

/** Of a payment that was good when its call was begun: a settlement whose answer was lost may have used it. */
export const mayHavePaid: Unknown = {
  outcome: "unknown",
  message:
    "The payment cannot be used any more since this call was begun, and its facilitator does not say whether it paid: it may have. " +
    "Do not pay anew before you have looked at the payer's transfers.",
};

/** Of a settlement that cannot be made now: what an earlier post of the same payment did is not known by it. */
export function notSent({ errorMessage }: SettleResponse): Unknown {
  const message = `${errorMessage} This attempt sent nothing. Post the same payment again later; do not pay anew.`;
  return { outcome: "unknown", message };
}

/** The facilitator has not judged the payment. */
export function unreachable({ retryAfterSeconds }: Pick<FacilitatorClient, "retryAfterSeconds">): ApiError {
  return new ApiError("unavailable", "The payment cannot be checked at the moment. Try again with the same one.", {
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}

/** Whether the facilitator says that the payment was settled before, or is being settled. */
export function isSettled({ isValid, invalidReason }: VerifyResponse): boolean {
  return !isValid && (invalidReason === "already_settled" || invalidReason === "settlement_pending");
}

/** What /verify said against a payment; another facilitator may give no reason. */
export function refusedBy({ invalidReason: reason, invalidMessage: message }: VerifyResponse): Refused {
  if (reason !== undefined) return { outcome: "refused", reason, message: message ?? "" };
  return {
    outcome: "refused",
    reason: "invalid",
    message: message ?? "The facilitator refused it and gave no reason.",
  };
}

/** Why a settlement gave no transaction: a refusal, or the outcome is not known. */
export function refusalOf(settlement: SettleResponse | undefined): Refused | Unknown {
  if (!settlement || settlement.errorReason === "settlement_pending" || settlement.errorReason === nothingSent)
    return outcomeUnknown;
  const { errorReason: reason = "unexpected_settle_error", errorMessage: message = "" } = settlement;
  return { outcome: "refused", reason, message, settlement };
}
