import { randomBytes } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import {
  type Database,
  inTransaction,
  isUniqueViolation,
  type Queryable,
  type Transaction,
} from "../../shared/postgres.ts";
import { type Email, noteEmailToFormer } from "../accounts/account-emails.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import { requireFresh } from "../fresh-session.ts";
import type { AccountId } from "../ids.ts";
import { hashOf } from "./auth.ts";
import { admitLink } from "./enter.ts";
import type { Session } from "./sessions.ts";
import type { SignIn } from "./sign-in.ts";

export const changeMinutes = 60;
export const changePath = "/settings/account/email";

/**
 * Sends an e-mail to the address that the account is to have; nothing changes before its link is followed, and it holds no longer than
 * the session. Answers the link where it may be shown. The same for addresses that are known here and others. 403 for a session that is
 * not fresh, 422 naming "email" for the address that it is already, 429 for too many.
 */
export async function askForEmail(
  needs: ChangeNeeds,
  session: Session,
  { asker, given }: AskedFor,
): Promise<string | undefined> {
  const { db, signIn, publicUrl } = needs;
  const email = given.trim().toLowerCase();
  await requireFresh(db, session);
  if (!signIn.ways.email) throw new ApiError("not_found", "There is no signing in by e-mail here.");
  const { rows } = await db.query("select from sign_in_users where id = $1 and email = $2", [session.userId, email]);
  if (rows.length > 0) {
    throw new ApiError("invalid_value", '"email" is your address already.', { body: { field: "email" } });
  }
  await admitOrRefuse(db, `email-change:${session.userId}`, 5, "Too many changes of the address.");
  await admitLink(db, email, asker);
  const token = randomBytes(24).toString("base64url");
  const keep = () => keepChange(db, session, email, token);
  const link = `${publicUrl}${changePath}?token=${token}`;
  return signIn.links.deliver({ email, asker }, { link, ...mailOf(publicUrl) }, keep);
}

/** In place of the one before, whose link holds no longer. */
async function keepChange(db: Database, session: Session, email: string, token: string): Promise<void> {
  await db.query(
    `insert into email_changes (user_id, email, token_hash, session_id, expires_at)
     values ($1, $2, $3, $4, now() + interval '${changeMinutes} minutes')
     on conflict (user_id) do update set email = excluded.email, token_hash = excluded.token_hash,
       session_id = excluded.session_id, expires_at = excluded.expires_at, done_at = null`,
    [session.userId, email, hashOf(token), session.id],
  );
}

interface AskedFor {
  /** The address as it was typed. */
  readonly given: string;
  /** Against whom its link is counted. */
  readonly asker: string;
}

/** To the new address, which may be a stranger's: it names no account. */
function mailOf(publicUrl: string) {
  const { host } = new URL(publicUrl);
  return {
    subject: `Your new address at ${host}`,
    before: `You, or a person who typed your address, asked to sign in to an account at ${host} with it from now on. Open this link to do it:`,
    after: `It holds for ${changeMinutes} minutes, as long as you stay signed in where you asked. If it was not you, do nothing.`,
  };
}

/**
 * The address of the e-mail's reader becomes their account's; e-mails on their way, and one that says so, go to the address before. The
 * same again when it was done. 401 for a link that is unknown, too old or not the newest, or whose
 * asker was signed out since; 403 while the account is not open; 409 for another account's address.
 */
export async function changeEmail(db: Database, publicUrl: string, token: string): Promise<{ email: string }> {
  const done = inTransaction(db, async (tx) => {
    // People who take each other's address at once lock each other's rows: in one order.
    await tx.query(
      `select from sign_in_users where id = (select user_id from email_changes where token_hash = $1)
         or email = (select email from email_changes where token_hash = $1) order by id for update`,
      [hashOf(token)],
    );
    const asked = await findChange(tx, token, "for update of c, u");
    if (asked.done_at === null) await change(tx, publicUrl, asked);
    return { email: asked.email };
  });
  return done.catch((error) => {
    // Another person took the address a moment ago.
    throw isUniqueViolation(error) ? taken() : error;
  });
}

/** What a link would change, and whether it did. Changes nothing. Throws what changeEmail would, but for another account's address. */
export async function readChange(db: Database, token: string): Promise<{ email: string; isDone: boolean }> {
  const { email, done_at } = await findChange(db, token);
  return { email, isDone: done_at !== null };
}

async function findChange(db: Queryable, token: string, lock: "" | "for update of c, u" = ""): Promise<Asked> {
  const { rows } = await db.query<Asked>(
    `select c.user_id, c.email, c.done_at, u.email as before, u.account_id, a.handle, a.state, s.id as session_id
     from email_changes c join sign_in_users u on u.id = c.user_id left join accounts a on a.id = u.account_id
       left join sign_in_sessions s on s.id = c.session_id and s.expires_at > now()
     where c.token_hash = $1 and c.expires_at > now() ${lock}`,
    [hashOf(token)],
  );
  const asked = rows[0];
  if (!asked) throw new ApiError("unauthenticated", "This link is too old, or a newer one was sent.");
  if (asked.done_at === null) requireStanding(asked);
  return asked;
}

/** Whoever was signed out, or whose account was suspended, since they asked has no say in it any more. */
function requireStanding({ session_id, handle, state }: Asked): void {
  if (session_id === null) {
    const message = "Whoever asked for this link is signed out by now. Sign in and ask for another.";
    throw new ApiError("unauthenticated", message);
  }
  if (state !== null && state !== "open") {
    const message = `The account "${handle}" is ${state}, and keeps its address. Write to the person who runs the service.`;
    throw new ApiError("forbidden", message);
  }
}

const taken = () => new ApiError("conflict", "This address signs in to another account already.");

async function change(
  tx: Transaction,
  publicUrl: string,
  { user_id, email, before, account_id }: Asked,
): Promise<void> {
  const { rows } = await tx.query<{ id: string; account_id: string | null }>(
    "select id, account_id from sign_in_users where email = $1 and id <> $2 for update",
    [email, user_id],
  );
  if (rows[0]?.account_id) throw taken();
  // A user with that address and without an account is the same reader of its e-mails.
  await tx.query("delete from sign_in_users where id = $1", [rows[0]?.id ?? null]);
  await tx.query("update sign_in_users set email = $2, updated_at = now() where id = $1", [user_id, email]);
  await tx.query("update email_changes set done_at = now() where user_id = $1", [user_id]);
  if (account_id) await noteEmailToFormer(tx, account_id, emailToFormer(publicUrl, email), before);
}

function emailToFormer(publicUrl: string, email: string): Email {
  const { host } = new URL(publicUrl);
  const what = `Your account at ${host} is entered by ${email} from now on, and no longer by this address.`;
  const ifNot = `If it was not you, sign in by a passkey or your provider and change it back at ${publicUrl}/settings/account; without one, write at once to the person who runs the service.`;
  return { kind: "email", subject: `The e-mail address was changed (${host})`, text: [what, ifNot].join("\n\n") };
}

interface Asked {
  readonly user_id: string;
  readonly email: string;
  readonly done_at: Date | null;
  readonly before: string;
  readonly account_id: AccountId | null;
  readonly handle: string | null;
  readonly state: string | null;
  /** That asked for it; null once it has ended. */
  readonly session_id: string | null;
}

export interface ChangeNeeds {
  readonly db: Database;
  readonly signIn: Pick<SignIn, "ways" | "links">;
  readonly publicUrl: string;
}
