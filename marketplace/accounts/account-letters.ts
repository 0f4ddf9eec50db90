import type { Queryable } from "../../shared/postgres.ts";
import { emailOf } from "../account-email.ts";
import type { AccountId } from "../ids.ts";
import type { Mailer } from "../sign-in/mail.ts";

/** Letters that a copy of the service sends in one go. */
const lettersMax = 20;
/** Waiting for one account: who changes more at once is told of the first. */
const waitingMax = 20;
/** A letter that no mail server took for so long says nothing new. */
const keptDays = 7;

/** Has the holder told by e-mail what was changed in how their account is entered; in the transaction that changes it, where there is one. */
export async function noteLetter(db: Queryable, accountId: AccountId, { subject, text }: Letter): Promise<void> {
  await db.query(
    `insert into account_letters (account_id, subject, text)
     select $1, $2, $3 where (select count(*) from account_letters where account_id = $1) < ${waitingMax}`,
    [accountId, subject, text],
  );
}

export interface Letter {
  readonly subject: string;
  readonly text: string;
}

/** Says what to do about it, which is the same for all. */
export function securityLetter(publicUrl: string, subject: string, what: string): Letter {
  const ifNot = `If it was not you, sign in, undo it at ${publicUrl}/settings/account or ${publicUrl}/settings/keys, and sign out everywhere else there.`;
  return { subject: `${subject} (${new URL(publicUrl).host})`, text: [what, ifNot].join("\n\n") };
}

/**
 * Sends what is noted. Copies share the work: each letter is claimed before it is sent, so that none is sent twice, and given back
 * when the mail server does not take it.
 */
export async function sendAccountLetters({ db, mailer }: Needs): Promise<void> {
  await db.query(`delete from account_letters where since < now() - interval '${keptDays} days'`);
  if (!mailer) return;
  const { rows } = await db.query<Kept>(
    `delete from account_letters where id in (
       select id from account_letters order by since limit ${lettersMax} for update skip locked
     ) returning account_id, subject, text, since`,
  );
  const failures: unknown[] = [];
  for (const letter of rows) {
    try {
      const email = await emailOf(db, letter.account_id);
      if (email) await mailer.send(email, letter.subject, letter.text);
    } catch (error) {
      failures.push(error);
      await db.query("insert into account_letters (account_id, subject, text, since) values ($1, $2, $3, $4)", [
        letter.account_id,
        letter.subject,
        letter.text,
        letter.since,
      ]);
    }
  }
  if (failures.length > 0) throw failures[0];
}

interface Needs {
  readonly db: Queryable;
  readonly mailer: Mailer | undefined;
}

interface Kept extends Letter {
  readonly account_id: AccountId;
  readonly since: Date;
}
