import type { InputValues } from "../dom/fields.ts";
import { storeFirst } from "./room.ts";
import type { SignedBody } from "./sign.ts";

/*
 * Payments and runs are kept until their answer is here, so that a reload loses nothing that was paid for. They lie in the tab's own
 * storage, which ends with the tab and which no other origin reads. A kept payment moves no more money than its payer agreed to, to its
 * creator, once. `bought` names the purchase: an agent, an agent's run with the credits of an account, a product, or the credits of an
 * account.
 */

/** A payment that was signed, and what it pays for. */
export interface KeptPayment {
  /** The payment as its header carries it. */
  readonly header: string;
  readonly body: string;
  readonly input: InputValues;
  /** The account whose purchase it pays for; undefined for a purchase without an account. */
  readonly account?: string | undefined;
  /** Of Hedera: what was signed, and by which account. */
  readonly signed?: SignedBody;
  /** The query by which `GET /api/payments` tells how it goes. */
  readonly asked: Readonly<Record<string, string>>;
  /** Base units of the stablecoin. */
  readonly amount: string;
  readonly quotedAt: number;
  readonly signedAt: number;
  /** From then on it can no longer land, by the service's clock. All times are milliseconds. */
  readonly endsAt: number;
  /** By how much this device's clock was ahead of the service's when it was quoted. */
  readonly clockAhead?: number;
  /** A wallet was asked to sign it once more, in another page. */
  readonly isSignedAgain?: true;
  /** The payment is settled and its run failed: it buys a run of any input. */
  readonly isOwed?: true;
}

/** A run with credits, by its idempotency key. */
export interface KeptRun {
  readonly name: string;
  readonly body: string;
  readonly input: InputValues;
}

export interface Kept {
  readonly payment?: KeptPayment;
  readonly run?: KeptRun;
}

/** Throws where the browser stores nothing, or not so much: what cannot be kept is not paid for. The other part stays as it is. */
export function keep(bought: string, kept: Kept): void {
  try {
    storeFirst(keyOf(bought), JSON.stringify({ ...findKept(bought), ...kept }));
  } catch {
    throw new Error("This browser cannot keep the payment until its answer is here. Pay from the terminal instead.");
  }
}

/** Whether a payment for this can be kept: asked before it is signed. */
export function hasRoomFor(bought: Pick<KeptPayment, "body" | "input">): boolean {
  const probe = keyOf("?");
  try {
    storeFirst(probe, JSON.stringify(bought) + " ".repeat(headerCharacters));
    sessionStorage.removeItem(probe);
    return true;
  } catch {
    return false;
  }
}

export function findKept(bought: string): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(bought)) ?? "{}") as Kept;
  } catch {
    return {};
  }
}

export function forget(bought: string, part: keyof Kept): void {
  const { [part]: _, ...rest } = findKept(bought);
  try {
    if (Object.keys(rest).length === 0) sessionStorage.removeItem(keyOf(bought));
    else sessionStorage.setItem(keyOf(bought), JSON.stringify(rest));
  } catch {
    // Where nothing can be kept, nothing was.
  }
}

/** More than what else is kept of a payment has. */
const headerCharacters = 16_384;
const keyOf = (bought: string) => `under way ${bought}`;
