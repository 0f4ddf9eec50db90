import type { Queryable, Transaction } from "../../shared/postgres.ts";
import { emailOf } from "../account-email.ts";
import type { AccountId } from "../ids.ts";
import type { Mailer } from "../sign-in/mail.ts";

/** Letters that a copy of the service sends in one go. */
const lettersMax = 20;

/** Has the creator told by e-mail that an account or an agent was suspended, and why; not any more once it was restored. */
export async function noteMove(tx: Transaction, { move, accountId, subject, reason }: Moved): Promise<void> {
  if (move === "suspend") {
    await tx.query(
      `insert into suspension_letters (account_id, subject, reason) values ($1, $2, $3)
       on conflict (account_id, subject) do update set reason = excluded.reason`,
      [accountId, subject, reason ?? null],
    );
  } else {
    await tx.query("delete from suspension_letters where account_id = $1 and subject = $2", [accountId, subject]);
  }
}

interface Moved {
  readonly move: string;
  readonly accountId: AccountId;
  /** A handle, or handle/slug. */
  readonly subject: string;
  readonly reason: string | undefined;
}

/**
 * Sends what is noted. Copies share the work: each letter is claimed before it is sent, so that none is sent twice, and given back
 * when the mail server does not take it.
 */
export async function sendSuspensionLetters({ db, mailer, publicUrl }: Needs): Promise<void> {
  if (!mailer) return;
  const { rows } = await db.query<Letter>(
    `delete from suspension_letters where (account_id, subject) in (
       select account_id, subject from suspension_letters order by since limit ${lettersMax} for update skip locked
     ) returning account_id, subject, reason, since`,
  );
  const failures: unknown[] = [];
  for (const letter of rows) {
    try {
      const email = await emailOf(db, letter.account_id);
      if (email) await mailer.send(email, `${letter.subject} is suspended`, textOf(letter, publicUrl));
    } catch (error) {
      failures.push(error);
      await giveBack(db, letter);
    }
  }
  if (failures.length > 0) throw failures[0];
}

interface Needs {
  readonly db: Queryable;
  readonly mailer: Mailer | undefined;
  readonly publicUrl: string;
}

interface Letter {
  readonly account_id: AccountId;
  readonly subject: string;
  readonly reason: string | null;
  readonly since: Date;
}

/** Unless it was suspended anew meanwhile, which says why itself, or restored. */
function giveBack(db: Queryable, { account_id, subject, reason, since }: Letter) {
  return db.query(
    `insert into suspension_letters (account_id, subject, reason, since)
     select $1, $2, $3, $4 where exists (select from accounts where id = $1 and handle = $2 and state = 'suspended')
       or exists (select from agents where account_id = $1 and handle || '/' || slug = $2 and state = 'suspended')
     on conflict do nothing`,
    [account_id, subject, reason, since],
  );
}

function textOf({ subject, reason }: Letter, publicUrl: string): string {
  const { host } = new URL(publicUrl);
  const isAgent = subject.includes("/");
  return [
    isAgent
      ? `The operator of ${host} has suspended your agent ${subject}: it is not listed and not run until it is restored.`
      : `The operator of ${host} has suspended your account ${subject}: its keys are refused and its agents are not run until it is restored. Its credits stay.`,
    reason ? `Why: ${reason}` : "No reason was given with it: ask the operator.",
    ...(isAgent ? [`What operators did that concerns you: ${publicUrl}/settings/operator-acts`] : []),
  ].join("\n\n");
}
