import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import type { Sealer } from "../sealing.ts";
import { askForPasskey, requirePasskey } from "../sign-in/passkey-presence.ts";
import type { Assertion } from "../sign-in/passkey-shapes.ts";
import type { Session } from "../sign-in/sessions.ts";
import { recordAct } from "./acts.ts";
import { type Operator, placeOf, readOperator } from "./operators.ts";
import { admitOperator } from "./require-operator.ts";
import { stepOfCode } from "./totp.ts";

export const confirmedMinutes = 10;
/** Three of a million codes are good at any time: at this pace, guessing for a year finds one with a chance of one in four. */
const attemptsPerHour = 10;
const anHourAgo = "now() - interval '1 hour'";

/**
 * Confirms for `confirmedMinutes` that the operator sits at this session, by a code that is good once. 404 for an account that is no operator's, 422
 * naming "code" for one that is not good, 429 after ten in an hour.
 */
export async function confirmOperator(
  { db, sealer }: { readonly db: Database; readonly sealer: Sealer },
  session: Session,
  code: string,
): Promise<ConfirmedOperator> {
  const operator = await operatorOf(db, session);
  const secret = Buffer.from(sealer.open(await claimAttempt(db, operator), placeOf(operator.id)), "base64");
  const step = stepOfCode(secret, code.replaceAll(" ", ""));
  if (step === undefined) throw refused("is not what your authenticator shows now");
  return inTransaction(db, async (tx) => {
    const taken = await tx.query(
      "update operators set last_step = $2, attempts = 0 where account_id = $1 and last_step < $2",
      [operator.id, step],
    );
    if (taken.rowCount !== 1) throw refused("was used already; wait for the next one");
    return confirmed(tx, session, operator, "by a code");
  });
}

/** What the browser is to sign with a passkey of the operator's account. 404 for an account that is no operator's, 409 for one without a passkey. */
export async function askOperatorForPasskey(needs: PasskeyNeeds, session: Session): Promise<object> {
  await operatorOf(needs.db, session);
  return askForPasskey(needs, session);
}

/** Like `confirmOperator`, by a passkey of the operator's account, whose authenticator checked who holds it. */
export async function confirmByPasskey(
  needs: PasskeyNeeds,
  session: Session,
  assertion: Assertion,
): Promise<ConfirmedOperator> {
  const operator = await operatorOf(needs.db, session);
  const name = await requirePasskey(needs, session, assertion);
  return inTransaction(needs.db, (tx) => confirmed(tx, session, operator, `by the passkey “${name}”`));
}

async function confirmed(tx: Transaction, session: Session, operator: Operator, way: string) {
  const { rows } = await tx.query<{ until: Date }>(
    `insert into operator_confirmations (session_id, account_id, until)
       select $1, account_id, now() + interval '${confirmedMinutes} minutes' from operators where account_id = $2
     on conflict (session_id) do update set account_id = excluded.account_id, until = excluded.until returning until`,
    [session.id, operator.id],
  );
  if (!rows[0]) throw notThere();
  await recordAct(tx, {
    operatorId: operator.id,
    act: "confirmed",
    subject: operator.handle,
    note: way,
    concerned: [],
  });
  return { ...operator, confirmedUntil: rows[0].until };
}

async function operatorOf(db: Database, session: Session): Promise<Operator> {
  const operator = await readOperator(db, session);
  if (!operator) throw notThere();
  await admitOperator(db, operator);
  return operator;
}

type ConfirmedOperator = Operator & { readonly confirmedUntil: Date };

interface PasskeyNeeds {
  readonly db: Database;
  readonly publicUrl: string;
}

/** Counts one more before the code is looked at, so that many at once are no more than one after another; answers the sealed secret. */
async function claimAttempt(db: Database, { id }: Operator): Promise<string> {
  const { rows } = await db.query<{ totp_secret: string }>(
    `update operators set
       attempts = case when attempts_since < ${anHourAgo} then 1 else attempts + 1 end,
       attempts_since = case when attempts_since < ${anHourAgo} then now() else attempts_since end
     where account_id = $1 and (attempts < $2 or attempts_since < ${anHourAgo}) returning totp_secret`,
    [id, attemptsPerHour],
  );
  if (rows[0]) return rows[0].totp_secret;
  throw new ApiError("rate_limited", `No more than ${attemptsPerHour} codes an hour.`, {
    headers: { "retry-after": "3600" },
  });
}

/** A caller without the right hears the same as where there is nothing. */
function notThere(): ApiError {
  return new ApiError("not_found", "There is nothing there.");
}

function refused(what: string): ApiError {
  return new ApiError("invalid_value", `"code" ${what}.`, { body: { field: "code" } });
}
