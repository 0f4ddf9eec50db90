import type { Queryable } from "../../shared/postgres.ts";
import { dropPrepared, type Email, emailIsDue, prepareEmail, securityEmail } from "../accounts/account-emails.ts";
import { accountOfUser } from "../accounts/users.ts";

/** Before a passkey is stored whose attestation holds. 429 where the e-mail cannot be kept. */
export async function prepareAdded({ db, publicUrl }: Needs, { userId, credentialId, name }: Made): Promise<void> {
  const account = await accountOfUser(db, userId);
  if (account) await prepareEmail(db, account.id, addedEmail(publicUrl, name), credentialId);
}

/** The passkey is stored, and called so. */
export async function tellAdded({ db, publicUrl }: Needs, { userId, credentialId, name }: Made): Promise<void> {
  const account = await accountOfUser(db, userId);
  if (account) await emailIsDue(db, account.id, addedEmail(publicUrl, name), credentialId);
}

/** The passkey did not stay. */
export async function dropAdded({ db }: Needs, { userId, credentialId }: Omit<Made, "name">): Promise<void> {
  const account = await accountOfUser(db, userId);
  if (account) await dropPrepared(db, account.id, credentialId);
}

export interface Made {
  readonly userId: string;
  readonly credentialId: string;
  readonly name: string;
}

function addedEmail(publicUrl: string, name: string): Email {
  const what = `The passkey “${name}” was added to your account: from now on it signs in.`;
  return securityEmail(publicUrl, "passkey", "A passkey was added", what);
}

interface Needs {
  readonly db: Queryable;
  readonly publicUrl: string;
}
