/** What the page keeps of a connection, so that it can tell of it without loading what talks to the relay. */
export interface NotedSession {
  /** What the wallet calls itself. */
  readonly name: string;
  /** CAIP-10. */
  readonly accounts: readonly string[];
  /** Milliseconds. */
  readonly endsAt: number;
}

/** Its client removes, as leftovers of its own, what has its name in its key. */
const key = "hedera wallet";
/** For a browser that keeps nothing. */
let ofThisPage: NotedSession | undefined;

export function notedSession(): NotedSession | undefined {
  const noted = kept() ?? ofThisPage;
  return noted && noted.endsAt > Date.now() && Array.isArray(noted.accounts) ? noted : undefined;
}

function kept(): NotedSession | undefined {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Undefined forgets it. Pages hear of either. */
export function noteSession(session: NotedSession | undefined): void {
  ofThisPage = session;
  try {
    if (session) localStorage.setItem(key, JSON.stringify(session));
    else localStorage.removeItem(key);
  } catch {
    // It lasts as long as the page.
  }
  document.dispatchEvent(new Event("wallet-changed"));
}
