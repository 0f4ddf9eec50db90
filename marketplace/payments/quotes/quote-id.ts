import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { canonicalAccount } from "../../../shared/networks.ts";
import type { Queryable } from "../../../shared/postgres.ts";
import { maxTimeoutSeconds } from "../../time-limits.ts";

/**
 * A payment that is signed within so long of its quote is good at the quoted price, whatever the price is by the time it is presented.
 * Version 1's ids of before a change of it are not known again.
 */
export const quoteGoodForSeconds = 3_600;
const clocksDifferMs = 15_000;

/**
 * The ids that quotes carry as `extra.quoteId`, told by their first letter:
 *
 * - `q`, in a version 2 quote, which clients echo: its end, 128 random bits and a MAC over these and what was quoted. No
 *   other buyer can know it, so the presenter who shows it holds the quote.
 * - `b`, in a version 1 quote, which clients do not echo: a MAC over what was quoted, the quoted body's SHA-256 and the period (of
 *   `quoteGoodForSeconds`, so that it is good for one to two of them),
 *   so that it can be made again from the body that is posted. It is no secret from a caller who knows that body, and good for it alone.
 * - `u`, in no quote: put into the requirements that a payment without a quote is settled for, the same whenever that is asked.
 *
 * Keys are derived from a secret for each day, so that no two days share one. The first secret signs, every one is recognised.
 */
export class QuoteIds {
  readonly #secrets: readonly Buffer[];
  readonly #keys = new Map<string, Buffer>();

  constructor(secrets: readonly Buffer[]) {
    this.#secrets = secrets;
  }

  issue(quoted: Quoted, now = Date.now()): string {
    const head = Buffer.alloc(headBytes);
    head.writeUIntBE(Math.ceil(now / 1_000) + quoteGoodForSeconds, 0, endBytes);
    randomBytes(headBytes - endBytes).copy(head, endBytes);
    const mac = this.#mac(this.#secrets[0]!, head.readUIntBE(0, endBytes), ["q", head.toString("hex"), quoted]);
    return `q${Buffer.concat([head, mac]).toString("base64url")}`;
  }

  /** When the quote with this id ends; undefined unless it is one of ours, of exactly this. */
  endOf(quoted: Quoted, id: unknown): Date | undefined {
    if (typeof id !== "string" || id.length !== issuedLength || !isHeldSecret(id)) return undefined;
    const bytes = Buffer.from(id.slice(1), "base64url");
    // Base64 has several spellings of the same bytes, and `termsDigest` is one of the text.
    if (bytes.length !== headBytes + macBytes || bytes.toString("base64url") !== id.slice(1)) return undefined;
    const head = bytes.subarray(0, headBytes);
    const endSeconds = head.readUIntBE(0, endBytes);
    const genuine = this.#secrets.filter((secret) =>
      timingSafeEqual(this.#mac(secret, endSeconds, ["q", head.toString("hex"), quoted]), bytes.subarray(headBytes)),
    );
    return genuine.length > 0 ? new Date(endSeconds * 1_000) : undefined;
  }

  /** The id that this body is quoted with at that time. */
  ofBody(quoted: Quoted, bodyDigest: Buffer, at = Date.now()): string {
    return this.#ofBody(this.#secrets[0]!, quoted, bodyDigest, periodOf(at));
  }

  /**
   * The ids that this body may have been quoted with for a payment that is good until `expiresAt`, the likeliest first, and
   * when each ends. A payment is signed at most minutes before it expires, or it is one that is presented soon after its quote.
   */
  ofBodyBefore(quoted: Quoted, bodyDigest: Buffer, expiresAt: Date, now = Date.now()): ReadonlyArray<QuotedId> {
    const first = periodOf(Math.min(now, expiresAt.getTime() - paymentGoodForMs)) - 1;
    // The copy that quoted it may be ahead of this one.
    const last = periodOf(Math.min(now + clocksDifferMs, expiresAt.getTime()));
    const periods = Array.from({ length: last - first + 1 }, (_, index) => last - index);
    return periods.flatMap((period) =>
      this.#secrets.map((secret) => ({
        id: this.#ofBody(secret, quoted, bodyDigest, period),
        end: new Date((period + 2) * quoteGoodForSeconds * 1_000),
      })),
    );
  }

  /** The id in the requirements that a payment without a quote is settled for. */
  ofPayment(quoted: Quoted, { key, expiresAt }: { readonly key: string; readonly expiresAt: Date }): string {
    const atSeconds = Math.floor(expiresAt.getTime() / 1_000);
    return `u${this.#mac(this.#secrets[0]!, atSeconds, ["u", key, quoted]).toString("base64url")}`;
  }

  #ofBody(secret: Buffer, quoted: Quoted, bodyDigest: Buffer, period: number): string {
    const mac = this.#mac(secret, period * quoteGoodForSeconds, [
      "b",
      `${period} ${bodyDigest.toString("hex")}`,
      quoted,
    ]);
    return `b${mac.toString("base64url")}`;
  }

  #mac(secret: Buffer, atSeconds: number, [kind, head, quoted]: [string, string, Quoted]): Buffer {
    const { product, network, asset, payTo, amount } = quoted;
    const address = (text: string) => canonicalAccount(network, text);
    const said = JSON.stringify([kind, head, product, network, address(asset), address(payTo), amount]);
    const key = this.#keyOf(secret, Math.floor(atSeconds / 86_400));
    return createHmac("sha256", key).update(said).digest().subarray(0, macBytes);
  }

  #keyOf(secret: Buffer, day: number): Buffer {
    const name = `${this.#secrets.indexOf(secret)} ${day}`;
    const known = this.#keys.get(name);
    if (known) return known;
    const key = Buffer.from(hkdfSync("sha256", secret, "", `x402 quote ids ${day}`, 32));
    if (this.#keys.size >= keysMax) this.#keys.clear();
    this.#keys.set(name, key);
    return key;
  }
}

/** The terms of a quote: what it sells, for how much, and where it is paid. */
export interface Quoted {
  /** An agent's id, or what the platform sells; of credits, for which account and how many. Never an address: those change. */
  readonly product: string;
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  readonly amount: string;
}

export interface QuotedId {
  readonly id: string;
  readonly end: Date;
}

/** When a quote with this id would end, were it ours (`endOf`); undefined where the id tells no end. */
export function endWrittenIn(id: string): Date | undefined {
  const bytes = Buffer.from(id.slice(1), "base64url");
  if (!isHeldSecret(id) || bytes.length < endBytes) return undefined;
  return new Date(Math.min(bytes.readUIntBE(0, endBytes) * 1_000, 8e15));
}

/** Whether an id of ours is one that only the quote's holder knows. */
export const isHeldSecret = (id: string) => id.startsWith("q");

/** The secrets that ids are made with: those configured, or else one that every copy of the service finds in the database. */
export async function quoteSecrets(db: Queryable, configured: readonly Buffer[]): Promise<readonly Buffer[]> {
  if (configured.length > 0) return configured;
  await db.query("insert into quote_secret (secret) values ($1) on conflict do nothing", [randomBytes(32)]);
  const { rows } = await db.query<{ secret: Buffer }>("select secret from quote_secret");
  return rows.map(({ secret }) => secret);
}

const endBytes = 6;
const headBytes = endBytes + 16;
const macBytes = 20;
const issuedLength = 1 + ((headBytes + macBytes) * 8) / 6;
const periodOf = (ms: number) => Math.floor(ms / (quoteGoodForSeconds * 1_000));
/** The time that quotes allow for a payment. */
const paymentGoodForMs = maxTimeoutSeconds * 1_000;
const keysMax = 64;
