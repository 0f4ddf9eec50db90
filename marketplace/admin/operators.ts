import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import type { AccountId } from "../ids.ts";
import type { Sealer } from "../sealing.ts";
import type { Session } from "../sign-in/sessions.ts";
import { recordAct } from "./acts.ts";
import { base32, newSecret, otpauthUri } from "./totp.ts";

/** A person who may look into other people's affairs, and until when that is confirmed. */
export interface Operator {
  readonly id: AccountId;
  readonly handle: string;
  /** Undefined until this very session showed a code, and from `confirmedMinutes` later on. */
  readonly confirmedUntil: Date | undefined;
}

/** The operator whose session it is; undefined for every other person, also for one whose account is not open. */
export async function readOperator(db: Queryable, session: Session): Promise<Operator | undefined> {
  const { rows } = await db.query<{ id: AccountId; handle: string; until: Date | null }>({
    name: "read operator",
    text: `
      select a.id, a.handle, c.until from sign_in_users u
      join accounts a on a.id = u.account_id join operators o on o.account_id = a.id
      left join operator_confirmations c on c.session_id = $2 and c.account_id = a.id and c.until > now()
      where u.id = $1 and u.email_verified and a.state = 'open'`,
    values: [session.userId, session.id],
  });
  const row = rows[0];
  return row && { id: row.id, handle: row.handle, confirmedUntil: row.until ?? undefined };
}

/**
 * Makes an account an operator's and answers the secret for its authenticator, which cannot be shown again. Repeated, it gives a
 * new secret: codes and confirmations of the one before end. 409 for an account that is not open.
 */
export async function nameOperator(
  { db, sealer }: { readonly db: Database; readonly sealer: Sealer },
  account: Account,
): Promise<{ operator: string; secret: string; uri: string }> {
  if (account.state !== "open") throw new ApiError("conflict", `The account "${account.handle}" is ${account.state}.`);
  const secret = newSecret();
  const sealed = sealer.seal(secret.toString("base64"), placeOf(account.id));
  await inTransaction(db, async (tx) => {
    await tx.query("delete from operator_confirmations where account_id = $1", [account.id]);
    await tx.query(
      `insert into operators (account_id, totp_secret) values ($1, $2)
       on conflict (account_id) do update set totp_secret = excluded.totp_secret, last_step = 0, attempts = 0`,
      [account.id, sealed],
    );
    await recordAct(tx, {
      act: "named",
      subject: account.handle,
      concerned: [{ accountId: account.id, shown: account.handle }],
    });
  });
  return {
    operator: account.handle,
    secret: base32(secret),
    uri: otpauthUri(secret, "Agent Marketplace", account.handle),
  };
}

/** From now on the account is like any other. 404 when it was no operator's. */
export async function removeOperator(db: Database, account: Account): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rowCount } = await tx.query("delete from operators where account_id = $1", [account.id]);
    if (rowCount !== 1) throw new ApiError("not_found", `"${account.handle}" is no operator.`);
    await recordAct(tx, {
      act: "removed",
      subject: account.handle,
      concerned: [{ accountId: account.id, shown: account.handle }],
    });
  });
}

export async function listOperators(db: Queryable): Promise<Array<{ operator: string; named_at: Date }>> {
  const { rows } = await db.query(
    "select a.handle as operator, o.named_at from operators o join accounts a on a.id = o.account_id order by a.handle limit 1000",
  );
  return rows;
}

/** What a secret's sealed text is bound to. */
export const placeOf = (accountId: AccountId) => `totp:${accountId}`;
