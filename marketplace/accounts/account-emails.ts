import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import type { Mailer } from "../sign-in/mail.ts";
import { claimMinutes, emailsMax, sendClaimed, untriedFirst } from "./waiting-emails.ts";

/** E-mails of one kind that may wait for one account, of those noted within a day. */
const waitingMax = 20;
/** An e-mail that no mail server took for so long says nothing new. */
const keptDays = 7;

/**
 * Has the holder told by e-mail what was changed in how their account is entered, or where it is paid; in the transaction that changes it. 429 where too many
 * wait: nothing is changed of which no e-mail is kept.
 */
export async function noteEmail(db: Queryable, accountId: AccountId, mail: Email): Promise<void> {
  await keep(db, accountId, mail, null);
}

/** E-mails on their way to an account go to its former address, which is about to change, and so does this one. */
export async function noteEmailToFormer(
  db: Queryable,
  accountId: AccountId,
  mail: Email,
  former: string,
): Promise<void> {
  await noteEmail(db, accountId, mail);
  await db.query("update account_letters set address = $2 where account_id = $1 and address is null", [
    accountId,
    former,
  ]);
}

/**
 * The e-mail of a passkey that is about to be stored, so that none is stored without: it is sent when `emailIsDue` says so, or later by
 * itself if the account has the passkey by then. 429 where too many wait.
 */
export async function prepareEmail(
  db: Queryable,
  accountId: AccountId,
  mail: Email,
  credentialId: string,
): Promise<void> {
  await keep(db, accountId, mail, credentialId);
}

export async function emailIsDue(
  db: Queryable,
  accountId: AccountId,
  { subject, text }: Email,
  credentialId: string,
): Promise<void> {
  await db.query(
    `update account_letters set subject = $3, text = $4, claimed_until = null, awaits = null
     where account_id = $1 and awaits = $2`,
    [accountId, credentialId, subject, text],
  );
}

/** The passkey was not kept. */
export async function dropPrepared(db: Queryable, accountId: AccountId, credentialId: string): Promise<void> {
  await db.query("delete from account_letters where account_id = $1 and awaits = $2", [accountId, credentialId]);
}

async function keep(
  db: Queryable,
  accountId: AccountId,
  { kind, subject, text }: Email,
  awaits: string | null,
): Promise<void> {
  const { rowCount } = await db.query(
    `insert into account_letters (account_id, kind, subject, text, awaits, claimed_until)
     select $1, $2, $3, $4, $5, case when $5::text is not null then now() + interval '${claimMinutes} minutes' end
     where ${waitingMax} > (
       select count(*) from account_letters where account_id = $1 and kind = $2 and since > now() - interval '1 day')`,
    [accountId, kind, subject, text, awaits],
  );
  if (rowCount === 1) return;
  throw tooManyWait();
}

export function tooManyWait(): ApiError {
  return new ApiError("rate_limited", "Too many e-mails about such changes wait to be sent; try again later.", {
    headers: { "retry-after": "900" },
  });
}

export interface Email {
  readonly kind: "passkey" | "provider" | "client" | "email" | "wallet";
  readonly subject: string;
  readonly text: string;
}

/** Says what to do about it, which is the same for all. */
export function securityEmail(publicUrl: string, kind: Email["kind"], subject: string, what: string): Email {
  const account = `${publicUrl}/settings/account`;
  const ifNot =
    kind === "wallet"
      ? `If it was not you, sign in, undo it at ${publicUrl}/settings/wallets, and sign out everywhere else at ${account}.`
      : `If it was not you, sign in, undo it at ${account} or ${publicUrl}/settings/keys, and sign out everywhere else there.`;
  return { kind, subject: `${subject} (${new URL(publicUrl).host})`, text: [what, ifNot].join("\n\n") };
}

/** Sends what is noted; copies share the work. */
export async function sendAccountEmails({ db, mailer }: Needs): Promise<void> {
  await db.query(`delete from account_letters where since < now() - interval '${keptDays} days'`);
  await db.query(
    `delete from account_letters l where awaits is not null and claimed_until < now() and not exists (
       select from sign_in_passkeys p join sign_in_users u on u.id = p.user_id
       where p.credential_id = l.awaits and u.account_id = l.account_id)`,
  );
  if (!mailer) return;
  const { rows } = await db.query<Kept>(
    `update account_letters set claimed_until = now() + interval '${claimMinutes} minutes', awaits = null where id in (
       select id from account_letters where claimed_until is null or claimed_until < now()
       order by ${untriedFirst} limit ${emailsMax} for update skip locked
     ) returning id, account_id, address, subject, text`,
  );
  const mails = rows.map(({ id, account_id, address, subject, text }) => ({
    accountId: account_id,
    address,
    subject,
    text,
    remove: () => db.query("delete from account_letters where id = $1", [id]),
    release: () => db.query("update account_letters set claimed_until = now() where id = $1", [id]),
  }));
  await sendClaimed(db, mailer, mails);
}

interface Needs {
  readonly db: Queryable;
  readonly mailer: Mailer | undefined;
}

interface Kept extends Omit<Email, "kind"> {
  readonly id: string;
  readonly account_id: AccountId;
  readonly address: string | null;
}
