import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { newId } from "../ids.ts";
import { type ClientNeeds, findClient, isRegisteredAt } from "./clients.ts";
import { type MetadataNeeds, scope, toolServerOf } from "./metadata.ts";
import { OAuthError } from "./oauth-error.ts";

/** From one address, that no person has answered. */
const openRequestsMax = 100;
/** A person answers a request within this time, or the client asks anew. */
const answeredWithinMinutes = 15;

export type Asked = Readonly<Record<string, unknown>>;

/** What a client asks a person for. */
export interface AccessRequest {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly challenge: string;
}

/**
 * Keeps a client's request until a person has answered it; answers its id. Whatever is wrong with it is shown here: any program may
 * register a client, so a person is led to its address only after saying so.
 */
export async function beginRequest(needs: ClientNeeds & MetadataNeeds, asked: Asked, from: string): Promise<string> {
  const client = await findClient(needs, textOf(asked, "client_id"), from);
  const redirectUri = textOf(asked, "redirect_uri");
  if (!isRegisteredAt(client, redirectUri)) {
    throw new OAuthError("invalid_request", "The redirect address is none that the client registered.");
  }
  const challenge = readTerms(needs, asked);
  const state = typeof asked.state === "string" ? asked.state.replaceAll("\0", "") : null;
  const id = newId("req");
  const { rowCount } = await needs.db.query(
    `insert into oauth_requests (id, client_id, client_name, redirect_uri, state, challenge, asked_from, expires_at)
     select $1, $2, $3, $4, $5, $6, $7, now() + interval '${answeredWithinMinutes} minutes'
     where (select count(*) from oauth_requests where asked_from = $7 and expires_at > now()) < ${openRequestsMax}`,
    [id, client.id, client.name, redirectUri, state, challenge, from],
  );
  if (rowCount === 1) return id;
  throw new ApiError("rate_limited", "Too many requests for access from here are unanswered; answer one, or wait.", {
    headers: { "retry-after": String(answeredWithinMinutes * 60) },
  });
}

function readTerms(needs: MetadataNeeds, asked: Asked): string {
  if (asked.response_type !== "code") throw new OAuthError("unsupported_response_type", "Only code is answered.");
  if (asked.code_challenge_method !== "S256") {
    throw new OAuthError("invalid_request", "PKCE with code_challenge_method S256 is required.");
  }
  const challenge = textOf(asked, "code_challenge");
  if (!/^[\w-]{43}$/.test(challenge)) throw new OAuthError("invalid_request", '"code_challenge" must be a SHA-256.');
  requireToolServer(needs, asked);
  if (typeof asked.state === "string" && asked.state.length > 2_000) {
    throw new OAuthError("invalid_request", '"state" must be at most 2000 characters long.');
  }
  const scopes = typeof asked.scope === "string" ? asked.scope.split(" ").filter(Boolean) : [];
  const foreign = scopes.find((one) => one !== scope && one !== "offline_access");
  if (foreign !== undefined) throw new OAuthError("invalid_scope", `The only scope is ${scope}.`);
  return challenge;
}

/** A token is for the tool server alone, whether the client names it or not. */
export function requireToolServer(needs: MetadataNeeds, { resource }: Asked): void {
  if (resource === undefined || resource === toolServerOf(needs)) return;
  throw new OAuthError("invalid_target", `Tokens are for ${toolServerOf(needs)} alone.`);
}

export function textOf(asked: Asked, name: string): string {
  const value = asked[name];
  if (typeof value === "string" && value !== "") return value;
  throw new OAuthError("invalid_request", `"${name}" is required, once.`);
}

/** Undefined for one that was answered or is too old. */
export async function readRequest(db: Queryable, id: string): Promise<AccessRequest | undefined> {
  if (!/^req_\w+$/.test(id)) return undefined;
  const { rows } = await db.query<AccessRequest>(
    `select id, client_id as "clientId", client_name as "clientName", redirect_uri as "redirectUri", state, challenge
     from oauth_requests where id = $1 and expires_at > now()`,
    [id],
  );
  return rows[0];
}

/** Where the browser goes back to with an answer, which names its sender (RFC 9207). */
export function answerAddress(
  { config }: MetadataNeeds,
  { redirectUri, state }: Pick<AccessRequest, "redirectUri" | "state">,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set("state", state);
  url.searchParams.set("iss", config.publicUrl);
  return url.href;
}
