import { ConfigError } from "../../shared/env.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { type PaymentRequest, type Refusal, refuse, type Scheme, type Upkeep } from "./scheme.ts";

/** How often jobs.ts asks a closed network again. */
export const retryClosedMs = 5_000;

/** Reasons kept for why a network did not settle. */
export type OutageCause = "away" | "empty";

/** The schemes this daemon serves, found by exact match of scheme and network. */
export class SchemeRegistry {
  readonly all: readonly Scheme[];
  /** Schemes that agree with their chains, as far as the chains could be asked. */
  readonly #opened = new Set<Scheme>();
  readonly #opening = new Set<Scheme>();

  constructor(schemes: readonly Scheme[]) {
    this.all = schemes;
  }

  /**
   * Opens every scheme. Throws ConfigError when one is configured wrongly, naming every problem of all. A network that
   * cannot be asked, be it the only one, stays closed until `openClosed` finds it there.
   */
  async start(log: Log): Promise<void> {
    const results = await Promise.allSettled(this.all.map((scheme) => this.#open(scheme)));
    const failures = this.all.flatMap((scheme, index) => {
      const result = results[index];
      return result?.status === "rejected" ? [{ scheme, reason: result.reason as unknown }] : [];
    });
    if (failures.some(({ reason }) => reason instanceof ConfigError)) {
      const problems = failures.flatMap(({ scheme, reason }) => problemsOf(scheme, reason));
      throw new ConfigError("facilitator", problems);
    }
    for (const { scheme, reason } of failures) {
      const problems = problemsOf(scheme, reason);
      log.error({ network: scheme.network, problems }, "the network cannot be asked and stays closed until it can");
    }
  }

  /** Asks every closed network again. Never throws. */
  async openClosed(log: Log): Promise<void> {
    const closed = this.all.filter((scheme) => !this.#opened.has(scheme) && !this.#opening.has(scheme));
    await Promise.all(
      closed.map(async (scheme) => {
        try {
          await this.#open(scheme);
          log.info({ network: scheme.network }, "the network is there and open now");
        } catch (error) {
          const problems = problemsOf(scheme, error);
          log.error({ network: scheme.network, problems }, "the network stays closed");
        }
      }),
    );
  }

  /** The upkeep of all schemes; what belongs to a closed one is left out of a run. */
  get upkeep(): readonly Upkeep[] {
    return this.all.flatMap((scheme) =>
      scheme.upkeep.map(({ name, everyMs, run }) => ({
        name: `${name} on ${scheme.network}`,
        everyMs,
        run: async () => {
          if (this.#opened.has(scheme)) await run();
        },
      })),
    );
  }

  /** A copy that stops does not wait for it: the leases that are not given back lapse. */
  handOver(log: Log): void {
    for (const { network, handOver } of this.all) {
      handOver().catch((err) =>
        log.warn({ err, network }, "fee payers were not handed over; their leases end by themselves"),
      );
    }
  }

  async stop(): Promise<void> {
    for (const scheme of this.all) await scheme.stop();
  }

  /** The open scheme of a network; undefined while nothing is known for certain there. */
  openOn(network: string): Scheme | undefined {
    return this.all.find((scheme) => scheme.network === network && this.#opened.has(scheme));
  }

  /** Whether a network is there, as far as is known, at a price that a fee payer may pay and has. */
  isSettling(scheme: Scheme): boolean {
    return this.whyNotSettling(scheme) === undefined;
  }

  /**
   * The network or its fee payers' keys cannot be asked; or can and no fee payer has money, or may pay what the network charges.
   * Undefined while it settles.
   */
  whyNotSettling(scheme: Scheme): OutageCause | "fees too high" | undefined {
    const read = this.#opened.has(scheme) ? scheme.balances().filter(({ balance }) => balance !== undefined) : [];
    if (read.every(({ signs }) => !signs)) return "away";
    if (read.some(({ empty, signs }) => !empty && signs)) return scheme.feesTooHigh() ? "fees too high" : undefined;
    return read.every(({ empty }) => empty) ? "empty" : "away";
  }

  /** Throws ApiError 503 while the network is closed. */
  find(request: PaymentRequest): Scheme | Refusal {
    const { scheme, network } = request.requirements;
    const onNetwork = this.all.filter((candidate) => candidate.network === network);
    if (onNetwork.length === 0) {
      const supported = this.all.map((candidate) => candidate.network).join(", ");
      return refuse(
        "invalid_network",
        `Network ${request.networkAsGiven} is not supported; supported are ${supported}.`,
      );
    }
    const found = onNetwork.find((candidate) => candidate.scheme === scheme);
    if (found && !this.#opened.has(found)) {
      throw new ApiError("unavailable", `${network} cannot be asked at the moment; try again later.`, {
        headers: { "retry-after": String(retryClosedMs / 1_000) },
        body: { network },
      });
    }
    const offered = onNetwork.map((candidate) => candidate.scheme).join(", ");
    return (
      found ?? refuse("unsupported_scheme", `Scheme ${scheme} is not supported on ${network}; supported is ${offered}.`)
    );
  }

  async #open(scheme: Scheme): Promise<void> {
    this.#opening.add(scheme);
    try {
      await scheme.start();
      this.#opened.add(scheme);
    } finally {
      this.#opening.delete(scheme);
    }
  }
}

function problemsOf({ network }: Scheme, reason: unknown): readonly string[] {
  if (reason instanceof ConfigError) return reason.problems;
  return [`${network}: ${reason instanceof Error ? reason.message : String(reason)}`];
}
