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

/** The last one of this page: the tab's storage may be full, or switched off. */
let here: { readonly account: string; readonly request: KeptRequest } | undefined;

/**
 * Keeps the last request of an account whose end is not known, in the tab's own storage: a reload of the page asks for the same
 * drawing, and not for a second one.
 */
export function keepRequest(account: string, request: KeptRequest): void {
  here = { account, request };
  const { body: _, ...small } = request;
  if (!store(account, request)) store(account, small);
}

export function findRequest(account: string): KeptRequest | undefined {
  if (here?.account === account) return here.request;
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(account)) ?? "") as KeptRequest;
  } catch {
    return undefined;
  }
}

export function forgetRequest(account: string): void {
  here = undefined;
  try {
    sessionStorage.removeItem(keyOf(account));
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

function store(account: string, request: KeptRequest): boolean {
  try {
    sessionStorage.removeItem(keyOf(account));
    sessionStorage.setItem(keyOf(account), JSON.stringify(request));
    return true;
  } catch {
    return false;
  }
}

const keyOf = (account: string) => `drawing under way ${account}`;

/** Equal for equal orders. */
export async function digestOf(asked: object): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(asked)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
