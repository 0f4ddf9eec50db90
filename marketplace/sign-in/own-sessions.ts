import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { programOf } from "../seen-client.ts";
import type { Session } from "./sessions.ts";

/** So many of a person's sessions are kept, and all of them are listed. */
const sessionsMax = 100;
/** Of who shows a wallet alone, which costs nothing to make. */
const walletSessionsMax = 10;

/** After one more: of a person's sessions the oldest end, since each sign-in would keep a row for days. */
export async function endOldestSessions(db: Queryable, userId: string): Promise<void> {
  await db.query(
    `delete from sign_in_sessions where user_id = $1 and id in (
       select id from sign_in_sessions where user_id = $1 order by updated_at desc, created_at desc, id offset (
         select case when wallet_address is null then ${sessionsMax} else ${walletSessionsMax} end from sign_in_users where id = $1))`,
    [userId],
  );
}

/** Where a person is signed in, this one first. */
export async function listSessions(db: Queryable, { id, userId }: Session): Promise<readonly ListedSession[]> {
  const { rows } = await db.query<SessionRow>(
    `select id, user_agent, nullif(ip_address, '') as network, created_at, updated_at from sign_in_sessions where user_id = $1 and expires_at > now()
     order by id = $2 desc, updated_at desc, id limit ${sessionsMax}`,
    [userId, id],
  );
  return rows.map((row) => ({
    id: row.id,
    device: programOf(row.user_agent ?? undefined) ?? null,
    from: row.network,
    is_this: row.id === id,
    created_at: row.created_at,
    seen_at: row.updated_at,
  }));
}

/** Signs a person out elsewhere, at once. 404 for what is no session of theirs; 409 for this one, which signs out by itself. */
export async function endSession(db: Queryable, session: Session, id: string): Promise<void> {
  if (id === session.id) throw new ApiError("conflict", "This is the session you are in: sign out instead.");
  const { rowCount } = await db.query("delete from sign_in_sessions where id = $1 and user_id = $2", [
    id,
    session.userId,
  ]);
  if (rowCount !== 1) throw new ApiError("not_found", "There is no such session.");
}

/** Signs a person out everywhere but here; answers how many sessions ended. */
export async function endOtherSessions(db: Queryable, { id, userId }: Session): Promise<number> {
  const { rowCount } = await db.query("delete from sign_in_sessions where user_id = $1 and id <> $2", [userId, id]);
  return rowCount ?? 0;
}

interface SessionRow {
  readonly id: string;
  readonly user_agent: string | null;
  readonly network: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface ListedSession {
  readonly id: string;
  /** `Firefox on Linux`; null where the browser does not say. */
  readonly device: string | null;
  /** The network signed in from, `203.0.113.x`; null where it is not known. */
  readonly from: string | null;
  readonly is_this: boolean;
  readonly created_at: Date;
  /** To the day. */
  readonly seen_at: Date;
}
