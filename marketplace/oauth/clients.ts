import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { type Outbound, OutboundFailedError, OutboundRefusedError } from "../../shared/outbound.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import { newId } from "../ids.ts";
import { OAuthError } from "./oauth-error.ts";

/** Most clients that registered and that no person allows anything now; the oldest go first. */
const unallowedMax = 20_000;
/** How long a client is kept that no person has allowed anything yet. */
export const registeredDays = 30;
const registrationsAnHour = 50;
const documentsAMinute = 20;

/** A program that asks for access. Nothing of it was checked but where it may be answered. */
export interface OAuthClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** What clients say of themselves; all else that they say is left unread. */
export const clientMetadata = z.object({
  client_name: z.string().max(200).optional(),
  redirect_uris: z.array(z.string().max(500)).min(1).max(10),
});

/**
 * Remembers a client that registers itself (RFC 7591), for a month; one that a person allowed something, for longer. It gets no
 * secret: programs on people's machines keep none. An address can register `registrationsAnHour`, and of those that no person
 * allowed anything the newest `unallowedMax` are kept: a caller that registers many loses mostly its own.
 */
export async function registerClient(
  db: Queryable,
  given: z.infer<typeof clientMetadata>,
  from: string,
): Promise<OAuthClient> {
  const client = clientOf(newId("cli"), given);
  const { rowCount } = await db.query(
    `insert into oauth_clients (id, name, redirect_uris, registered_from, expires_at)
     select $1, $2, $3, $4, now() + interval '${registeredDays} days'
     where (select count(*) from oauth_clients
            where registered_from = $4 and created_at > now() - interval '1 hour' and key_id is null) < ${registrationsAnHour}`,
    [client.id, client.name, client.redirectUris, from],
  );
  if (rowCount === 0) {
    throw new ApiError("rate_limited", `No more than ${registrationsAnHour} new clients an hour.`, {
      headers: { "retry-after": "3600" },
    });
  }
  await forgetOldest(db, unallowedMax);
  return client;
}

/** Makes room: of the clients that no active key is for, whosever it is, `most` stay. */
export async function forgetOldest(db: Queryable, most: number): Promise<void> {
  await db.query(
    `delete from oauth_clients where id in (
       select c.id from oauth_clients c
       where not exists (select from api_keys k where k.client = c.id and k.revoked_at is null)
       order by c.created_at desc offset $1)`,
    [most],
  );
}

/**
 * The client with that id: one that registered, or one that is described by the document at the address which is its id. A
 * described client is not kept. `from`: the caller's address, to whose share the request for the document counts.
 */
export async function findClient({ db, outbound }: ClientNeeds, id: string, from: string): Promise<OAuthClient> {
  if (!/^[\x21-\x7e]{1,500}$/.test(id)) throw unknownClient();
  if (isDocumentAddress(id)) {
    await admitOrRefuse(db, `oauth-document:${from}`, documentsAMinute, "Too many metadata documents from here.");
    return clientOf(id, await fetchDocument(outbound, id, from));
  }
  const { rows } = await db.query<OAuthClient>(
    `select id, name, redirect_uris as "redirectUris" from oauth_clients where id = $1 and expires_at > now()`,
    [id],
  );
  if (rows[0]) return rows[0];
  throw unknownClient();
}

/** Throws OAuthError, by which a client knows that it must register anew. */
export async function requireKnownClient(db: Queryable, id: string): Promise<void> {
  if (isDocumentAddress(id)) return;
  const { rowCount } = await db.query("select from oauth_clients where id = $1 and expires_at > now()", [id]);
  if (rowCount === 0) throw unknownClient();
}

/** Spelled in the one way that a browser shows it, so that it reads as what it is. */
function isDocumentAddress(id: string): boolean {
  if (!/^https:\/\/[^/?#@]+\/[^?#]+$/.test(id) || !URL.canParse(id)) return false;
  const { href, hostname } = new URL(id);
  return href === id && isPlainHost(hostname);
}

function unknownClient(): OAuthError {
  return new OAuthError("invalid_client", "There is no client with that id; register anew.");
}

export interface ClientNeeds {
  readonly db: Queryable;
  readonly outbound: Pick<Outbound, "fetch">;
}

/** A client ID metadata document must name itself. */
async function fetchDocument(
  outbound: ClientNeeds["outbound"],
  url: string,
  from: string,
): Promise<z.infer<typeof clientMetadata>> {
  try {
    const headers = { accept: "application/json" };
    const { status, body } = await outbound.fetch(url, {
      headers,
      timeoutMs: 3_000,
      bytesMax: 16_384,
      followRedirects: false,
      holder: { account: from, agent: "oauth" },
    });
    const said: unknown = status === 200 ? JSON.parse(body.toString("utf8")) : undefined;
    return clientMetadata.extend({ client_id: z.literal(url) }).parse(said);
  } catch (error) {
    const isTheirs = [OutboundRefusedError, OutboundFailedError, SyntaxError, z.ZodError].some(
      (kind) => error instanceof kind,
    );
    if (!isTheirs) throw error;
    throw new OAuthError("invalid_client", "The client's metadata document cannot be read.");
  }
}

function clientOf(id: string, { client_name = "", redirect_uris }: z.infer<typeof clientMetadata>): OAuthClient {
  const bad = redirect_uris.find((uri) => !isRedirectUri(uri));
  if (bad !== undefined) {
    throw new OAuthError(
      "invalid_redirect_uri",
      "A redirect address must be https, http of this machine, or of a scheme of the client's own with a dot in it (or an editor's), without a fragment.",
    );
  }
  return { id, name: shownName(client_name) || id.slice(0, 100), redirectUris: redirect_uris };
}

/** The name without characters that cannot be seen or that turn the text after them around. */
function shownName(said: string): string {
  const seen = said.replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, "").replaceAll(/\s+/gu, " ");
  return [...seen.trim()].slice(0, 100).join("").trim();
}

/** RFC 8252 § 7: https, a port of the person's machine, or a scheme named after a domain, which no browser acts on itself. */
function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || /[^\x21-\x7e]|[\\#]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password || !isPlainHost(hostname)) return false;
  if (protocol === "https:") return hostname !== "";
  if (protocol === "http:") return ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol) || editorSchemes.includes(protocol);
}

/**
 * Whether a client may be answered there. On the person's own machine the port is whichever was free when the client asked (RFC
 * 8252 § 7.3; with `localhost` clients do the same).
 */
export function isRegisteredAt({ redirectUris }: Pick<OAuthClient, "redirectUris">, asked: string): boolean {
  if (redirectUris.includes(asked)) return true;
  const withoutPort = isRedirectUri(asked) ? onThisMachine(asked) : undefined;
  return withoutPort !== undefined && redirectUris.some((registered) => onThisMachine(registered) === withoutPort);
}

/** Without its port, where that is one of the person's machine. */
function onThisMachine(uri: string): string | undefined {
  const url = new URL(uri);
  if (url.protocol !== "http:") return undefined;
  url.port = "";
  return url.href;
}

/** Schemes of MCP clients that people have, which are older than the rule of the dot. */
const editorSchemes = ["cursor:", "vscode:", "vscode-insiders:", "windsurf:"];

/** Whether a host has no character that ends or widens a directive of a page's policy. */
function isPlainHost(hostname: string): boolean {
  return /^[\w.:[\]-]*$/.test(hostname);
}
