import { storeFirst } from "../payment/room.ts";

/** A drawing that was asked for with an account's credits. Under one name it is made and charged once. */
export interface KeptRequest {
  readonly name: string;
  /** The digest of what is asked for, whatever it may cost. */
  readonly of: string;
  /** The file that is traced, as its person calls it. */
  readonly fileName?: string;
  /** Undefined where it was too large to be kept through a reload. */
  readonly body?: string;
}

/** A drawing from words, or a trace: of each, one request waits for its answer without ending the other's waiting. */
export type Kind = "draw" | "trace";

/** The last ones of this page: the tab's storage may be full, or switched off. */
const here = new Map<string, KeptRequest>();

/**
 * Keeps the last request of an account and kind whose end is not known, in the tab's own storage: a reload of the page asks for the
 * same drawing, and not for a second one.
 */
export function keepRequest(account: string, kind: Kind, request: KeptRequest): void {
  const key = keyOf(account, kind);
  here.set(key, request);
  const { body: _, ...small } = request;
  if (!store(key, request)) store(key, small);
}

export function findRequest(account: string, kind: Kind): KeptRequest | undefined {
  const key = keyOf(account, kind);
  const request = here.get(key);
  if (request) return request;
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "") as KeptRequest;
  } catch {
    return undefined;
  }
}

export function forgetRequest(account: string, kind: Kind): void {
  const key = keyOf(account, kind);
  here.delete(key);
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

function store(key: string, request: KeptRequest): boolean {
  try {
    sessionStorage.removeItem(key);
    storeFirst(key, JSON.stringify(request));
    return true;
  } catch {
    return false;
  }
}

const keyOf = (account: string, kind: Kind) => `drawing under way ${account} ${kind}`;

/** Equal for equal orders. */
export async function digestOf(asked: object): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(asked)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
