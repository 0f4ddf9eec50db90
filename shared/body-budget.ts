import type { Response } from "express";
import { clientOf } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import type { HttpLimits } from "./http-limits.ts";

/** What any body may hold without being counted: connections are limited, and small requests are never turned away. */
export const smallBodyBytes = 65_536;

/**
 * The memory that large bodies have between them, from their first bytes until their requests are answered. A body that
 * finds none left waits a moment, holding what it holds, and is then refused. The one that is read longest may always go
 * on, so that they never all wait for each other.
 */
export class BodyBudget {
  readonly #limits: HttpLimits;
  readonly #waitMs: number;
  readonly #holders = new Map<string, { bytes: number; bodies: number }>();
  /** Bodies that are being read, in the order they began in. */
  readonly #reading = new Set<Reading>();
  #held = 0;

  constructor(limits: HttpLimits, waitMs = 3_000) {
    this.#limits = limits;
    this.#waitMs = waitMs;
  }

  /** A body of somebody at `address`, which counts until its response is closed. */
  open(address: string, response: Response): HeldBody {
    const reading: Reading = { client: clientOf(address), held: 0 };
    this.#reading.add(reading);
    const done = () => {
      this.#reading.delete(reading);
      this.#serveWaiting();
    };
    response.once("close", () => {
      if (reading.held > 0) this.#count(reading.client, -reading.held, -1);
      done();
    });
    return {
      grow: (bytes) =>
        !this.#isBehind(reading) && this.#take(reading, bytes) ? undefined : this.#wait(reading, bytes),
      done,
    };
  }

  /** An older one of the same caller waits. */
  #isBehind(reading: Reading): boolean {
    for (const other of this.#reading) {
      if (other === reading) return false;
      if (other.proceed && other.client === reading.client) return true;
    }
    return false;
  }

  #take(reading: Reading, bytes: number): boolean {
    const { client, held } = reading;
    const own = this.#holders.get(client) ?? { bytes: 0, bodies: 0 };
    const { bodyBytes, largeBodiesPerAddress } = this.#limits;
    const [oldest] = this.#reading;
    const fits = own.bytes + bytes <= bodyBytes / 2 && this.#held + bytes <= bodyBytes;
    if (!fits && oldest !== reading) return false;
    if (held === 0 && own.bodies >= largeBodiesPerAddress) return false;
    this.#count(client, bytes, held === 0 ? 1 : 0);
    reading.held += bytes;
    return true;
  }

  #count(client: string, bytes: number, bodies: number): void {
    const holder = this.#holders.get(client) ?? { bytes: 0, bodies: 0 };
    holder.bytes += bytes;
    holder.bodies += bodies;
    this.#held += bytes;
    if (holder.bodies === 0) this.#holders.delete(client);
    else this.#holders.set(client, holder);
  }

  #serveWaiting(): void {
    for (const { proceed } of this.#reading) proceed?.();
  }

  #wait(reading: Reading, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(patience);
        delete reading.proceed;
        settle();
      };
      const patience = setTimeout(() => end(() => reject(tooMany())), this.#waitMs);
      reading.proceed = () => {
        if (this.#take(reading, bytes)) end(resolve);
      };
    });
  }
}

export interface HeldBody {
  /** Counts more bytes: undefined when there is room, else a promise of room, which rejects with 503. */
  grow(bytes: number): Promise<void> | undefined;
  /** It has been read, or given up; what it holds still counts. */
  done(): void;
}

interface Reading {
  readonly client: string;
  held: number;
  /** Set while it waits: goes on if there is room. */
  proceed?: () => void;
}

function tooMany(): ApiError {
  const headers = { "retry-after": "5" };
  return new ApiError("unavailable", "Too many large bodies are being read at the moment.", { headers });
}
