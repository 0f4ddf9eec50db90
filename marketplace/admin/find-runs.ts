import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId, RunId } from "../ids.ts";

/** Runs by their ids, without what was asked and answered. */
export async function findRuns(db: Queryable, ids: readonly string[]): Promise<FoundRun[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<RunRow>(
    `select r.id, r.rail, a.handle || '/' || a.slug as agent, r.agent_version as version, a.account_id as "creatorId",
       r.account_id as "buyerId", b.handle as buyer, r.key_id as "keyId", r.price_credits as "priceCredits", r.state, r.error,
       r.input is not null as "inputKept", r.created_at as "createdAt", r.finished_at as "finishedAt"
     from runs r join agents a on a.id = r.agent_id left join accounts b on b.id = r.account_id
     where r.id = any($1) order by r.created_at desc limit 10`,
    [ids],
  );
  const postings = await postingsOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    run_id: row.id,
    rail: row.rail,
    agent: row.agent,
    agent_version: row.version,
    buyer: row.buyer,
    key_id: row.keyId,
    price_credits: toSafeNumber(row.priceCredits),
    state: row.state,
    error: row.error,
    input_kept: row.inputKept,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
    postings: postings.filter(({ run_id }) => run_id === row.id).map(({ run_id: _, ...posting }) => posting),
    buyerId: row.buyerId,
    creatorId: row.creatorId,
  }));
}

async function postingsOf(db: Queryable, ids: readonly RunId[]): Promise<Array<Posting & { readonly run_id: RunId }>> {
  const { rows } = await db.query<{ id: bigint; run_id: RunId; kind: string; amount: bigint; at: Date }>(
    "select id, run_id, kind, amount, created_at as at from postings where run_id = any($1) order by id limit 100",
    [ids],
  );
  return rows.map(({ id, run_id, kind, amount, at }) => ({
    id: `pst_${id}`,
    run_id,
    kind,
    credits: toSafeNumber(amount),
    created_at: at.toISOString(),
  }));
}

export interface FoundRun {
  readonly run_id: RunId;
  readonly rail: "credits" | "per_call";
  readonly agent: string;
  readonly agent_version: number;
  /** Null for a wallet. */
  readonly buyer: string | null;
  readonly key_id: string | null;
  readonly price_credits: number;
  readonly state: "running" | "succeeded" | "failed" | "lost";
  readonly error: string | null;
  readonly input_kept: boolean;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly postings: readonly Posting[];
  readonly buyerId: AccountId | null;
  readonly creatorId: AccountId;
}

interface Posting {
  readonly id: string;
  readonly kind: string;
  readonly credits: number;
  readonly created_at: string;
}

interface RunRow {
  readonly id: RunId;
  readonly rail: FoundRun["rail"];
  readonly agent: string;
  readonly version: number;
  readonly creatorId: AccountId;
  readonly buyerId: AccountId | null;
  readonly buyer: string | null;
  readonly keyId: string | null;
  readonly priceCredits: bigint;
  readonly state: FoundRun["state"];
  readonly error: string | null;
  readonly inputKept: boolean;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}
