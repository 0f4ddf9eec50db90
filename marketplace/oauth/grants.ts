import { createHash, randomBytes } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { noteEmail, securityEmail } from "../accounts/account-emails.ts";
import { createKey, type NewKey } from "../api-keys/create.ts";
import type { KeyId } from "../ids.ts";
import { requireKnownClient } from "./clients.ts";
import { type MetadataNeeds, scope } from "./metadata.ts";
import { OAuthError } from "./oauth-error.ts";
import { type AccessRequest, type Asked, answerAddress, requireToolServer, textOf } from "./requests.ts";

/** A client's tokens may be stolen: one that calls is good for minutes, the one that renews it for one use. */
export const accessMinutes = 15;
const accessSeconds = accessMinutes * 60;
/** A client that has not renewed its tokens for so long has to ask the person again. */
const refreshDays = 30;
const refreshSeconds = refreshDays * 24 * 60 * 60;
const codeSeconds = 60;
/** What a person allowed a client ends after so long, however often the client renews its tokens. */
export const grantDays = 180;
export const renewalsAnHour = 40;
/** Of what a client's tokens were renewed with so many are known again: at forty an hour it would be a great many. */
export const renewalsKept = 1_000;
/** A client is deleted this long after it last got tokens that a person allowed it. */
export const clientKeptDays = 90;

interface GrantNeeds extends MetadataNeeds {
  readonly db: Database;
}

/**
 * A person allowed it: the client gets a key of its own, within what they set, in place of those that it had of this account,
 * and a code for its first tokens. The address to go on to.
 */
export async function allowAccess(needs: GrantNeeds, request: AccessRequest, settings: Settings): Promise<string> {
  const id: KeyId = `key_${request.id.slice(4)}`;
  const { accountId } = settings;
  const code = await inTransaction(needs.db, async (tx) => {
    const { rowCount } = await tx.query("delete from oauth_requests where id = $1", [request.id]);
    if (rowCount === 0) throw new ApiError("conflict", "This was answered already.");
    // Two answers to one client take turns, so that one key of it stays.
    await tx.query("select from accounts where id = $1 for no key update", [accountId]);
    await tx.query(
      "update api_keys set revoked_at = now() where account_id = $1 and client = $2 and revoked_at is null",
      [accountId, request.clientId],
    );
    await createKey(tx, { ...settings, id, client: request.clientId });
    await tx.query(
      `update oauth_clients set key_id = $2, expires_at = greatest(expires_at, now() + interval '${clientKeptDays} days') where id = $1`,
      [request.clientId, id],
    );
    const what = `The client “${request.clientName}” was allowed to run agents on your account’s credits, within the caps that were set.`;
    await noteEmail(tx, accountId, securityEmail(needs.config.publicUrl, "client", "A client was allowed", what));
    return issue(tx, "code", id, codeSeconds, request);
  });
  return answerAddress(needs, request, { code });
}

type Settings = Omit<NewKey, "id" | "client">;

/** A person refused it. The address to go on to. */
export async function refuseAccess(needs: GrantNeeds, request: AccessRequest): Promise<string> {
  await needs.db.query("delete from oauth_requests where id = $1", [request.id]);
  return answerAddress(needs, request, { error: "access_denied", error_description: "The person said no." });
}

/** Exchanges a code, or what tokens are renewed with, for tokens. Either is used once; at a second use a second program has it, so all that came of it ends. */
export async function exchange(needs: GrantNeeds, asked: Asked): Promise<Tokens> {
  requireToolServer(needs, asked);
  const isCode = asked.grant_type === "authorization_code";
  if (!isCode && asked.grant_type !== "refresh_token") {
    throw new OAuthError("unsupported_grant_type", "Only authorization_code and refresh_token are taken.");
  }
  const secret = await findSecret(
    needs.db,
    isCode ? "code" : "refresh",
    textOf(asked, isCode ? "code" : "refresh_token"),
  );
  const client = textOf(asked, "client_id");
  if (secret?.client === client && secret.used) throw await revokeGrant(needs.db, secret.keyId);
  if (!secret?.isGood || secret.client !== client) {
    // Told that its tokens alone are gone, a client that is forgotten would lead people to a dead end.
    await requireKnownClient(needs.db, client);
    throw spent();
  }
  await admitRenewal(needs.db, secret.keyId);
  if (isCode) {
    if (secret.redirectUri !== textOf(asked, "redirect_uri")) {
      throw new OAuthError("invalid_grant", "The redirect address is not the one that was asked with.");
    }
    const proof = createHash("sha256").update(textOf(asked, "code_verifier")).digest("base64url");
    if (proof !== secret.challenge) throw new OAuthError("invalid_grant", "The verifier does not fit the challenge.");
  }
  const tokens = await inTransaction(needs.db, async (tx) => {
    const { rowCount } = await tx.query(
      "update oauth_secrets set used_at = now() where digest = $1 and used_at is null",
      [secret.digest],
    );
    if (rowCount === 0) return undefined;
    await tx.query(
      `update oauth_clients set expires_at = now() + interval '${clientKeptDays} days'
       where id = $1 and expires_at < now() + interval '${clientKeptDays - 1} days'`,
      [client],
    );
    const access_token = await issue(tx, "access", secret.keyId, accessSeconds);
    const refresh_token = await issue(tx, "refresh", secret.keyId, refreshSeconds);
    await forgetOldRenewals(tx, secret.keyId);
    return { access_token, token_type: "Bearer" as const, expires_in: accessSeconds, refresh_token, scope };
  });
  if (!tokens) throw await revokeGrant(needs.db, secret.keyId);
  return tokens;
}

async function forgetOldRenewals(tx: Queryable, keyId: KeyId): Promise<void> {
  await tx.query(
    `delete from oauth_secrets where key_id = $1 and kind = 'refresh' and used_at is not null and issued_at <= (
       select issued_at from oauth_secrets where key_id = $1 and kind = 'refresh' order by issued_at desc offset ${renewalsKept} limit 1)`,
    [keyId],
  );
}

/** Each renewal keeps a row for weeks. One that is refused here spends nothing: the client tries it again. */
async function admitRenewal(db: Queryable, keyId: KeyId): Promise<void> {
  const { rows } = await db.query<{ seconds: number }>(
    `select ceil(extract(epoch from issued_at + interval '1 hour' - now()))::integer as seconds from oauth_secrets
     where key_id = $1 and kind = 'refresh' order by issued_at desc offset ${renewalsAnHour - 1} limit 1`,
    [keyId],
  );
  const seconds = rows[0]?.seconds ?? 0;
  if (seconds <= 0) return;
  throw new ApiError("rate_limited", `Tokens are renewed ${renewalsAnHour} times an hour at most.`, {
    headers: { "retry-after": String(seconds) },
  });
}

export interface Tokens {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
}

/** RFC 7009: the client gives back what it was allowed. Nothing is told of a token that is none. */
export async function giveBack({ db }: GrantNeeds, asked: Asked): Promise<void> {
  const token = textOf(asked, "token");
  const clientId = textOf(asked, "client_id");
  for (const kind of ["access", "refresh"] as const) {
    const secret = await findSecret(db, kind, token);
    if (secret?.client === clientId) await revokeGrant(db, secret.keyId);
  }
}

/** The digest of the key that an access token stands for; undefined for one that is none, at its end or taken back. */
export async function keyDigestOf(db: Queryable, token: string): Promise<string | undefined> {
  if (!token.startsWith(prefixes.access)) return undefined;
  const { rows } = await db.query<{ digest: string }>({
    name: "key of access token",
    text: `select encode(k.digest, 'hex') as digest from oauth_secrets s join api_keys k on k.id = s.key_id
           where s.digest = $1 and s.kind = 'access' and s.expires_at > now()`,
    values: [digestOf(token)],
  });
  return rows[0]?.digest;
}

const prefixes = { code: "amc_", access: "amt_", refresh: "amr_" } as const;
type Kind = keyof typeof prefixes;

async function issue(
  tx: Queryable,
  kind: Kind,
  keyId: KeyId,
  seconds: number,
  request?: Pick<AccessRequest, "redirectUri" | "challenge">,
): Promise<string> {
  const secret = `${prefixes[kind]}${randomBytes(32).toString("base64url")}`;
  await tx.query(
    `insert into oauth_secrets (digest, kind, key_id, redirect_uri, challenge, expires_at)
     values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')`,
    [digestOf(secret), kind, keyId, request?.redirectUri ?? null, request?.challenge ?? null, seconds],
  );
  return secret;
}

async function findSecret(db: Queryable, kind: Kind, text: string): Promise<Secret | undefined> {
  const { rows } = await db.query<Secret>(
    `select s.digest, s.key_id as "keyId", k.client, s.redirect_uri as "redirectUri", s.challenge, s.used_at is not null as used,
       s.expires_at > now() and k.revoked_at is null and a.state = 'open'
         and k.created_at > now() - interval '${grantDays} days' as "isGood"
     from oauth_secrets s join api_keys k on k.id = s.key_id join accounts a on a.id = k.account_id
     where s.digest = $1 and s.kind = $2`,
    [digestOf(text), kind],
  );
  return rows[0];
}

interface Secret {
  readonly digest: Buffer;
  readonly keyId: KeyId;
  readonly client: string;
  readonly redirectUri: string | null;
  readonly challenge: string | null;
  readonly used: boolean;
  readonly isGood: boolean;
}

/** Ends everything that was issued with the key; the person sees it revoked. */
async function revokeGrant(db: Queryable, keyId: KeyId): Promise<OAuthError> {
  await db.query("update api_keys set revoked_at = now() where id = $1 and revoked_at is null", [keyId]);
  return spent();
}

function spent(): OAuthError {
  return new OAuthError("invalid_grant", "It is unknown, at its end, or was used already.");
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
