import { ApiError } from "../shared/errors.ts";
import type { Queryable } from "../shared/postgres.ts";
import type { AccountId } from "./ids.ts";

export const freshMinutes = 10;

/**
 * Whether the person signed in here, or, as an operator, showed a code or a passkey, within the last minutes: a stranger who finds the
 * device open did not. Of operators signing in is not enough, since a passkey that the mailbox alone could add would open their pages.
 */
export async function isFresh(db: Queryable, { id }: SignedIn): Promise<boolean> {
  const { rows } = await db.query<{ fresh: boolean }>(
    `select created_at > now() - interval '${freshMinutes} minutes'
         and not exists (select from operators o join sign_in_users u on u.account_id = o.account_id where u.id = s.user_id)
       or exists (select from operator_confirmations where session_id = $1 and until > now()) as fresh
     from sign_in_sessions s where id = $1`,
    [id],
  );
  return rows[0]?.fresh ?? false;
}

/** A session. */
export interface SignedIn {
  readonly id: string;
}

/** 403 for a session that is not fresh. */
export async function requireFresh(db: Queryable, session: SignedIn): Promise<void> {
  if (!(await isFresh(db, session))) throw new NotFreshError();
}

/** The same for what is done to an account; 409 where it was closed meanwhile, which ended the session. */
export async function requireFreshFor(db: Queryable, session: SignedIn, accountId: AccountId): Promise<void> {
  if (await isFresh(db, session)) return;
  const { rowCount } = await db.query("select from accounts where id = $1 and state = 'closed'", [accountId]);
  throw rowCount === 0 ? new NotFreshError() : new ApiError("conflict", "The account is closed.");
}

export class NotFreshError extends ApiError {
  constructor() {
    super(
      "forbidden",
      `Sign out and in again first, or show as an operator that it is you: passkeys, the e-mail address and payout wallets are changed, and an account is closed, within ${freshMinutes} minutes of that.`,
    );
  }
}
