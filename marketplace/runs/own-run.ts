import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import { type RunRow, runColumns, runId } from "./history.ts";
import { askedInput, type Kept } from "./kept-input.ts";
import { type Asked, asOwnRun, type OwnRun } from "./own-runs.ts";

/** All that its account sees of a run. */
export interface RunReport extends OwnRun {
  /** The agent's name now, and its version then. */
  readonly agent_name: string;
  readonly agent_version: number;
  /** Whether the agent can be run again. */
  readonly agent_is_live: boolean;
  /** Null when it was too long to be kept. */
  readonly input: Readonly<Record<string, string | number | boolean>> | null;
  readonly output: object | null;
  /** Images of this run that their creator has taken down. */
  readonly hidden_images: readonly string[];
  readonly receipt: object | null;
  /** The credits that it moved, oldest first. */
  readonly postings: readonly RunPosting[];
  /** What it did on a chain. */
  readonly transactions: readonly RunTransaction[];
  readonly share: Share | null;
}

interface RunPosting {
  readonly kind: "hold" | "capture" | "release" | "reward";
  readonly credits: number;
  readonly created_at: string;
}

interface RunTransaction {
  readonly network: string;
  readonly transaction_id: string;
  /** `open`: the chain has not told yet. `void`: nothing happened. */
  readonly state: "open" | "done" | "void";
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Share {
  readonly token: string;
  readonly with_input: boolean;
  readonly created_at: string;
}

/** One of the account's own runs. 404 for any other, and after `historyDays`. */
export async function readOwnRun(db: Queryable, accountId: AccountId, id: string): Promise<RunReport> {
  const { rows } = await db.query<ReportRow>(
    `select ${runColumns}, r.key_id as "keyId", k.name as "keyName", r.agent_version as "agentVersion", r.input, r.output, r.receipt,
       coalesce(v.name, a.slug) as "agentName", a.state = 'live' as "agentIsLive",
       s.token, s.with_input as "withInput", s.created_at as "sharedAt"
     from runs r join agents a on a.id = r.agent_id left join agent_versions v on v.agent_id = a.id and v.version = r.agent_version
       left join api_keys k on k.id = r.key_id left join run_shares s on s.run_id = r.id
     where r.id = $1 and r.account_id = $2 and r.created_at > now() - interval '${historyDays} days'`,
    [runId.test(id) ? id : "", accountId],
  );
  const row = rows[0];
  if (!row) throw noSuchRun();
  return {
    ...asOwnRun(row),
    agent_name: row.agentName,
    agent_version: row.agentVersion,
    agent_is_live: row.agentIsLive,
    input: askedInput(row.input),
    output: row.output,
    hidden_images: await hiddenImages(db, row.output),
    receipt: row.receipt,
    postings: await postingsOf(db, row.id),
    transactions: await transactionsOf(db, row.id),
    share: row.token === null ? null : asShare(row as Shared),
  };
}

/** What the account's own run of an agent was asked; undefined when there is none, or its input was not kept. */
export async function readAskedInput(
  db: Queryable,
  accountId: AccountId,
  { run, agentId }: { readonly run: string; readonly agentId: AgentId },
): Promise<RunReport["input"] | undefined> {
  const { rows } = await db.query<{ input: Kept | null }>(
    "select input from runs where id = $1 and account_id = $2 and agent_id = $3",
    [runId.test(run) ? run : "", accountId, agentId],
  );
  return askedInput(rows[0]?.input ?? null) ?? undefined;
}

/** All that a capture takes from the hold is one amount to the buyer, however it is divided. */
async function postingsOf(db: Queryable, id: RunId): Promise<RunPosting[]> {
  const { rows } = await db.query<{ kind: RunPosting["kind"]; credits: bigint; createdAt: Date }>(
    `select case when kind in ('fee', 'model_cost') then 'capture' else kind end as kind, sum(amount)::bigint as credits,
       min(created_at) as "createdAt"
     from postings where run_id = $1 group by 1 order by min(created_at), min(id)`,
    [id],
  );
  return rows.map(({ kind, credits, createdAt }) => ({
    kind,
    credits: toSafeNumber(credits),
    created_at: createdAt.toISOString(),
  }));
}

async function transactionsOf(db: Queryable, id: RunId): Promise<RunTransaction[]> {
  const { rows } = await db.query<EffectRow>(
    `select network, transaction_ids as ids, state, created_at as "createdAt", updated_at as "updatedAt" from effects
     where run_id = $1 and network is not null order by created_at limit 20`,
    [id],
  );
  return rows.flatMap(({ network, ids, state, createdAt, updatedAt }) =>
    ids.map((transaction_id) => ({
      network,
      transaction_id,
      state,
      created_at: createdAt.toISOString(),
      updated_at: updatedAt.toISOString(),
    })),
  );
}

/** The addresses of an output's images that answer 410. */
export async function hiddenImages(db: Queryable, output: object | null): Promise<string[]> {
  const { images } = (output ?? {}) as { images?: unknown };
  const urls = Array.isArray(images) ? images.filter((url) => typeof url === "string") : [];
  if (urls.length === 0) return [];
  const nameIn = (url: string) => url.slice(url.lastIndexOf("/") + 1);
  const { rows } = await db.query<{ name: string }>(
    "select name from files where name = any($1) and (hidden_at is not null or deleted_at is not null)",
    [urls.map(nameIn)],
  );
  const hidden = new Set(rows.map(({ name }) => name));
  return urls.filter((url) => hidden.has(nameIn(url)));
}

export function asShare({ token, withInput, sharedAt }: Shared): Share {
  return { token, with_input: withInput, created_at: sharedAt.toISOString() };
}

export const noSuchRun = () => new ApiError("not_found", "There is no such run.");

export interface Shared {
  readonly token: string;
  readonly withInput: boolean;
  readonly sharedAt: Date;
}

interface EffectRow {
  readonly network: string;
  readonly ids: readonly string[];
  readonly state: RunTransaction["state"];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type ReportRow = RunRow &
  Asked &
  (Shared | { readonly token: null }) & {
    readonly agentName: string;
    readonly agentVersion: number;
    readonly agentIsLive: boolean;
    readonly input: Kept | null;
    readonly output: object | null;
    readonly receipt: object | null;
  };
