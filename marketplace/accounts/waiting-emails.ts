import type { Queryable } from "../../shared/postgres.ts";
import { emailOf } from "../account-email.ts";
import type { AccountId } from "../ids.ts";
import type { Mailer } from "../sign-in/mail.ts";

/** E-mails that a copy of the service claims in one go. */
export const emailsMax = 20;
/** An e-mail whose sender takes longer may be sent by another copy. */
export const claimMinutes = 15;
/** SQL: the order of the e-mails to claim. E-mails that a mailbox refused come after those not tried yet, so that they keep none waiting. */
export const untriedFirst = "claimed_until nulls first, since";

/** An e-mail that this copy has claimed. */
export interface ClaimedEmail {
  readonly accountId: AccountId;
  /** Where it goes, if that is not the account's address of today. */
  readonly address?: string | null;
  readonly subject: string;
  readonly text: string;
  /** The mail server has taken it, or its account has no address. */
  readonly remove: () => Promise<unknown>;
  /** Any copy may send it now. */
  readonly release: () => Promise<unknown>;
}

/**
 * Each e-mail is claimed before it is sent, so that two copies do not send it, and removed when the mail server has taken it: one whose
 * copy ends meanwhile is sent when its claim has lapsed, perhaps again. Throws the first failure when all were tried.
 */
export async function sendClaimed(db: Queryable, mailer: Mailer, mails: readonly ClaimedEmail[]): Promise<void> {
  const failures: unknown[] = [];
  for (const { accountId, address, subject, text, remove, release } of mails) {
    try {
      const email = address ?? (await emailOf(db, accountId));
      if (email) await mailer.send(email, subject, text);
      await remove();
    } catch (error) {
      failures.push(error);
      await release();
    }
  }
  if (failures.length > 0) throw failures[0];
}
