/** What the page keeps of a connection, so that it can show it without loading the relay's client. */
export interface NotedSession {
  /** What the wallet calls itself. */
  readonly name: string;
  /** CAIP-10. */
  readonly accounts: readonly string[];
  /** Milliseconds. */
  readonly endsAt: number;
}

/** WalletConnect's client takes keys with its name in them for its own leftovers, and removes them. */
const key = "hedera wallet";
/** Where the browser keeps nothing. */
let ofThisPage: NotedSession | undefined;

const tell = () => document.dispatchEvent(new Event("wallet-changed"));

// Another page of this site connected the wallet, or ended the connection.
addEventListener("storage", ({ key: changed }) => {
  if (changed === key || changed === null) tell();
});

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

/** Undefined forgets it. Tells the page of either by the event `wallet-changed`. */
export function noteSession(session: NotedSession | undefined): void {
  ofThisPage = undefined;
  try {
    if (session) localStorage.setItem(key, JSON.stringify(session));
    else localStorage.removeItem(key);
  } catch {
    // The session lasts as long as the page.
    ofThisPage = session;
  }
  tell();
}
