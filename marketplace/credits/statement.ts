import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId, KeyId, RunId } from "../ids.ts";
import { followsPlace, microsOf, type Place, pageOf, pageQuery, placeValues } from "../query.ts";
import {
  agentOfModels,
  filterValues,
  inOrder,
  inPeriod,
  type StatementFilter,
  type StatementRow,
  selected,
  statementFilters,
} from "./statement-rows.ts";
import { stretches } from "./statement-stretches.ts";

export const statementQuery = inOrder(z.object({ ...pageQuery(/^\d{1,18}$/), ...statementFilters }));

/**
 * The account's own postings, newest first: credits that came into and went out of its spendable and its earned credits.
 * Neither the owner of the other ledger account is told, nor another account's run; the agent is, as long as its run is
 * remembered.
 */
export async function readStatement(
  db: Queryable,
  accountId: AccountId,
  { limit, cursor, ...filter }: z.infer<typeof statementQuery>,
): Promise<Statement> {
  const { page, cursor: next } = pageOf(
    await statementRows(db, accountId, filter, { limit: limit + 1, cursor }),
    limit,
  );
  return { postings: page.map(entryOf), cursor: next };
}

/** The newest `limit` postings from the cursor on. */
export async function statementRows(
  db: Queryable,
  accountId: AccountId,
  filter: StatementFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor?: Place | undefined },
): Promise<StatementRow[]> {
  const given = (["kind", "agent", "run_id", "key_id"] as const).filter((name) => filter[name]);
  const inStretches = given.length === 1 && given[0] === "kind";
  const { rows } = await db.query<StatementRow>({
    name: `read statement ${given.join(" ")}`,
    text: `${inStretches ? stretches : ""}
      select p.id::text as id, p."createdMicros", p.kind, p.amount, p.created_at as "createdAt", p.run_id as "runId",
        p.note, ${nameOf("p.from_purse")} as "from", ${nameOf("p.to_purse")} as "to", k.id as "keyId", k.name as "keyName",
        (select a.handle || '/' || a.slug from agents a
         where a.id = coalesce(r.agent_id, ${agentOfModels("p")})) as agent,
        paid.network, paid.transaction_id as transaction
      from (
        ${ends.map((end) => branch(end, selected(filter), inStretches)).join(" union all ")} order by created_at desc, id limit $10
      ) p
      left join runs r on r.id = p.run_id
      left join api_keys k on k.id = r.key_id and r.account_id = $1
      left join paid_calls paid on p.kind = 'purchase' and (paid.network, paid.payment_key)
        = (split_part(p.reference, ' ', 2), substr(p.reference, length('purchase ' || split_part(p.reference, ' ', 2)) + 2))
      order by p.created_at desc, p.id`,
    values: [...filterValues(accountId, filter), ...placeValues(cursor, "bigint"), limit],
  });
  return rows;
}

export interface Statement {
  readonly postings: readonly Entry[];
  readonly cursor: string | null;
}

export interface Entry {
  readonly id: string;
  readonly kind: StatementRow["kind"];
  readonly credits: number;
  readonly from: StatementRow["from"];
  readonly to: StatementRow["to"];
  /** The account's own run; null for any other. */
  readonly run_id: RunId | null;
  readonly key: { readonly id: KeyId; readonly name: string } | null;
  readonly agent: string | null;
  readonly payment: { readonly network: string; readonly transaction: string } | null;
  readonly note: string | null;
  readonly created_at: string;
}

/** Together they find each posting once: what leaves earned credits becomes the same account's spendable ones. */
const ends = [
  ["from_purse", "spendable"],
  ["to_purse", "spendable"],
  ["to_purse", "earned"],
] as const;

/** The postings of one end; in each stretch by itself where there are any, so that an index finds them. */
function branch([end, ledgerAccount]: (typeof ends)[number], filters: string, inStretches: boolean): string {
  const found = (within: string) => `
    select id, kind, amount, from_purse, to_purse, run_id, reference, note, created_at, ${microsOf("created_at")} as "createdMicros"
    from postings
    where ${end} = '${ledgerAccount}:' || $1 and ${end} like '${ledgerAccount}:%'
      and ${followsPlace(8, { idType: "bigint" })}
      and ${inPeriod} and ${filters} and ${within}
    order by created_at desc, id limit $10`;
  if (!inStretches) return `(${found("true")})`;
  const each = found("created_at >= stretches.since and created_at < stretches.through");
  return `(select found.* from stretches cross join lateral (${each}) found order by created_at desc, id limit $10)`;
}

function nameOf(ledgerAccount: string): string {
  return `case when ${ledgerAccount} = 'spendable:' || $1 then 'spendable' when ${ledgerAccount} = 'earned:' || $1 then 'earned'
    when ${ledgerAccount} like 'held:%' then 'held' when ${ledgerAccount} like 'models:%' then 'models'
    when ${ledgerAccount} = 'owed:' || $1 then 'owed' when ${ledgerAccount} = 'platform:issued' then 'issued' else 'other_account' end`;
}

export function entryOf(row: StatementRow): Entry {
  const isOwnRun = (row.from === "spendable" || row.to === "spendable") && row.kind !== "reward";
  const { keyId, keyName, network, transaction } = row;
  return {
    id: `pst_${row.id}`,
    kind: row.kind,
    credits: toSafeNumber(row.amount),
    from: row.from,
    to: row.to,
    run_id: isOwnRun ? row.runId : null,
    key: isOwnRun && keyId !== null && keyName !== null ? { id: keyId, name: keyName } : null,
    agent: row.agent,
    payment: network !== null && transaction !== null ? { network, transaction } : null,
    note: row.note,
    created_at: row.createdAt.toISOString(),
  };
}

/** What a posting adds to the account's spendable and to its earned credits. */
export function effectOf({ from, to, credits }: Pick<Entry, "from" | "to" | "credits">): Effect {
  const on = (ledgerAccount: "spendable" | "earned") =>
    (to === ledgerAccount ? credits : 0) - (from === ledgerAccount ? credits : 0);
  return { spendable: on("spendable"), earned: on("earned") };
}

interface Effect {
  readonly spendable: number;
  readonly earned: number;
}
