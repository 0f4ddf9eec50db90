import type { Request, Response } from "express";
import { clientOf } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import { onceClosed } from "./response-closed.ts";

/** Bounds what is on its way at the same time, to an address and altogether; each counts until its response is closed. */
export class SendingLimits {
  readonly #what: string;
  readonly #perAddress: number;
  readonly #total: number;
  readonly #byClient = new Map<string, number>();
  #all = 0;

  /** `what` is named to those who are refused: "files". */
  constructor(what: string, { perAddress, total }: { perAddress: number; total: number }) {
    this.#what = what;
    this.#perAddress = perAddress;
    this.#total = total;
  }

  /** Counts `amount` more; one that is more than a limit alone may go. Throws ApiError 429 over the address's limit, 503 over the total. */
  begin(request: Request, response: Response, amount = 1): void {
    const client = clientOf(request.ip ?? "");
    const own = this.#byClient.get(client) ?? 0;
    const headers = { "retry-after": "5" };
    if (own > 0 && own + amount > this.#perAddress) {
      throw new ApiError("rate_limited", `Too many ${this.#what} are on their way to this address.`, { headers });
    }
    if (this.#all > 0 && this.#all + amount > this.#total) {
      throw new ApiError("unavailable", `Too many ${this.#what} are on their way at the moment.`, { headers });
    }
    this.#byClient.set(client, own + amount);
    this.#all += amount;
    onceClosed(response, () => {
      const left = (this.#byClient.get(client) ?? amount) - amount;
      if (left === 0) this.#byClient.delete(client);
      else this.#byClient.set(client, left);
      this.#all -= amount;
    });
  }
}
