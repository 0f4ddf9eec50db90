import type { Output } from "../connectors/connector.ts";
import type { AccountId, RunId } from "../ids.ts";
import type { Outcome } from "../runs/execute.ts";
import type { WhatRuns } from "../runs/record.ts";
import type { PaidCallId } from "./paid-calls.ts";

/** Something that can be paid for per call, as it is quoted. */
export interface Offer {
  /** What is sold, as PaidWork names it. */
  readonly product: string;
  /** Full address of the route. */
  readonly url: string;
  readonly description: string;
  /** Base units of the stablecoin, six decimals. */
  readonly amount: bigint;
  /** Off the market: only what is paid already is still owed. */
  readonly isWithdrawn?: boolean;
  /** Whose account the call is for, where that is somebody's: of a payment without a quote it is asked, too. */
  readonly accountId?: AccountId;
  /** Whom it pays, by chain; 503 when that cannot be said for certain. */
  readonly wallets: () => readonly Wallet[];
  /** JSON Schema 2020-12 of the body, and a body that satisfies it. */
  readonly input: { readonly schema: object; readonly example: object };
}

export interface Wallet {
  /** CAIP-2. */
  readonly network: string;
  readonly address: string;
}

/** What one payment buys, ready to be done: all that could refuse it has been asked. */
export interface PaidWork {
  /** Names what is bought in the record: an agent's id, or the name of a fixed-price product. */
  readonly product: string;
  /** SHA-256 of what is bought with which input: a payment buys what it was first used for. */
  readonly digest: Buffer;
  /** Cannot be undone, so it is paid for before it is done. */
  readonly permanent: boolean;
  /** The answer's body, where it is not the output as a run gives it. */
  readonly present?: (output: Output) => Promise<object>;
  /** Goes on by itself when the buyer does not come back; only what needs nothing but its proof can. */
  readonly goesOn?: true;
  /** The agent that runs, where one does. */
  readonly agent?: WhatRuns & {
    /** `handle/slug` */
    readonly address: string;
  };
  /**
   * What the same call was at an earlier version of the agent; undefined when that ran on another connector, so that it is not
   * what was bought.
   */
  readonly asOf?: (agentVersion: number) => Promise<{ readonly digest: Buffer } | undefined>;
  /** Its run has a row of its own from the start. */
  readonly opensRun?: boolean;
  /**
   * Asks whether it can work and reserves what it will use up: `take` throws Refusal, `end` gives back what was not used,
   * at once or after a while.
   */
  readonly reservation?: {
    readonly take: (call: { id: PaidCallId; runId: RunId }) => Promise<void>;
    readonly end: (call: { id: PaidCallId; lapseMs: number }) => Promise<void>;
  };
  /**
   * Does it once, within `deadlineMs` where one is given. Throws for no failure, only 503 when it was not begun because
   * nobody pays for the agent's model any more.
   */
  readonly run: (call: { id: PaidCallId; runId: RunId; deadlineMs?: number }) => Promise<Outcome>;
}

/** Whether so much, paid before, is enough for it now. What it buys is counted by the price where it is credits. */
export function isPaidBy({ amount, accountId }: Offer, paid: string): boolean {
  if (!/^\d{1,78}$/.test(paid)) return false;
  return accountId === undefined ? BigInt(paid) >= amount : BigInt(paid) === amount;
}

/** One credit is a cent; the stablecoin has six decimals. */
export const atomicPerCredit = 10_000n;
