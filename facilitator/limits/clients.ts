import { hash } from "node:crypto";
import type { EnvReader } from "../../shared/env.ts";
import { ApiError } from "../../shared/errors.ts";

/** A resource server that the operator knows, with a limit of its own in place of its address'. */
export interface Client {
  readonly name: string;
  /** SHA-256 of its token, hex; the token itself is kept nowhere. */
  readonly tokenHash: string;
  /** Calls a minute of each route; 0 is no limit. */
  readonly callsPerMinute: number;
}

/** Whoever posts a payment. */
export interface Caller {
  /** Without a token, where the operator knows others by theirs. */
  readonly isStranger: boolean;
}

export function callerOf(clients: readonly Client[], authorization: string | undefined): Caller {
  return { isStranger: clients.length > 0 && !clientCalling(clients, authorization) };
}

/** One entry of FACILITATOR_CLIENTS: `name:sha256-hex-of-token:calls a minute`; undefined when it is none. */
function readClient(entry: string): Client | undefined {
  const [, name, tokenHash, calls] = /^([\w.-]{1,64}):([0-9a-fA-F]{64}):(\d{1,9})$/.exec(entry) ?? [];
  if (name === undefined || tokenHash === undefined) return undefined;
  return { name, tokenHash: tokenHash.toLowerCase(), callsPerMinute: Number(calls) };
}

/** The resource servers of FACILITATOR_CLIENTS; a name or token given twice is a problem. */
export function readClients(env: EnvReader): readonly Client[] {
  const clients = env.list("FACILITATOR_CLIENTS").flatMap((entry) => {
    const client = readClient(entry);
    return client ? [client] : env.problem("FACILITATOR_CLIENTS must list name:sha256-hex-of-token:calls a minute", []);
  });
  const isUnique = (values: readonly string[]) => new Set(values).size === values.length;
  if (!isUnique(clients.map(({ name }) => name)) || !isUnique(clients.map(({ tokenHash }) => tokenHash))) {
    env.problem("FACILITATOR_CLIENTS names a client or a token twice", 0);
  }
  return clients;
}

/**
 * The client whose token is in an Authorization header; undefined without one, since callers need none. Throws ApiError 401
 * on an unknown token: a caller that sends one expects its own limit.
 */
export function clientCalling(clients: readonly Client[], authorization: string | undefined): Client | undefined {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (token === undefined) return undefined;
  const tokenHash = hash("sha256", token, "hex");
  const known = clients.find((client) => client.tokenHash === tokenHash);
  if (!known) throw new ApiError("unauthenticated", "This token is not known here; none is needed.");
  return known;
}
