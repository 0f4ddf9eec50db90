import { z } from "zod";
import type { Queryable } from "../../shared/postgres.ts";
import { toSafeNumber } from "../../shared/units.ts";
import type { AccountId, RunId } from "../ids.ts";
import { type Place, pageOf, pageQuery } from "../query.ts";

export const statementQuery = z.object(pageQuery(/^\d{1,18}$/));

/**
 * The account's own postings, newest first: what came into and went out of its spendable and its earned credits. Whose
 * other purse it was is not told, nor the run of another account; the agent is, as long as its run is remembered.
 */
export async function readStatement(
  db: Queryable,
  accountId: AccountId,
  { limit, cursor }: z.infer<typeof statementQuery>,
): Promise<Statement> {
  const { rows } = await db.query<StatementRow>({
    name: "read statement",
    text: `
      select p.id::text as id, p."createdMicros", p.kind, p.amount, p.created_at as "createdAt", p.run_id as "runId",
        p.note, ${nameOf("p.from_purse")} as "from", ${nameOf("p.to_purse")} as "to",
        (select a.handle || '/' || a.slug from agents a where a.id = coalesce(
          (select r.agent_id from runs r where r.id = p.run_id),
          substr(case when p.from_purse like 'models:%' then p.from_purse when p.to_purse like 'models:%' then p.to_purse end, 8)
        )) as agent
      from (
        ${ends.map(([end, purse]) => `(${branch(end, purse)})`).join(" union all ")} order by created_at desc, id limit $4
      ) p`,
    values: [accountId, cursor?.createdMicros ?? null, BigInt(cursor?.id ?? 0), limit + 1],
  });
  const { page, cursor: next } = pageOf(rows, limit);
  return { postings: page.map(asEntry), cursor: next };
}

export interface Statement {
  readonly postings: readonly Entry[];
  readonly cursor: string | null;
}

export const kinds = [
  "grant",
  "purchase",
  "transfer",
  "hold",
  "capture",
  "fee",
  "release",
  "reward",
  "model_reserve",
  "model_return",
  "repayment",
] as const;
export const purseNames = ["spendable", "earned", "held", "models", "owed", "issued", "other_account"] as const;

export interface Entry {
  readonly id: string;
  readonly kind: (typeof kinds)[number];
  readonly credits: number;
  readonly from: (typeof purseNames)[number];
  readonly to: (typeof purseNames)[number];
  /** Of the account's own run. */
  readonly run_id: RunId | null;
  readonly agent: string | null;
  readonly note: string | null;
  readonly created_at: string;
}

/** Together they find each posting once: what leaves earned credits becomes the same account's spendable ones. */
const ends = [
  ["from_purse", "spendable"],
  ["to_purse", "spendable"],
  ["to_purse", "earned"],
] as const;

function branch(end: "from_purse" | "to_purse", purse: "spendable" | "earned"): string {
  const micros = "(extract(epoch from created_at) * 1000000)::bigint";
  return `
    select id, kind, amount, from_purse, to_purse, run_id, note, created_at, ${micros} as "createdMicros"
    from postings
    where ${end} = '${purse}:' || $1 and ${end} like '${purse}:%'
      and created_at <= coalesce(timestamptz 'epoch' + $2::bigint * interval '1 microsecond', 'infinity')
      and (${micros} is distinct from $2::bigint or id > $3::bigint)
    order by created_at desc, id limit $4`;
}

function nameOf(purse: string): string {
  return `case when ${purse} = 'spendable:' || $1 then 'spendable' when ${purse} = 'earned:' || $1 then 'earned'
    when ${purse} like 'held:%' then 'held' when ${purse} like 'models:%' then 'models'
    when ${purse} = 'owed:' || $1 then 'owed' when ${purse} = 'platform:issued' then 'issued' else 'other_account' end`;
}

interface StatementRow extends Place {
  readonly kind: Entry["kind"];
  readonly amount: bigint;
  readonly createdAt: Date;
  readonly runId: RunId | null;
  readonly note: string | null;
  readonly from: Entry["from"];
  readonly to: Entry["to"];
  readonly agent: string | null;
}

function asEntry(row: StatementRow): Entry {
  const own = row.from === "spendable" || row.to === "spendable";
  return {
    id: `pst_${row.id}`,
    kind: row.kind,
    credits: toSafeNumber(row.amount),
    from: row.from,
    to: row.to,
    run_id: own && row.kind !== "reward" ? row.runId : null,
    agent: row.agent,
    note: row.note,
    created_at: row.createdAt.toISOString(),
  };
}
