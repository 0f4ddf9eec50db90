import { ConfigError } from "../../shared/env.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { type PaymentRequest, type Refusal, refuse, type Scheme } from "./scheme.ts";

const retryMs = 5_000;

/** The schemes this daemon serves, found by exact match of scheme and network. */
export class SchemeRegistry {
  readonly all: readonly Scheme[];
  /** Those that agree with their chains, as far as their chains could be asked. */
  readonly #open = new Set<Scheme>();
  readonly #retries = new Map<Scheme, NodeJS.Timeout>();

  constructor(schemes: readonly Scheme[]) {
    this.all = schemes;
  }

  /**
   * Opens every scheme. Throws ConfigError when one is configured wrongly, naming every problem of all. A network that
   * cannot be asked, be it the only one, stays closed and is asked again until it is there.
   */
  async start(log: Log): Promise<void> {
    const results = await Promise.allSettled(this.all.map((scheme) => this.#start(scheme)));
    const failures = this.all.flatMap((scheme, index) => {
      const result = results[index];
      return result?.status === "rejected" ? [{ scheme, reason: result.reason as unknown }] : [];
    });
    if (failures.some(({ reason }) => reason instanceof ConfigError)) {
      const problems = failures.flatMap(({ scheme, reason }) => problemsOf(scheme, reason));
      throw new ConfigError("facilitator", problems);
    }
    for (const { scheme, reason } of failures) this.#retry(scheme, reason, log);
  }

  async stop(): Promise<void> {
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
    for (const scheme of this.all) await scheme.stop();
  }

  /** The open scheme of a network; undefined while nothing is known for certain there. */
  openOn(network: string): Scheme | undefined {
    return this.all.find((scheme) => scheme.network === network && this.#open.has(scheme));
  }

  /** Whether a network is there, as far as is known, and has a fee payer that can pay. */
  isSettling(scheme: Scheme): boolean {
    return this.#open.has(scheme) && scheme.balances().some(({ balance, empty }) => balance !== undefined && !empty);
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
    if (found && !this.#open.has(found)) {
      throw new ApiError("unavailable", `${network} cannot be asked at the moment; try again later.`, {
        headers: { "retry-after": String(retryMs / 1_000) },
        body: { network },
      });
    }
    const offered = onNetwork.map((candidate) => candidate.scheme).join(", ");
    return (
      found ?? refuse("unsupported_scheme", `Scheme ${scheme} is not supported on ${network}; supported is ${offered}.`)
    );
  }

  async #start(scheme: Scheme): Promise<void> {
    await scheme.start();
    this.#open.add(scheme);
  }

  #retry(scheme: Scheme, reason: unknown, log: Log): void {
    const { network } = scheme;
    const problems = problemsOf(scheme, reason);
    log.error({ network, problems }, "the network cannot be asked and stays closed until it can");
    const again = async () => {
      try {
        await this.#start(scheme);
        if (!this.#retries.has(scheme)) return await scheme.stop();
        log.info({ network }, "the network is there and open now");
      } catch (error) {
        log.error({ network, problems: problemsOf(scheme, error) }, "the network stays closed");
        if (this.#retries.has(scheme)) this.#retries.set(scheme, setTimeout(again, retryMs));
      }
    };
    this.#retries.set(scheme, setTimeout(again, retryMs));
  }
}

function problemsOf({ network }: Scheme, reason: unknown): readonly string[] {
  if (reason instanceof ConfigError) return reason.problems;
  return [`${network}: ${reason instanceof Error ? reason.message : String(reason)}`];
}
