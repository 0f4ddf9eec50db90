import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { noteEmail, securityEmail } from "../accounts/account-emails.ts";
import { accountOfUser } from "../accounts/users.ts";
import { requireFresh } from "../fresh-session.ts";
import { readName } from "../shown-text.ts";
import type { Session } from "./sessions.ts";
import type { SignIn } from "./sign-in.ts";

/** The ways in which a person signs in to this account: links to their e-mail address, providers that vouched for it, and passkeys. */
export async function listWaysIn(db: Queryable, ways: SignIn["ways"], { userId }: Session): Promise<readonly WayIn[]> {
  const { rows } = await db.query<Row>(
    `select 'email' as id, 'email' as kind, email as name, created_at, null::timestamptz as used_at
       from sign_in_users where id = $1 and email_verified and wallet_address is null
     union all (select id, 'provider', $2, created_at, null from sign_in_identities where user_id = $1
       order by created_at, id limit 20)
     union all (select id, 'passkey', name, created_at, used_at from sign_in_passkeys where user_id = $1
       order by created_at, id limit 20)`,
    [userId, ways.oidc ?? "single sign-on"],
  );
  const isSetUp = { email: ways.email, provider: ways.oidc !== null, passkey: ways.passkey };
  const all = rows.map((row) => ({ ...row, works: isSetUp[row.kind] }));
  const working = all.filter(({ works }) => works).length;
  return all.map((way) => ({ ...way, can_go: way.kind !== "email" && (!way.works || working > 1) }));
}

/**
 * Forgets a provider or a passkey. Signing in at the provider with the same e-mail address adds it again. 404 for a way in that is
 * not theirs; 409 for the last way in, of two that go at once too; 403 for a passkey from a session that is not fresh.
 */
export async function removeWayIn({ db, ways, publicUrl }: WaysNeeds, session: Session, id: string): Promise<WayIn> {
  return inTransaction(db, async (tx) => {
    await tx.query("select from sign_in_users where id = $1 for no key update", [session.userId]);
    const way = (await listWaysIn(tx, ways, session)).find((one) => one.id === id);
    if (!way) throw new ApiError("not_found", "There is no such way to sign in.");
    if (!way.can_go) {
      throw new ApiError("conflict", way.kind === "email" ? "The e-mail address stays." : "The last way in cannot go.");
    }
    if (way.kind === "passkey") {
      await requireFresh(tx, session);
      const account = await accountOfUser(tx, session.userId);
      const what = `The passkey “${way.name}” was removed from your account: it cannot be used to sign in any more.`;
      if (account) await noteEmail(tx, account.id, securityEmail(publicUrl, "passkey", "A passkey was removed", what));
    }
    const table = way.kind === "passkey" ? "sign_in_passkeys" : "sign_in_identities";
    await tx.query(`delete from ${table} where id = $1 and user_id = $2`, [id, session.userId]);
    return way;
  });
}

interface WaysNeeds {
  readonly db: Database;
  readonly ways: SignIn["ways"];
  readonly publicUrl: string;
}

export const passkeyNameMax = 60;

/** 404 for what is no passkey of theirs, 422 naming "name" for one that is empty or not shown. */
export async function renamePasskey(db: Queryable, { userId }: Session, id: string, name: string): Promise<void> {
  const shown = readName(name, passkeyNameMax);
  const { rowCount } = await db.query("update sign_in_passkeys set name = $3 where id = $1 and user_id = $2", [
    id,
    userId,
    shown,
  ]);
  if (rowCount !== 1) throw new ApiError("not_found", "There is no such passkey.");
}

interface Row {
  readonly id: string;
  readonly kind: "email" | "provider" | "passkey";
  readonly name: string;
  readonly created_at: Date;
  /** When it signed in last; known of passkeys alone. */
  readonly used_at: Date | null;
}

export interface WayIn extends Row {
  /** What is set up here at the moment. */
  readonly works: boolean;
  readonly can_go: boolean;
}
