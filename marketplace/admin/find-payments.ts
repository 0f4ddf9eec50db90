import { knownNetworks } from "../../shared/networks.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import { addressOfTool } from "../agents/scope.ts";
import type { Config } from "../config.ts";
import type { AccountId } from "../ids.ts";
import type { FacilitatorClient } from "../payments/facilitator/client.ts";
import { type FacilitatorRecord, facilitatorRecordShape } from "../payments/facilitator/facilitator-record.ts";
import { toolUrl } from "../payments/paid-calls/settled-elsewhere.ts";
import { type PaidCallState, stateOf } from "../payments/paid-calls/states.ts";
import { endWrittenIn } from "../payments/quotes/quote-id.ts";
import { madeAt, type Sought } from "./ids.ts";
import { inTime } from "./in-time.ts";

/** Payments that one search finds. */
const paymentsMax = 10;

/**
 * Payments by an id, as the marketplace keeps them and as the facilitator's public record has them. Calls are found by their payment;
 * by anything else only within days that the id itself or the facilitator names, or the last three: they are looked through.
 */
export async function findPayments(needs: PaymentNeeds, sought: Sought): Promise<FoundPayment[]> {
  const { db, facilitator } = needs;
  const isTransaction = sought.kind === "hash" || sought.kind === "hedera_transaction";
  const record = isTransaction ? await heard(facilitator.paymentOf(sought.text)) : "none";
  const rows = await inTime(db, (tx) => findCalls(tx, sought, record));
  const calls = await Promise.all(
    rows.map(async (row) =>
      withRecord(row, await heard(facilitator.paymentState({ network: row.network, key: row.key }))),
    ),
  );
  if (calls.length > 0 || record === "none") return calls;
  return [{ marketplace: null, facilitator: record, agreement: await agreementOfAbsent(needs, record) }];
}

export interface PaymentNeeds {
  readonly db: Database;
  readonly facilitator: Pick<FacilitatorClient, "paymentState" | "paymentOf">;
  readonly config: Pick<Config, "publicUrl">;
}

async function findCalls(db: Queryable, sought: Sought, record: FacilitatorRecord | Silence): Promise<CallRow[]> {
  const condition = conditions[sought.kind];
  if (!condition) return [];
  const [from, to] = windowOf(sought, record);
  const { rows } = await db.query<CallRow>(
    `select p.network, p.payment_key as key, p.product, a.handle || '/' || a.slug as agent, a.account_id as "creatorId",
       p.agent_version as version, p.payer, p.run_id as "runId", p.transaction_id as transaction,
       p.output is not null as "hasOutput", p.requirements ->> 'amount' as amount, p.requirements ->> 'asset' as asset,
       p.requirements ->> 'payTo' as "payTo", p.requirements -> 'extra' ->> 'quoteId' as "quoteId",
       p.created_at as "createdAt", p.result_at as "resultAt", p.delivered_at as "deliveredAt", p.lease_until > now() as "isLeased",
       d.error as debt
     from paid_calls p left join agents a on a.id = p.product
       left join debts d on d.network = p.network and d.payment_key = p.payment_key
     where ${condition} and $2::timestamptz < $3::timestamptz and cardinality($4::text[]) > 0
     order by p.created_at desc limit ${paymentsMax}`,
    [sought.text, from, to, knownNetworks],
  );
  return rows;
}

const within = "p.created_at between $2 and $3";

/** SQL by the kind of id. A Hedera payment is found by its transaction, an EVM payment by the message that its payer signed. */
const conditions: Partial<Record<Sought["kind"], string>> = {
  payment_key: "p.payment_key = lower($1) and p.network = any($4)",
  hedera_transaction: "p.payment_key = $1 and p.network = any($4)",
  hash: `(lower(p.transaction_id) = lower($1) or split_part(p.payment_key, ':', 3) = lower($1)) and ${within}`,
  run: `p.run_id = $1 and ${within}`,
  quote: `p.requirements -> 'extra' ->> 'quoteId' = $1 and ${within}`,
  wallet: `lower(p.payer) = lower($1) and ${within}`,
};

const dayMs = 86_400_000;

function windowOf({ kind, text }: Sought, record: FacilitatorRecord | Silence): [Date, Date] {
  const days = (at: number, after: number): [Date, Date] => [new Date(at - dayMs), new Date(at + after * dayMs)];
  if (typeof record !== "string") return days(Date.parse(record.created_at), 3);
  if (kind === "run") return days(madeAt(text).getTime(), 3);
  const end = kind === "quote" && endWrittenIn(text);
  if (end) return days(end.getTime(), 3);
  return [new Date(Date.now() - 3 * dayMs), new Date(Date.now() + dayMs)];
}

/** `none`: it has no such payment. `unheard`: it did not answer, which says nothing. */
type Silence = "none" | "unheard";

async function heard(asked: Promise<unknown>): Promise<FacilitatorRecord | Silence> {
  const body = await asked.catch(() => "unheard" as const);
  if (body === undefined) return "none";
  const { success, data } = facilitatorRecordShape.safeParse(body);
  return success ? data : "unheard";
}

function withRecord(row: CallRow, record: FacilitatorRecord | Silence): FoundPayment {
  const { hasOutput, createdAt, resultAt, deliveredAt, ...call } = row;
  const state = stateOf({ transaction: row.transaction, output: hasOutput ? {} : null, deliveredAt });
  return {
    marketplace: {
      ...call,
      state,
      createdAt: createdAt.toISOString(),
      resultAt: resultAt?.toISOString() ?? null,
      deliveredAt: deliveredAt?.toISOString() ?? null,
    },
    facilitator: record,
    agreement: agreementOf(row.transaction, record),
  };
}

function agreementOf(ours: string | null, record: FacilitatorRecord | Silence): FoundPayment["agreement"] {
  if (record === "unheard") return "unheard";
  if (record === "none") return ours === null ? "agree" : "differ";
  if (record.state === "claimed" || record.state === "broadcast" || record.state === "unknown") return "open";
  const theirs = record.state === "settled" ? record.transaction : null;
  // Settled there and not yet known here: the next post of the payment, or a periodic task, learns of it.
  if (theirs !== null && ours === null) return "behind";
  return theirs?.toLowerCase() === ours?.toLowerCase() ? "agree" : "differ";
}

/** Of a payment that the marketplace does not have. One that is settled for a resource of ours should be here. */
async function agreementOfAbsent(
  needs: PaymentNeeds,
  record: FacilitatorRecord | "unheard",
): Promise<FoundPayment["agreement"]> {
  if (record === "unheard") return "unheard";
  if (!(await isOurs(needs, record.resource_url ?? ""))) return "not_ours";
  return record.state === "settled" ? "differ" : agreementOf(null, record);
}

/** A URL of this service, or a tool that it has or had: an agent's, or a drawing's. */
async function isOurs({ db, config }: PaymentNeeds, resource: string): Promise<boolean> {
  if (`${resource}/`.startsWith(`${config.publicUrl}/`)) return true;
  if (!resource.startsWith(toolUrl)) return false;
  const tool = resource.slice(toolUrl.length);
  return (await inTime(db, (tx) => addressOfTool(tx, tool, "any"))) !== undefined;
}

export interface FoundPayment {
  readonly marketplace: FoundCall | null;
  readonly facilitator: FacilitatorRecord | Silence;
  /** `open`: its end was not seen yet. `behind`: settled, and the marketplace has still to learn of it. `not_ours`: bought elsewhere. */
  readonly agreement: "agree" | "differ" | "open" | "behind" | "unheard" | "not_ours";
}

export interface FoundCall extends Omit<CallRow, "hasOutput" | "createdAt" | "resultAt" | "deliveredAt"> {
  readonly state: PaidCallState;
  readonly createdAt: string;
  readonly resultAt: string | null;
  readonly deliveredAt: string | null;
}

interface CallRow {
  readonly network: string;
  readonly key: string;
  readonly product: string;
  /** Null for what is sold without an agent: credits, drawings. */
  readonly agent: string | null;
  readonly creatorId: AccountId | null;
  readonly version: number | null;
  readonly payer: string | null;
  readonly runId: string;
  readonly transaction: string | null;
  readonly hasOutput: boolean;
  readonly amount: string | null;
  readonly asset: string | null;
  readonly payTo: string | null;
  readonly quoteId: string | null;
  readonly createdAt: Date;
  readonly resultAt: Date | null;
  readonly deliveredAt: Date | null;
  /** A post of the payment is working on it. */
  readonly isLeased: boolean | null;
  /** What the last failed run of a settled payment said. */
  readonly debt: string | null;
}
