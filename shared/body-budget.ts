import type { Response } from "express";
import { clientOf } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import type { HttpLimits } from "./http-limits.ts";
import { onceClosed } from "./response-closed.ts";

/** Bodies that take no more than this, parsed, are not counted: connections are limited, and small requests are never turned away. */
export const smallBodyBytes = 65_536;
/** While others wait for its room, a body must come at the rate that brings 15 MB within the server's `requestTimeout`. */
const bytesPerSecondMin = 125_000;
/** How many may wait for room, all callers together, and of one. */
const waitingMax = 512;
const waitingOfOneMax = 256;
/** How many times the room the one may have that is read longest. */
const oldestShares = 2;
/** For those who are given up to be answered. */
const givenUpMs = 1_000;

/**
 * The memory that large bodies have between them, from their first bytes until their requests are answered. A body that
 * finds none left waits a moment, holding what it holds; then those that come too slowly are given up for it, and where
 * there are none it is refused. The one that is read longest may have twice the room: what was read may be worked on for
 * minutes. Where nothing is, it may always go on, so that they never all wait for each other.
 */
export class BodyBudget {
  readonly #limits: HttpLimits;
  readonly #waitMs: number;
  readonly #holders = new Map<string, { bytes: number; bodies: number }>();
  /** Bodies that are being read, in the order they began in. */
  readonly #reading = new Set<Reading>();
  /** Bodies that have been read, and whose requests are not answered yet. */
  readonly #workedOn = new Set<Reading>();
  #held = 0;

  constructor(limits: HttpLimits, waitMs = 3_000) {
    this.#limits = limits;
    this.#waitMs = waitMs;
  }

  /** A body that comes from `address`, which counts until its response is closed. `giveUp` ends its being read. */
  open(address: string, response: Response, giveUp: (error: ApiError) => void): HeldBody {
    const reading: Reading = { client: clientOf(address), held: 0, giveUp };
    this.#reading.add(reading);
    const done = () => {
      if (this.#reading.delete(reading) && reading.held > 0) this.#workedOn.add(reading);
      this.#serveWaiting();
    };
    onceClosed(response, () => {
      if (reading.held > 0) this.#count(reading.client, -reading.held, -1);
      this.#reading.delete(reading);
      this.#workedOn.delete(reading);
      this.#serveWaiting();
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
    const [oldest] = this.#reading;
    const fits =
      oldest === reading
        ? this.#workedOn.size === 0 || this.#fits(reading, bytes, oldestShares)
        : this.#fits(reading, bytes);
    if (!fits || !this.#mayBegin(reading)) return false;
    this.#count(reading.client, bytes, reading.held === 0 ? 1 : 0);
    reading.held += bytes;
    return true;
  }

  /** Whether there is room for `bytes` more, in all and in the caller's own share. */
  #fits(reading: Reading, bytes: number, shares = 1): boolean {
    return this.#held + bytes <= shares * this.#limits.bodyBytes && this.#fitsOwn(reading, bytes, shares);
  }

  #fitsOwn({ client }: Reading, bytes: number, shares = 1): boolean {
    return (this.#holders.get(client)?.bytes ?? 0) + bytes <= (shares * this.#limits.bodyBytes) / 2;
  }

  /** Whether its caller may have one body more, if this one is not counted yet. */
  #mayBegin({ client, held }: Reading): boolean {
    return held > 0 || (this.#holders.get(client)?.bodies ?? 0) < this.#limits.largeBodiesPerAddress;
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
    const waiting = [...this.#reading].filter(({ proceed }) => proceed);
    const own = waiting.filter(({ client }) => client === reading.client);
    if (own.length >= waitingOfOneMax) return Promise.reject(tooManyOfOne());
    if (waiting.length >= waitingMax) return Promise.reject(tooMany());
    const heldBefore = new Map([...this.#reading].map((other) => [other, other.held]));
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(patience);
        delete reading.proceed;
        settle();
      };
      let patience = setTimeout(() => {
        if (!this.#fitsOwn(reading, bytes) || !this.#mayBegin(reading)) return end(() => reject(tooManyOfOne()));
        if (!this.#giveUpSlow(heldBefore, bytes)) return end(() => reject(tooMany()));
        patience = setTimeout(() => end(() => reject(tooMany())), givenUpMs);
      }, this.#waitMs);
      reading.proceed = () => {
        if (this.#take(reading, bytes)) end(resolve);
      };
    });
  }

  /** Gives up bodies that came too slowly since they held so much, the slowest first, until `bytes` are free; false: none. */
  #giveUpSlow(heldBefore: ReadonlyMap<Reading, number>, bytes: number): boolean {
    const gained = (other: Reading) => other.held - (heldBefore.get(other) ?? 0);
    const enough = (bytesPerSecondMin * this.#waitMs) / 1_000;
    const slow = [...this.#reading].filter(
      (other) => heldBefore.has(other) && other.held > 0 && !other.proceed && gained(other) < enough,
    );
    let freed = 0;
    for (const other of slow.sort((a, b) => gained(a) - gained(b) || b.held - a.held)) {
      if (freed >= bytes) break;
      freed += other.held;
      other.giveUp(new ApiError("too_slow", "The body came too slowly while others waited for its room."));
    }
    return freed > 0;
  }
}

export interface HeldBody {
  /** Counts more bytes: undefined when there is room, else a promise of room, which rejects with 503, or 429 over one's share. */
  grow(bytes: number): Promise<void> | undefined;
  /** The body has been read, or given up; its bytes still count. */
  done(): void;
}

interface Reading {
  readonly client: string;
  held: number;
  readonly giveUp: (error: ApiError) => void;
  /** Set while it waits: goes on if there is room. */
  proceed?: () => void;
}

const headers = { "retry-after": "5" };

function tooMany(): ApiError {
  return new ApiError("unavailable", "Too many large bodies are being read at the moment.", { headers });
}

function tooManyOfOne(): ApiError {
  return new ApiError("rate_limited", "Too many large bodies come from this address at a time.", { headers });
}
