import type { JsonObject } from "../../../shared/json.ts";
import type { Output } from "../../connectors/result.ts";
import type { RunId } from "../../ids.ts";
import type { PaidCallId, PaymentPayload, SettleRequirements } from "../payment-payload.ts";
import type { Actor } from "./states.ts";

/** What names the effect: a payment buys one, however many runs it takes. */
export function effectKeyOf({ network, key }: PaidCallId): string {
  return `${network}/${key}`;
}

/** The right to work on a call, and how far it was when it was taken. */
export interface LeasedCall extends Progress {
  readonly id: PaidCallId;
  readonly holder: string;
  readonly by: Actor;
  /** An earlier post began it, and may have had its payment settled without learning of it. */
  readonly isResumed: boolean;
  /** Its payment can no longer be used, and no facilitator tells whether it paid. */
  readonly mayHavePaid: boolean;
}

export interface Progress {
  readonly runId: RunId;
  readonly payer: string | null;
  readonly output: Output | null;
  readonly receipt: object | null;
  readonly transaction: string | null;
}

export interface PaidCall extends Progress {
  readonly product: string;
  readonly digest: Buffer;
  /** `PaymentId.digest` of what it was begun with; null for calls of before this was kept. */
  readonly payloadDigest: Buffer | null;
  readonly requirements: SettleRequirements;
  readonly deliveredAt: Date | null;
  /** The agent's version when the payment was first used; null where it was not for an agent. */
  readonly agentVersion: number | null;
  /** A post of the payment is working on it. */
  readonly leased: boolean;
  /** The row was last written within `copiesForHours`. */
  readonly isRecent: boolean;
  /** Its result is not deleted yet, be it delivered. */
  readonly isKept: boolean;
}

export interface AbandonedCall {
  readonly id: PaidCallId;
  readonly product: string;
  readonly digest: Buffer;
  readonly requirements: SettleRequirements;
  readonly paymentPayload: JsonObject;
}

export interface UnsettledCall {
  readonly id: PaidCallId;
  readonly product: string;
  readonly requirements: SettleRequirements;
  readonly begunAt: Date;
}

export interface UnsettledCalls {
  readonly calls: readonly UnsettledCall[];
  readonly next: PlaceOfCall;
}

/** In the order in which calls were begun; `at` as the database writes it, to the microsecond. */
export interface PlaceOfCall extends PaidCallId {
  readonly at: string;
}

export interface NewPaidCall {
  readonly id: PaidCallId;
  readonly product: string;
  readonly agentVersion: number | undefined;
  readonly digest: Buffer;
  readonly payloadDigest: Buffer;
  readonly requirements: SettleRequirements;
  readonly payer: string | undefined;
  readonly runId: RunId;
  /** Set when the payment was settled before it came here. */
  readonly transaction: string | undefined;
  /** Kept only where the call goes on without the buyer. */
  readonly payload: PaymentPayload | undefined;
  /** The call runs next, before it is settled. */
  readonly runsUnpaid: boolean;
}
