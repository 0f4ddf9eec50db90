import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { RunId } from "../ids.ts";
import { followsPlace, microsOf, type Place, pageOf, placeValues } from "../query.ts";
import type { ReportReason } from "./report-agent.ts";

/** Reports of visitors on agents, newest first: the open ones, with `all` the resolved ones too. */
export async function listReports(db: Queryable, { all, limit, after }: ListOptions): Promise<ReportsPage> {
  const { rows } = await db.query<ReportRow>(
    `select r.id, a.handle || '/' || a.slug as agent, a.state, r.version, r.reason, r.text, r.email, r.run_id, s.token as shared,
       r.created_at, r.resolved_at, r.note, ${microsOf("r.created_at")} as "createdMicros"
     from reports r join agents a on a.id = r.agent_id left join run_shares s on s.run_id = r.run_id
     where ${followsPlace(1, { at: "r.created_at", id: "r.id" })} ${all ? "" : "and r.resolved_at is null"}
     order by r.created_at desc, r.id limit $3`,
    [...placeValues(after), limit + 1],
  );
  const { page, cursor } = pageOf(rows, limit);
  return { reports: page.map(({ createdMicros: _, ...report }) => report), cursor };
}

export const countedMax = 99;

/** How many wait for an operator; past `countedMax` they are counted no further. */
export async function countOpenReports(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ open: number }>(
    `select count(*)::integer as open from (select 1 from reports where resolved_at is null limit ${countedMax + 1}) waiting`,
  );
  return rows[0]!.open;
}

interface ListOptions {
  readonly all: boolean;
  readonly limit: number;
  /** Where the page before ends; the first page when left out. */
  readonly after?: Place | undefined;
}

export interface ReportsPage {
  readonly reports: readonly Report[];
  readonly cursor: string | null;
}

type ReportRow = Report & Place;

export interface Report {
  readonly id: string;
  /** `handle/slug`, as it is now. */
  readonly agent: string;
  /** The agent's state now. */
  readonly state: string;
  /** The agent's version when it was reported. */
  readonly version: number;
  readonly reason: ReportReason;
  readonly text: string;
  /** Where the visitor wants the answer; null when none was given. */
  readonly email: string | null;
  /** The reported run, which is, or was, shared; null where the agent was reported. */
  readonly run_id: RunId | null;
  /** The last part of that run's link; null for one that is shared no more. */
  readonly shared: string | null;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
  readonly note: string | null;
}

/**
 * Marks a report as dealt with; again changes the note alone. With `ifOpen` 409 for one that is resolved already, with its note. 404
 * when there is none.
 */
export async function resolveReport(
  db: Queryable,
  id: string,
  note: string | undefined,
  { ifOpen = false }: ResolveOptions = {},
): Promise<{ id: string; resolved_at: Date; note: string | null }> {
  const { rows } = await db.query(
    `update reports set resolved_at = coalesce(resolved_at, now()), note = coalesce($2, note)
     where id = $1 and (not $3 or resolved_at is null)
     returning id, resolved_at, note`,
    [id, note ?? null, ifOpen],
  );
  if (rows[0]) return rows[0];
  const { rows: resolved } = await db.query<{ note: string | null }>("select note from reports where id = $1", [id]);
  if (!resolved[0]) throw new ApiError("not_found", `There is no report "${id}".`);
  const said = resolved[0].note === null ? "" : `, with the note “${resolved[0].note}”`;
  throw new ApiError("conflict", `The report was resolved meanwhile${said}.`);
}

export interface ResolveOptions {
  /** For who saw it open. */
  readonly ifOpen?: boolean;
}
