import { z } from "zod";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId, AgentId } from "../ids.ts";
import { offsetQuery } from "../query.ts";
import type { PaidCallId } from "./payment-payload.ts";

export const debtsQuery = z.object(offsetQuery("Debts"));

/** Notes that the agent owes a result for this settled payment, and why there is none. */
export async function upsertDebt(db: Queryable, debt: NewDebt): Promise<void> {
  const { id, agentId, payer, transaction, requirements, error } = debt;
  await db.query({
    name: "note debt",
    text: `insert into debts (network, payment_key, agent_id, payer, transaction_id, asset, amount, error)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (network, payment_key) do update set error = coalesce($8, debts.error), updated_at = now()`,
    values: [id.network, id.key, agentId, payer, transaction, requirements.asset, requirements.amount, error ?? null],
  });
}

/** A run has succeeded. */
export async function endDebt(db: Queryable, { network, key }: PaidCallId): Promise<void> {
  await db.query({
    name: "end debt",
    text: "delete from debts where network = $1 and payment_key = $2",
    values: [network, key],
  });
}

export interface NewDebt {
  readonly id: PaidCallId;
  readonly agentId: AgentId;
  readonly payer: string | null;
  readonly transaction: string;
  readonly requirements: { readonly asset: string; readonly amount: string };
  readonly error?: string;
}

export interface ListedDebt {
  /** `handle/slug` */
  readonly agent: string;
  readonly network: string;
  readonly transaction: string;
  readonly payer: string | null;
  readonly asset: string;
  /** Base units of the asset. */
  readonly amount: string;
  readonly error: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/**
 * Calls of the account's agents that were paid for and have no result yet, newest first. A result may have been kept a
 * moment before its debt is ended.
 */
export async function listDebts(
  db: Queryable,
  ownerId: AccountId,
  { limit, offset }: z.infer<typeof debtsQuery>,
): Promise<ListedDebt[]> {
  const { rows } = await db.query<ListedDebt>(
    `select a.handle || '/' || a.slug as agent, d.network, d.transaction_id as transaction, d.payer, d.asset, d.amount,
       d.error, d.created_at, d.updated_at
     from debts d join agents a on a.id = d.agent_id
     where a.account_id = $1 and not exists (
       select from paid_calls p where p.network = d.network and p.payment_key = d.payment_key and p.output is not null)
     order by d.created_at desc, d.payment_key limit $2 offset $3`,
    [ownerId, limit, offset],
  );
  return rows;
}
