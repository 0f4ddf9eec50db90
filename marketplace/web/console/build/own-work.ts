import type { Queryable } from "../../../../shared/postgres.ts";
import { suspensionReasons } from "../../../admin/acts.ts";
import { figuresDays } from "../../../agents/count-runs.ts";
import { listOwnAgents, type OwnAgent } from "../../../agents/creator-agents.ts";
import { readRevenues } from "../../../agents/creator-figures.ts";
import { asFigures, type Figures, type FiguresRow } from "../../../agents/figures.ts";
import { listDrafts } from "../../../drafts/drafts.ts";
import type { AccountId } from "../../../ids.ts";

export const shownAtOnce = 50;

/** What an account has written: agents in any state, and drafts of some that are none yet. The last touched first. */
export interface OwnWork {
  readonly rows: readonly OwnRow[];
  readonly from: number;
  readonly total: number;
  readonly agents: number;
}

export interface OwnRow {
  readonly slug: string;
  readonly name: string;
  readonly connector: string;
  /** Undefined for a draft alone. */
  readonly agent: OwnAgent | undefined;
  /** When its draft was saved; undefined where there is none. */
  readonly draftSavedAt: Date | undefined;
  readonly figures: Figures | undefined;
  /** Revenue in the days of its figures, in US cents. */
  readonly revenue: bigint | undefined;
  /** Why the operator took it off the market, where that was said. */
  readonly why: string | undefined;
}

export async function readOwnWork(db: Queryable, accountId: AccountId, from: number): Promise<OwnWork> {
  const [agents, drafts] = await Promise.all([listOwnAgents(db, accountId), listDrafts(db, accountId)]);
  const drafted = new Map(drafts.map((draft) => [draft.slug, draft]));
  const published = new Set(agents.map(({ slug }) => slug));
  const rows = [
    ...drafts
      .filter(({ slug }) => !published.has(slug))
      .map((draft) => ({ ...draft, agent: undefined, touched: draft.savedAt })),
    ...agents.map((agent) => ({
      slug: agent.slug,
      name: agent.name,
      connector: agent.connector,
      agent,
      touched: agent.updatedAt,
    })),
  ].toSorted((a, b) => latest(b, drafted) - latest(a, drafted));
  const shown = rows.slice(from, from + shownAtOnce);
  const ids = shown.flatMap(({ agent }) => (agent ? [agent.id] : []));
  const [figures, revenues, reasons] = await Promise.all([
    figuresOf(db, ids),
    readRevenues(db, ids, figuresDays),
    shown.some(({ agent }) => agent?.state === "suspended") ? suspensionReasons(db, accountId) : undefined,
  ]);
  return {
    rows: shown.map(({ slug, name, connector, agent }) => ({
      slug,
      name: drafted.get(slug)?.name || name,
      connector,
      agent,
      draftSavedAt: drafted.get(slug)?.savedAt,
      figures: agent && figures.get(agent.id),
      revenue: agent && revenues.get(agent.id),
      why: agent?.state === "suspended" ? reasons?.get(slug) : undefined,
    })),
    from,
    total: rows.length,
    agents: agents.length,
  };
}

function latest(
  { slug, touched }: { slug: string; touched: Date },
  drafted: ReadonlyMap<string, { savedAt: Date }>,
): number {
  return Math.max(touched.getTime(), drafted.get(slug)?.savedAt.getTime() ?? 0);
}

async function figuresOf(db: Queryable, ids: readonly string[]): Promise<Map<string, Figures>> {
  const { rows } = await db.query<FiguresRow & { agent_id: string }>(
    "select agent_id, runs, succeeded, median_ms, p95_ms, last_success_at from agent_figures where agent_id = any($1)",
    [ids],
  );
  return new Map(rows.map((row) => [row.agent_id, asFigures(row)]));
}
