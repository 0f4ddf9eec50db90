import type { EnvReader } from "./env.ts";

/** What one caller may hold of a copy of a service, and all of them together. */
export interface HttpLimits {
  /** Open connections of one address; trusted proxies are not counted. */
  readonly connectionsPerAddress: number;
  /** Bytes of bodies that are read or worked on, all callers together; one caller has half of it at most. */
  readonly bodyBytes: number;
  /** Large bodies of one address that are read or worked on at the same time. */
  readonly largeBodiesPerAddress: number;
  /** A connection is closed when its client has taken nothing of an answer for so long. */
  readonly unreadSeconds: number;
}

export const usualHttpLimits: HttpLimits = {
  connectionsPerAddress: 2_000,
  bodyBytes: 67_108_864,
  largeBodiesPerAddress: 64,
  unreadSeconds: 30,
};

export function readHttpLimits(env: EnvReader): HttpLimits {
  const usual = usualHttpLimits;
  return {
    connectionsPerAddress: env.integer("HTTP_CONNECTIONS_PER_ADDRESS", usual.connectionsPerAddress, atLeastOne),
    bodyBytes: env.integer("HTTP_BODY_BYTES", usual.bodyBytes, { min: 33_554_432, max: 4_294_967_296 }),
    largeBodiesPerAddress: env.integer("HTTP_LARGE_BODIES_PER_ADDRESS", usual.largeBodiesPerAddress, atLeastOne),
    unreadSeconds: env.integer("HTTP_UNREAD_SECONDS", usual.unreadSeconds, { min: 5, max: 60 }),
  };
}

const atLeastOne = { min: 1, max: 1_000_000 };
