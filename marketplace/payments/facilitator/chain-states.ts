/**
 * The networks in the facilitator's GET /health: whether each settles now (`chains[].settling`). A network that it does not
 * name counts as settling: the facilitator is asked about every payment anyway, and this only keeps a quote from offering
 * in vain.
 */
export class ChainStates {
  readonly #getHealth: () => Promise<{ readonly body: string }>;
  #known: { readonly at: number; readonly idle: ReadonlySet<string> } | undefined;
  #reading: Promise<void> | undefined;

  constructor(getHealth: () => Promise<{ readonly body: string }>) {
    this.#getHealth = getHealth;
  }

  /** Reads a state that is some seconds old again in the background, and waits only where it is too old to be used. */
  async settlesOn(network: string): Promise<boolean> {
    const ageMs = Date.now() - (this.#known?.at ?? 0);
    if (ageMs > freshMs) this.#reading ??= this.#read();
    if (ageMs > usableMs) await this.#reading;
    return !this.#known?.idle.has(network);
  }

  async #read(): Promise<void> {
    const idle = await this.#getHealth()
      .then(({ body }) => idleIn(JSON.parse(body)), nothing)
      .catch(nothing);
    this.#known = { at: Date.now(), idle };
    this.#reading = undefined;
  }
}

/** The networks on which every fee payer is said not to settle. */
function idleIn(health: { chains?: unknown } | null): ReadonlySet<string> {
  const chains: readonly Chain[] = Array.isArray(health?.chains) ? health.chains : [];
  const settling = new Set(chains.filter((chain) => chain?.settling !== false).map((chain) => chain?.network));
  return new Set(chains.flatMap(({ network }) => (settling.has(network) ? [] : [String(network)])));
}

const nothing = (): ReadonlySet<string> => new Set();

interface Chain {
  readonly network?: unknown;
  readonly settling?: unknown;
}

const freshMs = 2_000;
const usableMs = 10_000;
