import { z } from "zod";
import type { Queryable } from "../../shared/postgres.ts";
import { isAtAddress } from "../at-address.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, AgentId, KeyId } from "../ids.ts";
import { dayText, microsOf, type Place, pageOf, pageQuery } from "../query.ts";
import { asRecord, type RunRecord, type RunRow, runColumns, runId, runStates } from "./history.ts";

/** Which runs of an account. */
export const runsFilter = {
  key: z
    .string()
    .regex(/^(none|key_[0-9a-z]{26})$/, 'must be a key\'s id, or "none" for what was run signed in')
    .optional()
    .describe("The id of the key they were asked with; `none`: signed in, without a key."),
  agent: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,60}\/[A-Za-z0-9-]{1,60}$/, "must be handle/slug")
    .optional()
    .describe("`handle/slug`."),
};

const day = dayText.optional();

export const ownRunsQuery = z.object({
  ...pageQuery(runId),
  ...runsFilter,
  state: z.enum(runStates).optional().describe("How they ended."),
  day: day.describe("Begun on this day (UTC), `YYYY-MM-DD`."),
  since: day.describe("Begun on this day (UTC) or later."),
});

export type OwnRunsQuery = z.infer<typeof ownRunsQuery>;

/** A run as its account sees it: with the key that asked. */
export interface OwnRun extends RunRecord {
  readonly key: { readonly id: KeyId; readonly name: string } | null;
}

export interface OwnRunPage {
  readonly runs: readonly OwnRun[];
  readonly cursor: string | null;
}

/** The account's runs that fit, newest first. Each filter has an index of its own; a page reads no more than it shows. */
export async function listOwnRuns(db: Queryable, accountId: AccountId, query: OwnRunsQuery): Promise<OwnRunPage> {
  const { limit, cursor, key, agent, state } = query;
  const agentId = agent === undefined ? undefined : await agentIdOf(db, agent);
  if (agentId === null) return { runs: [], cursor: null };
  const values: unknown[] = [accountId, limit + 1];
  const conditions: string[] = [];
  const where = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (key) where((p) => `coalesce(r.key_id, '') = ${p}`, key === "none" ? "" : key);
  if (agentId) where((p) => `r.agent_id = ${p}`, agentId);
  // Written into the text, so that PostgreSQL sees that the index of runs without success fits.
  if (state) conditions.push(`r.state = '${state}'`);
  if (query.day) where((p) => `r.created_at >= ${p}::timestamptz`, `${query.day}T00:00:00Z`);
  if (query.day) where((p) => `r.created_at < ${p}::timestamptz + interval '1 day'`, `${query.day}T00:00:00Z`);
  if (query.since) where((p) => `r.created_at >= ${p}::timestamptz`, `${query.since}T00:00:00Z`);
  if (cursor) {
    const moment = "timestamptz 'epoch' + interval '1 microsecond' *";
    where((p) => `r.created_at <= ${moment} ${p}::bigint`, cursor.createdMicros);
    where((p) => `(${micros} <> $${values.length - 1}::bigint or r.id > ${p})`, cursor.id);
  }
  const { rows } = await db.query<OwnRunRow>(
    `select ${runColumns}, r.key_id as "keyId", k.name as "keyName", "createdMicros"
     from (
       select r.*, ${micros} as "createdMicros" from runs r
       where r.account_id = $1 and r.created_at > now() - interval '${historyDays} days'
         ${conditions.map((condition) => `and ${condition}`).join("\n         ")}
       order by r.created_at desc, r.id limit $2
     ) r join agents a on a.id = r.agent_id left join api_keys k on k.id = r.key_id
     order by r.created_at desc, r.id`,
    values,
  );
  const { page, cursor: next } = pageOf(rows, limit);
  return { runs: page.map(asOwnRun), cursor: next };
}

/** By its address of now or before: a buyer may still call it by one of those. Null when there never was such an agent. */
export async function agentIdOf(db: Queryable, address: string): Promise<AgentId | null> {
  const { rows } = await db.query<{ id: AgentId }>(`select id from agents a where ${isAtAddress("a", "$1")}`, [
    address,
  ]);
  return rows[0]?.id ?? null;
}

const micros = microsOf("r.created_at");

export function asOwnRun(row: RunRow & Asked): OwnRun {
  return { ...asRecord(row), key: row.keyId === null ? null : { id: row.keyId, name: row.keyName ?? "" } };
}

export interface Asked {
  readonly keyId: KeyId | null;
  readonly keyName: string | null;
}

type OwnRunRow = RunRow & Asked & Place;
