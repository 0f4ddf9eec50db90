import type { proto } from "@hiero-ledger/proto";
import { expect } from "vitest";
import { decodePayment } from "../../../../facilitator/schemes/exact-hedera/checks.ts";
import { isRefusal } from "../../../../facilitator/schemes/scheme.ts";
import {
  account,
  amount,
  body,
  bodyBytes,
  config,
  int64,
  payload,
  paymentOf,
  type RequestChange,
  request,
  row,
  signedBytes,
  usdcTransfer,
} from "../payloads.ts";

export const value = Number(amount);
export const twoRows = [row(777, -value), row(888, value)];
export const hex20 = "ab".repeat(20);
export const hook: NonNullable<proto.IAccountAmount["preTxAllowanceHook"]> = {
  hookId: int64(1),
  evmHookCall: { gasLimit: int64(15_000_000) },
};
export const prefix = "invalid_exact_hedera_payload_";
/** A payment that keeps every rule. */
export const good = paymentOf(body());

export function ofRows(...rows: proto.IAccountAmount[]): string {
  return paymentOf(body({ cryptoTransfer: usdcTransfer(rows) }));
}

export function withHbar(...rows: proto.IAccountAmount[]): string {
  return paymentOf(body({ cryptoTransfer: usdcTransfer(twoRows, {}, { transfers: { accountAmounts: rows } }) }));
}

export function appended(extra: Buffer): string {
  return payload(signedBytes(Buffer.concat([bodyBytes(body()), extra])));
}

export function twoBodies(change: proto.ITransactionBody): string {
  return paymentOf(body(), body({ nodeAccountID: account(4), ...change }));
}

export interface Case {
  readonly name: string;
  readonly transaction?: unknown;
  readonly change?: RequestChange;
  readonly reason: string;
}

export function refusalOf(transaction: unknown, change?: RequestChange): string | undefined {
  const decoded = decodePayment(request(transaction, change), config);
  return isRefusal(decoded) ? decoded.refused : undefined;
}

export function expectRefused({ transaction = good, change, reason }: Case): void {
  expect(refusalOf(transaction, change)?.replace(prefix, "…")).toBe(reason);
}
