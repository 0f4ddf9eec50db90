import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import { followsPlace, microsOf, type Place, pageOf, pageQuery, placeValues, wholeNumber } from "../query.ts";

/** How many of the newest payouts are added up. */
export const countedMax = 10_000;

const { cursor } = pageQuery(/^[0-9a-f]{16}$/);
export const proofQuery = z.object({ cursor, limit: wholeNumber(1, 500).default(50).describe("Payouts a page.") });

/** Shows every payout of a creator to every visitor, or no longer. Repeated, it changes nothing. */
export async function showProof(db: Queryable, accountId: AccountId, isShown: boolean): Promise<void> {
  if (isShown) {
    await db.query("insert into ledger_proofs (account_id) values ($1) on conflict do nothing", [accountId]);
  } else {
    await db.query("delete from ledger_proofs where account_id = $1", [accountId]);
  }
}

/** Whether and since when a creator shows them. */
export async function proofState(db: Queryable, accountId: AccountId): Promise<{ since: Date | undefined }> {
  const { rows } = await db.query<{ since: Date }>("select since from ledger_proofs where account_id = $1", [
    accountId,
  ]);
  return { since: rows[0]?.since };
}

/**
 * Every payout to a creator's wallets, newest first, each with its transaction, and their totals. Neither the payer nor the agent is told:
 * a reader of the chain would know what a payer bought. 404 for a creator who does not show payouts, and for an unknown one alike.
 */
export async function readProof(db: Queryable, handle: string, asked: z.infer<typeof proofQuery>): Promise<Proof> {
  const creator = await shownCreator(db, handle);
  const { rows } = await db.query<PayoutRow>(`${payoutsOfPage} order by at desc, id limit $4`, [
    creator.id,
    ...placeValues(asked.cursor),
    asked.limit + 1,
  ]);
  const { page, cursor } = pageOf(rows, asked.limit);
  return {
    handle: creator.handle,
    shown_since: creator.since.toISOString(),
    ...(await totalsOf(db, creator.id)),
    payouts: page.map(({ createdMicros: _, id: _id, at, ...payout }) => ({ at: at.toISOString(), ...payout })),
    cursor,
  };
}

async function shownCreator(db: Queryable, handle: string): Promise<{ id: AccountId; handle: string; since: Date }> {
  const asked = handle.toLowerCase();
  const { rows } = await db.query(
    `select a.id, a.handle, p.since from handles h join accounts a on a.id = h.account_id join ledger_proofs p on p.account_id = a.id
     where h.handle = $1 and a.state = 'open'`,
    [/^[a-z0-9-]{1,64}$/.test(asked) ? asked : ""],
  );
  if (rows[0]) return rows[0];
  throw new ApiError("not_found", "There is no such proof.");
}

const isAmount = (call: string) => `${call}.requirements ->> 'amount' ~ '^[0-9]{1,30}$'`;

/**
 * The newest of each agent by the index, then the newest of all: no more is read of an agent than a page has. Those of the last moment with it,
 * since a place tells them apart by their ids. `$1`: the creator; `$2`, `$3`: the place; `$4`: how many.
 */
const payoutsOfPage = `
  select left(md5(p.network || p.payment_key), 16) as id, ${microsOf("p.created_at")} as "createdMicros",
    p.created_at as at, p.network, p.requirements ->> 'asset' as asset,
    p.requirements ->> 'amount' as amount, p.requirements ->> 'payTo' as pay_to, p.transaction_id as transaction
  from agents a cross join lateral (
    select * from paid_calls c where c.product = a.id and c.transaction_id is not null
      and ${followsPlace(2, { at: "c.created_at", id: "left(md5(c.network || c.payment_key), 16)" })}
    order by c.created_at desc fetch first ($4::integer) rows with ties
  ) p where a.account_id = $1 and ${isAmount("p")}`;

/** Of the newest payouts alone more than the key is read. */
const totals = `
  with newest as materialized (
    select p.* from agents a cross join lateral (
      select network, payment_key, created_at from paid_calls c where c.product = a.id and c.transaction_id is not null
      order by c.created_at desc limit ${countedMax}
    ) p where a.account_id = $1
    order by p.created_at desc limit ${countedMax}
  )
  select c.network, c.requirements ->> 'asset' as asset, count(*)::integer as payouts, sum((c.requirements ->> 'amount')::numeric)::text as amount
    from newest n join paid_calls c using (network, payment_key) where ${isAmount("c")} group by 1, 2 order by 1, 2`;

/** Totals that were read within the last minute, or are being read: any visitor may ask for them, and of a large seller they take long. */
const known = new WeakMap<Queryable, Map<AccountId, { readonly until: number; readonly totals: Promise<Totals> }>>();
const goodForMs = 60_000;
const knownMax = 1_000;

function totalsOf(db: Queryable, accountId: AccountId): Promise<Totals> {
  const ofDatabase = known.get(db) ?? new Map();
  known.set(db, ofDatabase);
  const before = ofDatabase.get(accountId);
  if (before && Date.now() < before.until) return before.totals;
  const read = readTotals(db, accountId);
  ofDatabase.delete(accountId);
  ofDatabase.set(accountId, { until: Date.now() + goodForMs, totals: read });
  read.catch(() => ofDatabase.delete(accountId));
  if (ofDatabase.size > knownMax) ofDatabase.delete(ofDatabase.keys().next().value as AccountId);
  return read;
}

async function readTotals(db: Queryable, accountId: AccountId): Promise<Totals> {
  const { rows: clock } = await db.query<{ now: Date }>("select now()");
  const { rows } = await db.query<Total>(totals, [accountId]);
  const counted = rows.reduce((sum, { payouts }) => sum + payouts, 0);
  return { totals: rows, totals_at: clock[0]!.now.toISOString(), counted, is_complete: counted < countedMax };
}

interface Total {
  readonly network: string;
  readonly asset: string;
  readonly payouts: number;
  /** Whole base units of the asset. */
  readonly amount: string;
}

interface Totals {
  readonly totals: readonly Total[];
  /** When they were added up: payouts that settled since are not among them. */
  readonly totals_at: string;
  /** How many of the newest payouts the totals add up. */
  readonly counted: number;
  /** Surely no older payout is left out of them. */
  readonly is_complete: boolean;
}

export interface Payout {
  readonly at: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly pay_to: string;
  readonly transaction: string;
}

export interface Proof extends Totals {
  readonly handle: string;
  readonly shown_since: string;
  readonly payouts: readonly Payout[];
  readonly cursor: string | null;
}

type PayoutRow = Place & Omit<Payout, "at"> & { readonly at: Date };
