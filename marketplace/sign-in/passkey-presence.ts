import { generateAuthenticationOptions, verifyAuthenticationResponse } from "@simplewebauthn/server";
import { ApiError } from "../../shared/errors.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import type { Assertion } from "./passkey-shapes.ts";
import type { Session } from "./sessions.ts";

export const challengeMinutes = 5;

/** Whether who is signed in has a passkey that could show that it is they. */
export async function hasPasskey(db: Queryable, { userId }: Session): Promise<boolean> {
  const { rows } = await db.query("select from sign_in_passkeys where user_id = $1 limit 1", [userId]);
  return rows.length === 1;
}

/** What the browser is to sign with a passkey of the person who is signed in; an earlier challenge no longer holds. 409 for one who has none. */
export async function askForPasskey({ db, publicUrl }: PresenceNeeds, session: Session): Promise<RequestOptions> {
  const { rows } = await db.query<{ id: string }>(
    "select credential_id as id from sign_in_passkeys where user_id = $1 order by created_at limit 20",
    [session.userId],
  );
  if (rows.length === 0) throw new ApiError("conflict", "This account has no passkey.");
  const options = await generateAuthenticationOptions({
    rpID: new URL(publicUrl).hostname,
    allowCredentials: rows,
    userVerification: "required",
    timeout: challengeMinutes * 60_000,
  });
  await db.query(
    `insert into passkey_challenges values ($1, $2, now() + interval '${challengeMinutes} minutes')
     on conflict (session_id) do update set challenge = excluded.challenge, expires_at = excluded.expires_at`,
    [session.id, options.challenge],
  );
  return { ...options };
}

/**
 * Shows by a passkey that the signed-in person sits at this session, and answers the passkey's name. The challenge is used up first, so
 * that it holds once. 422 for another person's passkey, another or an old challenge, and an authenticator that did not check who holds
 * it.
 */
export async function requirePasskey(
  { db, publicUrl }: PresenceNeeds,
  session: Session,
  assertion: Assertion,
): Promise<string> {
  const { rows: asked } = await db.query<{ challenge: string; holds: boolean }>(
    "delete from passkey_challenges where session_id = $1 returning challenge, expires_at > now() as holds",
    [session.id],
  );
  const { rows } = await db.query<OwnPasskey>(
    "select id, name, public_key, counter from sign_in_passkeys where user_id = $1 and credential_id = $2",
    [session.userId, assertion.id],
  );
  const [challenge, passkey] = [asked[0], rows[0]];
  if (!challenge?.holds || !passkey) throw refused();
  const counter = await counterIn(publicUrl, challenge.challenge, passkey, assertion);
  if (counter === undefined) throw refused();
  await db.query("update sign_in_passkeys set counter = greatest(counter, $2), used_at = now() where id = $1", [
    passkey.id,
    counter,
  ]);
  return passkey.name;
}

/** The authenticator's counter in a signature that holds; undefined for one that does not. */
async function counterIn(publicUrl: string, challenge: string, passkey: OwnPasskey, assertion: Assertion) {
  const { hostname, origin } = new URL(publicUrl);
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: assertion,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: hostname,
      credential: {
        id: assertion.id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, "base64")),
        counter: passkey.counter,
      },
      requireUserVerification: true,
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    // The library throws for every answer that does not hold.
    return undefined;
  }
}

interface PresenceNeeds {
  readonly db: Database;
  readonly publicUrl: string;
}

/** The form that the browser's `PublicKeyCredential.parseRequestOptionsFromJSON` reads. */
type RequestOptions = Readonly<Record<string, unknown>>;

interface OwnPasskey {
  readonly id: string;
  readonly name: string;
  readonly public_key: string;
  readonly counter: number;
}

function refused(): ApiError {
  return new ApiError(
    "invalid_value",
    '"response" is of no passkey of this account, or does not answer the newest challenge of this session; begin again.',
    { body: { field: "response" } },
  );
}
