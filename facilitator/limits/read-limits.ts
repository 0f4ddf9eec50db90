import { clientOf } from "../../shared/client-address.ts";

const windowMs = 60_000;
const callersMax = 50_000;

/**
 * How often an address may read, counted in the memory of this process: reading costs little, GET /supported must answer
 * without the database, and copies that count apart only let somebody read more. A limit of 0 is none.
 */
export class ReadLimits {
  readonly #limit: number;
  readonly #calls = new Map<string, number>();
  #windowEndMs = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Seconds to wait when this address has read too often. */
  ofAddress(address: string, nowMs = Date.now()): number | undefined {
    if (this.#limit === 0) return undefined;
    if (nowMs >= this.#windowEndMs) {
      this.#calls.clear();
      this.#windowEndMs = nowMs + windowMs;
    }
    const caller = clientOf(address);
    const calls = (this.#calls.get(caller) ?? 0) + 1;
    if (calls === 1 && this.#calls.size >= callersMax) this.#forgetOne();
    this.#calls.set(caller, calls);
    return calls > this.#limit ? Math.ceil((this.#windowEndMs - nowMs) / 1_000) : undefined;
  }

  #forgetOne(): void {
    for (const caller of this.#calls.keys()) return void this.#calls.delete(caller);
  }
}
