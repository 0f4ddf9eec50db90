import type { Output } from "../connectors/result.ts";
import type { Credits } from "../credits/amount.ts";
import type { AccountId, KeyId, RunId } from "../ids.ts";

/** The payer of a run with credits: an account, asking with one of its keys, or its holder, signed in. */
export interface Buyer {
  readonly accountId: AccountId;
  /** What a signed-in holder's runs cost counts against no key's day. */
  readonly key?: {
    readonly id: KeyId;
    readonly maxCreditsPerDay: Credits | undefined;
    readonly maxCreditsPerMonth?: Credits | undefined;
  };
  /** The network address of the visitor whom it pays for: what they ask is theirs, and is not kept for the account to read. */
  readonly visitor?: string;
}

/** A run as its buyer asks for it. */
export interface AskedRun {
  /** `handle/slug`. */
  readonly agent: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The run is refused when it costs more. */
  readonly maxCredits?: number | undefined;
  /** The caller's own name for the request, 1 to 255 characters. */
  readonly idempotencyKey?: string | undefined;
}

export interface RunAnswer {
  readonly result: RunResult;
  /** The result is that of an earlier request of the same name. */
  readonly replayed: boolean;
}

/** The specification names these fields. */
export interface RunResult {
  readonly success: boolean;
  readonly run_id: RunId;
  readonly output?: Output;
  readonly credits_used: number;
  readonly credits_remaining: number;
  readonly receipt: object | null;
  readonly error?: string;
}
