import { randomUUID } from "node:crypto";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { noteEmail, securityEmail } from "../accounts/account-emails.ts";
import { accountOfUser, isMailAddress } from "../accounts/users.ts";
import type { OidcConfig } from "./config.ts";

export const oidcProvider = "oidc";

/** What a provider says of a person. */
export interface Profile {
  readonly sub?: unknown;
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly name?: unknown;
}

/**
 * Whether the provider vouches for the address. Some providers say it as text, and "false" is true; and an address that is not plain
 * ASCII is not told apart from its look-alikes once it is in lower case.
 */
export function isVouchedFor({ email, email_verified: verified }: Profile): boolean {
  return verified === true && isMailAddress(String(email));
}

/**
 * Keeps who signs in under that subject, as the user of the address that the provider vouches for, unless it is kept: better-auth looks,
 * then writes, and would refuse all but one of the sign-ins that are a person's first and come at once. Keeps nothing of an address that
 * is not vouched for, or whose user has not proved it.
 */
export async function keepIdentity({ db, publicUrl, oidc }: Needs, subject: string, profile: Profile): Promise<void> {
  if (!isVouchedFor(profile)) return;
  const email = String(profile.email).toLowerCase();
  await inTransaction(db, async (tx) => {
    const known = await tx.query("select from sign_in_identities where provider_id = $1 and account_id = $2", [
      oidcProvider,
      subject,
    ]);
    if (known.rowCount !== 0) return;
    await tx.query(
      "insert into sign_in_users (id, name, email, email_verified) values ($1, $2, $3, true) on conflict do nothing",
      [`usr_${randomUUID()}`, typeof profile.name === "string" ? profile.name.replaceAll("\0", "") : "", email],
    );
    const { rows } = await tx.query<{ user_id: string }>(
      `insert into sign_in_identities (id, user_id, provider_id, account_id)
       select $1, id, $2, $3 from sign_in_users where email = $4 and email_verified and wallet_address is null for key share
       on conflict do nothing returning user_id`,
      [`idn_${randomUUID()}`, oidcProvider, subject, email],
    );
    if (rows[0]) await noteProvider(tx, { publicUrl, oidc }, rows[0].user_id);
  });
}

/** A way in that lasts, also when the address that it was added by is another's: the account's holder is told, if there is one. */
async function noteProvider(db: Queryable, { publicUrl, oidc }: Omit<Needs, "db">, userId: string): Promise<void> {
  const account = await accountOfUser(db, userId);
  if (!account) return;
  const what = `Signing in by ${oidc.name} was added to your account: somebody signed in there with your e-mail address. From now on it signs in, also when the address is changed.`;
  await noteEmail(db, account.id, securityEmail(publicUrl, "provider", "Single sign-on was added", what));
}

interface Needs {
  readonly db: Database;
  readonly publicUrl: string;
  readonly oidc: OidcConfig;
}
