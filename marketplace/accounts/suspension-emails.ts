import type { Queryable, Transaction } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import type { Mailer } from "../sign-in/mail.ts";
import { claimMinutes, emailsMax, sendClaimed, untriedFirst } from "./waiting-emails.ts";

/** Has the creator told by e-mail that an account or an agent was suspended, and why; not any more once it was restored. */
export async function noteMove(tx: Transaction, { move, accountId, subject, reason }: Moved): Promise<void> {
  if (move === "suspend") {
    await tx.query(
      `insert into suspension_letters (account_id, subject, reason) values ($1, $2, $3)
       on conflict (account_id, subject) do update set reason = excluded.reason, claimed_until = null`,
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

/** Sends the noted e-mails; copies share the work. A subject that was suspended again meanwhile keeps its newer e-mail. */
export async function sendSuspensionEmails({ db, mailer, publicUrl }: Needs): Promise<void> {
  if (!mailer) return;
  const { rows } = await db.query<Email>(
    `update suspension_letters set claimed_until = now() + interval '${claimMinutes} minutes' where (account_id, subject) in (
       select account_id, subject from suspension_letters where claimed_until is null or claimed_until < now()
       order by ${untriedFirst} limit ${emailsMax} for update skip locked
     ) returning account_id, subject, reason, claimed_until::text as claim`,
  );
  const mails = rows.map((mail) => {
    const claimed = [mail.account_id, mail.subject, mail.claim];
    const isClaimed = "account_id = $1 and subject = $2 and claimed_until = $3::timestamptz";
    return {
      accountId: mail.account_id,
      subject: `${mail.subject} is suspended`,
      text: textOf(mail, publicUrl),
      remove: () => db.query(`delete from suspension_letters where ${isClaimed}`, claimed),
      release: () => db.query(`update suspension_letters set claimed_until = now() where ${isClaimed}`, claimed),
    };
  });
  await sendClaimed(db, mailer, mails);
}

interface Needs {
  readonly db: Queryable;
  readonly mailer: Mailer | undefined;
  readonly publicUrl: string;
}

interface Email {
  readonly account_id: AccountId;
  readonly subject: string;
  readonly reason: string | null;
  /** Until when this copy has it; a newer e-mail of the same has none. */
  readonly claim: string;
}

function textOf({ subject, reason }: Email, publicUrl: string): string {
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
