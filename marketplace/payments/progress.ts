import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { toCaip2 } from "../../shared/networks.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { PaymentProgress, ProgressState } from "../answers/payment-progress.ts";
import { stablecoinOn } from "../stablecoins.ts";
import type { Heard, PaymentRecordCache } from "./facilitator/payment-record-cache.ts";
import type { LeavingResults } from "./paid-calls/leaving-results.ts";
import type { PaidCalls } from "./paid-calls/store.ts";
import type { PaidCallId } from "./payment-payload.ts";

const hederaId = /^(0\.0\.\d{1,19})(?:@(\d{1,19})\.|-(\d{1,19})-)(\d{1,9})$/;
const hex = (bytes: number) => new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`);

export const progressQuery = z.object({
  network: z.string().max(100).describe("CAIP-2 id, or its version 1 name."),
  payer: z
    .string()
    .regex(hex(20), "must be an address of 20 bytes in hexadecimal")
    .optional()
    .describe("On EVM networks, beside `nonce`: the address that signed (`authorization.from`)."),
  nonce: z
    .string()
    .regex(hex(32), "must be 32 bytes in hexadecimal")
    .optional()
    .describe("On EVM networks: as it was signed (`authorization.nonce`)."),
  transaction: z
    .string()
    .regex(hederaId, "must be a transaction id such as 0.0.5@1.000000002 or 0.0.5-1-000000002")
    .optional()
    .describe("On Hedera: the transaction id that the payer gave it, with `@` and `.` or with dashes."),
});

/**
 * How a payment of a call stands, for any caller who can name it: what its chain shows anyone, and which step its call is at.
 * Never what it bought: that is for the presenter of the payment. `address` is the caller's. Throws ApiError 400 naming the
 * parameter, 429 when the caller asks too much about unknown payments.
 */
export async function paymentProgress(
  { db, paidCalls, records }: Needs,
  asked: z.infer<typeof progressQuery>,
  address: string,
): Promise<PaymentProgress> {
  const id = paymentNamed(asked);
  // Looked at first: what ends there is in the record.
  const leaving = paidCalls.leaving.find(id);
  const recorded = await findCall(db, id);
  const call = recorded && withLeaving(recorded, leaving);
  const record = await (call ? records.ofKnownCall(id, stepOf(call)) : records.ofUnknownPayment(id, address));
  const known = typeof record === "object" ? record : undefined;
  const state = stateOf(call, record);
  const isOver = state === "settled" || state === "failed";
  return {
    network: id.network,
    state,
    ran: call?.ran ?? false,
    delivered: Boolean(call?.deliveredAt),
    delivered_at: call?.deliveredAt?.toISOString() ?? null,
    transaction: call?.transaction ?? known?.transaction ?? null,
    explorer: known?.explorer ?? null,
    verified_at: call?.createdAt.toISOString() ?? null,
    claimed_at: known?.created_at ?? null,
    settled_at: known?.state === "settled" ? known.finished_at : null,
    can_land_until: isOver ? null : (known?.expires_at ?? null),
  };
}

interface Needs {
  readonly db: Queryable;
  readonly paidCalls: Pick<PaidCalls, "leaving">;
  readonly records: PaymentRecordCache;
}

interface Call {
  readonly createdAt: Date;
  readonly ran: boolean;
  readonly transaction: string | null;
  readonly deliveredAt: Date | null;
  /** A post of the payment is working on it. */
  readonly leased: boolean;
}

function withLeaving(call: Call, leaving: ReturnType<LeavingResults["find"]>): Call {
  if (!leaving) return call;
  const { transaction, deliveredAt } = leaving;
  return { ...call, transaction: call.transaction ?? transaction, deliveredAt: call.deliveredAt ?? deliveredAt };
}

/** What the facilitator said of an earlier step says nothing of this one. */
const stepOf = ({ ran, transaction }: Call) => `${ran ? "ran" : "begun"}${transaction === null ? "" : ", settled"}`;

/** A payment whose end is not known is unknown, and never failed. */
function stateOf(call: Call | undefined, record: Heard): ProgressState {
  if (call && call.transaction !== null) return "settled";
  if (typeof record === "object") {
    switch (record.state) {
      case "settled":
      case "unknown":
        return record.state;
      case "claimed":
      case "broadcast":
        return "settling";
      case "failed":
        // One that failed can be settled again by the post that works on it.
        if (!call?.leased) return "failed";
    }
  }
  if (call?.leased) return call.ran ? "settling" : "running";
  if (record === "unheard") return "unknown";
  return call ? "verified" : "unseen";
}

function paymentNamed({ network, payer, nonce, transaction }: z.infer<typeof progressQuery>): PaidCallId {
  const chain = toCaip2(network);
  const coin = stablecoinOn(chain);
  if (!coin) throw refused("network", "is not one that calls are paid on");
  if (chain.startsWith("eip155:")) {
    if (payer === undefined) throw refused("payer", "is required");
    if (nonce === undefined) throw refused("nonce", "is required");
    return { network: chain, key: `${coin.asset}:${payer}:${nonce}`.toLowerCase() };
  }
  if (transaction === undefined) throw refused("transaction", "is required");
  const [, feePayer, seconds, dashedSeconds, nanos = ""] = hederaId.exec(transaction) ?? [];
  return { network: chain, key: `${feePayer}@${seconds ?? dashedSeconds}.${nanos.padStart(9, "0")}` };
}

function refused(field: string, problem: string): ApiError {
  return new ApiError("bad_request", `"${field}" ${problem}.`, { body: { field } });
}

async function findCall(db: Queryable, { network, key }: PaidCallId): Promise<Call | undefined> {
  const { rows } = await db.query<Call>({
    name: "read progress of paid call",
    text: `
      select created_at as "createdAt", output is not null as ran, transaction_id as transaction,
        delivered_at as "deliveredAt",
        coalesce(lease_until > now(), false) as leased
      from paid_calls where network = $1 and payment_key = $2`,
    values: [network, key],
  });
  return rows[0];
}
