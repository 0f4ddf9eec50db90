import { randomBytes } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import { runId } from "./history.ts";
import { askedInput, type Kept } from "./kept-input.ts";
import { asShare, hiddenImages, noSuchRun, type Share, type Shared } from "./own-run.ts";

/**
 * Shows one of the account's own runs, once it has ended, to every visitor who has the link, and the input only if that is asked for.
 * Again changes what is shown under the same link. 404 for another account's run, 409 while it runs.
 */
export async function shareRun(
  db: Queryable,
  accountId: AccountId,
  id: string,
  { withInput }: { readonly withInput: boolean },
): Promise<Share> {
  const { rows } = await db.query<Shared & { state: string }>(
    `with own as (
       select id, state from runs where id = $1 and account_id = $2 and created_at > now() - interval '${historyDays} days'
     ), shared as (
       insert into run_shares as s (token, run_id, account_id, with_input)
       select $3, id, $2, $4 from own where state <> 'running'
       on conflict (run_id) do update set with_input = excluded.with_input
       returning token, with_input, created_at
     )
     select own.state, token, with_input as "withInput", shared.created_at as "sharedAt" from own left join shared on true`,
    [runId.test(id) ? id : "", accountId, randomBytes(16).toString("base64url"), withInput],
  );
  const row = rows[0];
  if (!row) throw noSuchRun();
  if (row.state === "running") throw new ApiError("conflict", "A run can be shared once it has ended.");
  return asShare(row);
}

/** Nothing is under the link from now on. 404 for another account's run; revoking what is not shared changes nothing. */
export async function revokeShare(db: Queryable, accountId: AccountId, id: string): Promise<void> {
  const own = [runId.test(id) ? id : "", accountId];
  const { rowCount } = await db.query("select from runs where id = $1 and account_id = $2", own);
  if (rowCount !== 1) throw noSuchRun();
  await db.query("delete from run_shares where run_id = $1 and account_id = $2", own);
}

/** A run as a visitor who has its link sees it. Not told are the account, the key and the time of sharing. */
export interface SharedRun {
  readonly run_id: RunId;
  readonly agent: string;
  readonly agent_name: string;
  readonly agent_is_live: boolean;
  readonly success: boolean;
  readonly credits_used: number;
  /** Left out unless it was asked for. */
  readonly input?: Readonly<Record<string, string | number | boolean>>;
  readonly output: object | null;
  /** Images of this run that their creator has taken down. */
  readonly hidden_images: readonly string[];
  readonly receipt: object | null;
  readonly error?: string;
  readonly created_at: string;
  readonly finished_at: string;
}

/**
 * 404 for a run that was never shared or is shared no more: revoked, older than `historyDays`, of an account that is not open,
 * or of an agent that the operator has suspended, by itself or with its creator.
 */
export async function readSharedRun(db: Queryable, token: string): Promise<SharedRun> {
  const row = await findShared(db, token);
  const { withInput, input, error, output, receipt } = row;
  const asked = withInput ? askedInput(input) : null;
  return {
    run_id: row.id,
    agent: row.agent,
    agent_name: row.agentName,
    agent_is_live: row.agentIsLive,
    success: row.state === "succeeded",
    credits_used: row.state === "succeeded" ? Number(row.priceCredits) : 0,
    ...(asked ? { input: asked } : {}),
    output,
    hidden_images: await hiddenImages(db, output),
    receipt,
    ...(error === null ? {} : { error }),
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt.toISOString(),
  };
}

export async function findShared(db: Queryable, token: string): Promise<SharedRow> {
  const { rows } = await db.query<SharedRow>(
    `select r.id, r.agent_id as "agentId", r.agent_version as "agentVersion", a.handle || '/' || a.slug as agent,
       coalesce(v.name, a.slug) as "agentName", a.state = 'live' as "agentIsLive", r.state, r.price_credits as "priceCredits",
       s.with_input as "withInput", r.input, r.output, r.receipt, r.error, r.created_at as "createdAt", r.finished_at as "finishedAt"
     from run_shares s join runs r on r.id = s.run_id join accounts o on o.id = s.account_id and o.state = 'open'
       join agents a on a.id = r.agent_id and a.state <> 'suspended'
       join accounts c on c.id = a.account_id and c.state <> 'suspended'
       left join agent_versions v on v.agent_id = a.id and v.version = r.agent_version
     where s.token = $1 and r.created_at > now() - interval '${historyDays} days'`,
    [/^[\w-]{22}$/.test(token) ? token : ""],
  );
  if (rows[0]) return rows[0];
  throw new ApiError("not_found", "There is no run under this link, or it is not shared any more.");
}

interface SharedRow {
  readonly id: RunId;
  readonly agentId: AgentId;
  readonly agentVersion: number;
  readonly agent: string;
  readonly agentName: string;
  readonly agentIsLive: boolean;
  readonly state: string;
  readonly priceCredits: bigint;
  readonly withInput: boolean;
  readonly input: Kept | null;
  readonly output: object | null;
  readonly receipt: object | null;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date;
}
