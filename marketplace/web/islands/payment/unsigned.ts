import type { Authorization } from "../../../../client/payments/eip3009.ts";
import { decodeHeader, type Requirements } from "../../../../client/payments/quote.ts";
import type { KeptPayment } from "./kept.ts";

/*
 * A tab keeps its payments until their answers are here (kept.ts), and ends. What it paid for is found again by what lies in the
 * browser's storage besides: the payment without its signature, which moves no money. Signed again it is the same payment, which is
 * charged once. A signature that settled on an EVM chain is public there: who has this storage, too, can fetch the result.
 */

export interface UnsignedPayment extends Omit<KeptPayment, "header"> {
  readonly resource: object;
  readonly accepted: Requirements;
  /** What was signed on EVM networks. */
  readonly authorization?: Authorization;
}

/** The account that signed it. */
export function signerOf({ authorization, signed }: UnsignedPayment): string {
  return authorization?.from ?? signed?.by ?? "";
}

/** Keeps it, and marks it as this page's for as long as that is open. One that is large, or that another page could not tell from its own, is not kept. */
export function keepUnsigned(bought: string, { header, ...kept }: KeptPayment): void {
  const { resource, accepted, payload } = decodeHeader(header) as SignedPayment;
  // Of Hedera, what an earlier version of the page kept cannot be signed again.
  if (!("locks" in navigator) || !(payload.authorization ?? kept.signed)) return;
  const name = nameOf(bought, kept);
  const text = JSON.stringify({ ...kept, resource, accepted, authorization: payload.authorization });
  try {
    if (text.length > charactersMax) throw new RangeError("too large");
    makeRoom(localStorage.getItem(name) === null ? keptMax - 1 : keptMax);
    localStorage.setItem(name, text);
    // A page that is loaded anew waits for its former self.
    void hold(name, { ifAvailable: false });
  } catch {
    // The tab keeps it all the same. What was kept in its place may be of another input.
    forgetNamed(name);
  }
}

/** This page lets another one fetch it. */
export function releaseUnsigned(bought: string, kept: Pick<KeptPayment, "signedAt" | "asked">): void {
  release(nameOf(bought, kept));
}

/** It needs to be fetched no more. */
export function forgetUnsigned(bought: string, kept: Pick<KeptPayment, "signedAt" | "asked">): void {
  forgetNamed(nameOf(bought, kept));
}

export function forgetNamed(name: string): void {
  try {
    localStorage.removeItem(name);
  } catch {
    // Where nothing can be kept, nothing was.
  }
  release(name);
}

/** The names of those that this purchase has, the oldest first. */
export function findUnsigned(bought: string): readonly string[] {
  if (!("locks" in navigator) || names().length === 0) return [];
  makeRoom(keptMax);
  return names().filter((name) => {
    const payment = readUnsigned(name);
    return payment !== undefined && name === nameOf(bought, payment);
  });
}

/** Whether an open page has it. */
export async function isHeld(name: string): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === name);
}

/** Once no other page has it. */
export async function released(name: string): Promise<void> {
  await navigator.locks.request(name, () => undefined);
}

export function readUnsigned(name: string): UnsignedPayment | undefined {
  try {
    return (JSON.parse(localStorage.getItem(name) ?? "null") as UnsignedPayment | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Marks it as this page's; false where another page has it, which is waited for where that is asked. */
export function hold(name: string, options: LockOptions = { ifAvailable: true }): Promise<boolean> {
  if (releases.has(name)) return Promise.resolve(true);
  const ended = new Promise<void>((end) => releases.set(name, end));
  return new Promise((resolve, reject) => {
    const held = (lock: Lock | null) => {
      if (!lock) releases.delete(name);
      resolve(lock !== null);
      return lock ? ended : undefined;
    };
    navigator.locks.request(name, options, held).catch(reject);
  });
}

export function release(name: string): void {
  releases.get(name)?.();
  releases.delete(name);
}

/** By the names of what this page holds. */
const releases = new Map<string, () => void>();

/** Forgets what is older than a day, and the oldest of what is too many. */
function makeRoom(left: number): void {
  const kept = names();
  const old = kept.filter((name) => signedAt(name) < Date.now() - keptMs);
  for (const name of new Set([...old, ...kept.slice(0, -left)])) localStorage.removeItem(name);
}

function names(): string[] {
  const own = Object.keys(localStorage).filter((key) => key.startsWith(unfetchedMark));
  return own.toSorted((one, other) => signedAt(one) - signedAt(other));
}

const signedAt = (name: string) => Number(name.split(" ")[1]);

function nameOf(bought: string, { signedAt: at, asked }: Pick<KeptPayment, "signedAt" | "asked">): string {
  return `${unfetchedMark}${at} ${bought} ${asked.nonce ?? asked.transaction}`;
}

/** What a payment's header carries. */
export interface SignedPayment {
  readonly resource: object;
  readonly accepted: Requirements;
  readonly payload: { readonly authorization?: Authorization };
}

/** How the storage names them: with when each was signed, what it buys, and its id. */
const unfetchedMark = "unfetched ";
const keptMs = 24 * 3_600_000;
const keptMax = 20;
const charactersMax = 65_536;
