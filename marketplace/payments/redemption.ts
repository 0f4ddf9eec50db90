import type { SettleResponse } from "../../shared/x402.ts";
import type { Output, Remedy } from "../connectors/connector.ts";
import type { Refusal } from "../connectors/refusal.ts";
import type { RunId } from "../ids.ts";
import type { EarlyVerdict } from "./head-start.ts";
import type { Offer, PaidWork } from "./offer.ts";
import type { Owed } from "./owed.ts";
import type { PaidCallId } from "./paid-calls.ts";
import type { PaymentId } from "./payment-id.ts";
import type { Proof, SettleTerms } from "./proof.ts";
import type { SignInTerms } from "./sign-in-with-x.ts";

/** A payment as it came for what is offered now. */
export interface Presented {
  readonly proof: Proof;
  readonly offer: Offer;
  /** SHA-256 of what was posted beside it: the body's bytes, or a tool's arguments in canonical JSON. */
  readonly bodyDigest: Buffer;
  /** What came as sign-in-with-x, unread; undefined when nothing did. */
  readonly signIn: unknown;
  /** The network address it came from. */
  readonly from: string;
  readonly receivedAt: Date;
  /** What the facilitator was asked ahead. */
  readonly early?: Promise<EarlyVerdict | undefined>;
}

/** What a payment pays for, on its way to being done. */
export interface Work extends PaidWork {
  readonly id: PaidCallId;
  readonly proof: Proof;
  readonly payment: PaymentId;
  readonly requirements: SettleTerms;
  /** Who presents it has shown that it is theirs; anybody else may at most have a copy of the result. */
  readonly isHolder: boolean;
  /** Undefined where it goes on by itself and nobody waits for the result. */
  readonly presented?: Presented;
}

export type Redemption = Delivered | Refused | Failed | Owed | Unknown;

/** The payment was not taken; nobody was charged for it here. */
export interface Refused {
  readonly outcome: "refused";
  readonly reason: string;
  readonly message: string;
  readonly settlement?: SettleResponse;
  /** It would be taken from who shows the payer's wallet. */
  readonly signIn?: SignInTerms;
}

/** The agent failed. With a settlement the payment is charged, and good for another try. */
export interface Failed {
  readonly outcome: "failed";
  readonly error: string;
  readonly runId: RunId;
  readonly settlement?: SettleResponse;
  readonly remedy: Remedy;
  /** It was not even begun. */
  readonly refusal?: Refusal;
}

export interface Unknown {
  readonly outcome: "unknown";
  readonly message: string;
}

/** A result, to be handed out (hand-out.ts) and nothing else. */
export interface Delivered {
  readonly outcome: "delivered";
  readonly result: PaidResult;
  /** Records when it was handed out; null: it was not, and the same payment may fetch it. */
  readonly conclude: Conclude;
}

export type Conclude = (handedOutAt: Date | null) => Promise<void>;

export interface PaidResult {
  readonly runId: RunId;
  readonly output: Output;
  readonly receipt: object | null;
  readonly settlement: SettleResponse;
}

export const askAgain: Unknown = {
  outcome: "unknown",
  message: "The outcome is not known yet. Post the same payment again to learn it; do not pay anew.",
};

/** Why a settlement gave no transaction: a refusal, or nobody knows. */
export function refusalOf(settlement: SettleResponse | undefined): Refused | Unknown {
  if (!settlement || settlement.errorReason === "settlement_pending") return askAgain;
  const { errorReason: reason = "unexpected_settle_error", errorMessage: message = "" } = settlement;
  return { outcome: "refused", reason, message, settlement };
}
