import { ApiError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { Log } from "../../shared/log.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import type { PaymentRequirements, SupportedKind } from "../../shared/x402.ts";
import type { Kms } from "../signing/kms.ts";

/**
 * What the daemon needs from a way of paying on one network. `decode` and `check` together are the rules of the
 * scheme's specification; `submit` and `find` answer with an Outcome and never report what is unknown as failed.
 */
export interface Scheme<P extends Payment = Payment> {
  readonly scheme: "exact";
  /** CAIP-2. */
  readonly network: string;
  /** Rows of GET /supported; from configuration alone, stable between calls. */
  readonly kinds: readonly SupportedKind[];
  /** Accounts that pay network fees. */
  readonly feePayers: readonly string[];

  /** Untrusted request → typed payment, by the rules that need neither clock nor chain. Throws ApiError 400 on a wrong shape. */
  decode(request: PaymentRequest): P | Refusal;
  /**
   * The rules that need the clock or the chain; undefined when the payment holds. Calls `signed` as soon as the payer is known to
   * have signed it, for now, while there is more to ask.
   */
  check(payment: P, signed?: () => void): Promise<Refusal | undefined>;
  /**
   * The refusal that says that the chain has settled a payment which `check` finds too late, or that something else used it
   * up; undefined when the chain has nothing of it. Throws NetworkAwayError when that cannot be told.
   */
  findSettled(payment: P): Promise<Refusal | undefined>;
  /** The part of `check` that asks who signed, and nothing else. Throws NetworkAwayError when only the chain could tell. */
  checkSignature(payment: P): Promise<Refusal | undefined>;
  /** What the payer holds of the payment's asset, base units, as `check` read it not more than a second before. */
  balanceOf(payment: P): bigint;
  /** What the payer holds on the chain now, and whether that includes all of `transactions`. Throws NetworkAwayError. */
  readBalance(payment: P, transactions: readonly string[]): Promise<{ balance: bigint; shows: boolean }>;
  /** The scheme's own refusal of a payer who has too little. */
  insufficient(message: string): Refusal;
  /**
   * Sends the payment of a won claim; stores what it signed before it sends. Waits at most `deadline` for the chain. A stranger's takes no
   * money that is kept for known clients.
   */
  submit(payment: P, claim: Claim, deadline: Date, isStranger?: boolean): Promise<Outcome>;
  /**
   * Submits a payment that has no claim: one statement claims it and stores what was signed. `unclaimed` when the claim was not
   * made, and nothing is stored.
   */
  claimAndSubmit?(payment: P, claiming: Claiming, deadline: Date): Promise<Outcome | "unclaimed">;
  /** What the chain says about a payment that was claimed and not seen to end, whether or not anything is known to be sent. */
  find(unfinished: Unfinished): Promise<Outcome>;
  /**
   * What a fee payer of ours settled under the payment's key, be it this payment or another. Where a key says who pays, no other payer can
   * use it, and this is left out. Throws NetworkAwayError.
   */
  findSent?(payment: P): Promise<SentSettlement | undefined>;
  /** Searches the chain for settlements that the fee payers of this copy sent and the database may have lost, a bounded way further. */
  searchSent(log: SearchLog, stopping: AbortSignal): Promise<void>;
  /** What the network charged for a transaction, base units of its own token; undefined where it does not say. Throws NetworkAwayError. */
  networkFee(transaction: string): Promise<bigint | undefined>;
  /** Each fee payer's balance as last read; with a payment, of those that may pay its fee. */
  balances(payment?: P): readonly FeePayerBalance[];
  /** Whether the network charges more for a transaction than a fee payer may pay, as last read: then nothing settles. */
  feesTooHigh(): boolean;
  /**
   * Throws ConfigError, naming every problem, when configuration and chain do not agree, and NetworkAwayError when the chain
   * cannot be asked: then it may be called again.
   */
  start(): Promise<void>;
  /** Work in the background while the scheme is open. */
  readonly upkeep: readonly Upkeep[];
  /** Gives this copy's fee payers to the other copies, before it stops. */
  handOver(): Promise<void>;
  stop(): Promise<void>;
}

export interface Upkeep {
  readonly name: string;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}

/** The network does not answer, or not in a way that can be relied on. */
export class NetworkAwayError extends Error {}

/** 503 for what only the chain could tell. */
export function networkUnavailable(message: string, cause: unknown): ApiError {
  return new ApiError("unavailable", message, { headers: { "retry-after": "5" }, cause });
}

/** What a caller asks about, shape-checked and translated from v1 or v2 into one form; nothing of it is believed yet. */
export interface PaymentRequest {
  readonly version: 1 | 2;
  /** CAIP-2, translated from a v1 name where needed. */
  readonly network: string;
  /** The form the caller used; answers echo it. */
  readonly networkAsGiven: string;
  readonly requirements: PaymentRequirements;
  /** What the payer agreed to: v2's `accepted`; in v1 the payload's own scheme and network, where given. */
  readonly accepted: Partial<PaymentRequirements>;
  readonly payload: JsonObject;
  readonly resourceUrl: string | undefined;
  /** Digest of the requirements, where they name a quote (shared/x402.ts). */
  readonly termsDigest: string | undefined;
}

/** A payment whose meaning is certain, however it was encoded. */
export interface Payment {
  /** Identifies this payment on its network; every re-encoding of it has the same key. */
  readonly key: string;
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amount: bigint;
  /** Digest of what the payer signed: equal for every encoding and every valid signature of it. */
  readonly messageDigest: Buffer;
  /** From this moment on the payment can no longer land on the chain. */
  readonly expiresAt: Date;
}

export interface Refusal {
  readonly refused: string;
  readonly message: string;
  readonly payer?: string;
  /** Where the payment was settled, when that is why it is refused. */
  readonly transaction?: string;
  /** The payment is refused as too late, which does not tell whether it was settled in time. */
  readonly late?: true;
  /** The payment that it is by all other rules, where only one of the configuration refuses it: before that changed it may have been claimed. */
  readonly payment?: Payment;
}

export function refuse(refused: string, message: string): Refusal {
  return { refused, message };
}

export function isRefusal(value: object): value is Refusal {
  return "refused" in value;
}

/** A refusal by the configuration alone. */
export interface Barred extends Refusal {
  readonly payment: Payment;
}

export function isBarred(refusal: Refusal): refusal is Barred {
  return refusal.payment !== undefined;
}

/** A rule about a draft of a payment; of a `configured` one the answer changes with the configuration. */
export interface Rule<D> {
  (draft: D): Refusal | undefined;
  readonly configured?: true;
}

/** A rule that holds a payment against what is configured now. */
export function configured<D>(rule: (draft: D) => Refusal | undefined): Rule<D> {
  return Object.assign((draft: D) => rule(draft), { configured: true } as const);
}

/**
 * The refusal of the first rule that is broken: `barred` where every broken one is of the configuration, so that what else there is to
 * know of the payment can be read.
 */
export function judge<D>(
  rules: ReadonlyArray<Rule<D>>,
  draft: D,
): { readonly refusal?: Refusal; readonly barred?: Refusal | undefined } {
  let barred: Refusal | undefined;
  for (const rule of rules) {
    const refusal = rule(draft);
    if (refusal && !rule.configured) return { refusal: barred ?? refusal };
    barred ??= refusal;
  }
  return { barred };
}

/** The right to send a payment, won by inserting its row. `token` proves it in every later statement. */
export interface Claim {
  readonly id: bigint;
  readonly token: string;
}

/** A claim that one caller is to have, and has once it is made. */
export interface Claiming {
  readonly wanted: WantedClaim;
  readonly isStranger?: boolean;
  claim?: Claim;
}

export interface WantedClaim {
  readonly network: string;
  readonly scheme: string;
  readonly payment: Payment;
  readonly terms: ClaimTerms;
}

/** What a claim is made on, beside the payment itself. */
export interface ClaimTerms {
  readonly resourceUrl: string | undefined;
  readonly termsDigest?: string | undefined;
  readonly failuresMax: number;
  readonly failuresPerDayMax: number;
  /** To be listed once the payment has settled. */
  readonly listingRequest?: { readonly text: string; readonly digest: Buffer } | undefined;
}

/** What a network's scheme is made with. */
export interface SchemeNeeds {
  readonly store: BroadcastLog;
  readonly db: Database;
  readonly log: Log;
  /** The id of this copy among all. */
  readonly copy: string;
  readonly kms?: Kms | undefined;
}

/** Where a scheme writes down what it signed, before it sends it (settlements/store.ts). */
export interface BroadcastLog {
  /** The payment's row, if it was ever claimed. */
  lookup(network: string, key: string): Promise<{ readonly state: string } | undefined>;
  /** All that was ever signed for it, also what another transaction was signed in place of. */
  signedTransactions(network: string, key: string): Promise<readonly string[]>;
  /** False when the claim was lost meanwhile: then nothing may be sent. */
  recordBroadcast(claim: Claim, broadcast: Broadcast): Promise<boolean>;
  /** Records the broadcasts of several claims that the open transaction `tx` has locked. */
  recordBroadcasts(tx: Queryable, sent: ReadonlyArray<{ claim: Claim; broadcast: Broadcast }>): Promise<void>;
  /** Which of these payments have no claim yet, and payers that may settle; of several that are one payment, the first. */
  claimable(tx: Queryable, wanted: readonly WantedClaim[]): Promise<readonly boolean[]>;
  /** Claims payments with what was signed for them. Throws, and the transaction is void, where another caller has claimed one. */
  claimSigned(tx: Queryable, signed: readonly SignedClaim[]): Promise<readonly Claim[]>;
  /** Claims one payment with what was signed for it; undefined where another caller has claimed it, or its payer may not settle. */
  claimOneSigned(signed: SignedClaim): Promise<Claim | undefined>;
  /**
   * Takes back what was signed, because it can certainly never land; false when another daemon has the claim, and with `unlessRaised`
   * where a dearer transaction was signed in its place.
   */
  takeBack(claim: Claim, transaction: string, only: { readonly unlessRaised: boolean }): Promise<boolean>;
  /** Takes back what was signed, because no daemon has sent it; false also when another daemon may have. Until then it is not said that it can be settled again. */
  takeBackUnsent(claim: Claim, transaction: string, db?: Queryable): Promise<boolean>;
}

export interface SignedClaim {
  readonly wanted: WantedClaim;
  readonly broadcast: Broadcast;
}

/** What was signed for a payment, and with whose money for the fee. */
export interface Broadcast {
  readonly transaction: string;
  readonly raw: readonly Buffer[];
  readonly feePayer: string;
  readonly nonce?: bigint;
}

/** A row that was claimed and not seen to end, as the reconciler reads it. */
export interface Unfinished {
  readonly id: bigint;
  readonly network: string;
  readonly key: string;
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amount: bigint;
  /** Empty, like the transaction, while nothing is known to be signed. */
  readonly feePayer: string;
  readonly transaction: string;
  /** All that was ever signed for it. */
  readonly signedTransactions: readonly string[];
  /** The signed bytes, as they were or would have been sent; sending them again is harmless. */
  readonly raw: readonly Buffer[];
  readonly nonce: bigint | undefined;
  readonly expiresAt: Date;
  readonly createdAt: Date;
}

export type Outcome =
  /** `byAnother`: in a transaction that is none of ours. */
  | { readonly outcome: "settled"; readonly transaction: string; readonly byAnother?: true }
  /**
   * The chain has spoken, or the payment can no longer land. `retryable`: the same payment may be claimed again.
   * `charged`: the network took a fee for nothing, and not for a fault of ours.
   */
  | {
      readonly outcome: "failed";
      readonly reason: string;
      readonly message: string;
      readonly transaction: string;
      readonly retryable: boolean;
      readonly charged?: boolean;
    }
  /** Sent, and the chain has not answered yet. `because`: what is waited for, in words for the operator's log. */
  | { readonly outcome: "unknown"; readonly transaction: string; readonly because?: string };

/** Up to where the chain was searched: all that this fee payer settled until there is on record. */
export interface SearchMark {
  readonly feePayer: string;
  /** A block's number, or nanoseconds of consensus. */
  readonly until: bigint;
  /** The fee payer's next nonce there, on a chain that numbers an account's transactions. */
  readonly nextNonce: bigint | undefined;
}

/** A settlement of ours as a final transaction proves it. */
export interface SentSettlement extends Omit<Payment, "messageDigest"> {
  readonly feePayer: string;
  readonly nonce: bigint | undefined;
  readonly transaction: string;
  readonly landedAt: Date;
}

export interface SearchedRange {
  readonly from: SearchMark;
  readonly to: SearchMark;
}

/** What a search of the chain compares with and writes to (settlements/lost-settlements.ts). */
export interface SearchLog {
  /** The marks of those fee payers that have one, the oldest first. */
  marks(network: string, feePayers: readonly string[]): Promise<readonly SearchMark[]>;
  /** Where the search of new fee payers begins. */
  begin(network: string, marks: readonly SearchMark[]): Promise<void>;
  /** Moves on each mark in whose range every nonce is a settlement on record; answers whose. */
  moveOn(network: string, ranges: readonly SearchedRange[]): Promise<ReadonlySet<string>>;
  /** Which of these transactions are on record, and not as failed in a way that leaves the payment valid. */
  onRecord(network: string, transactions: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Records the settlements of a range that are not on record, and moves its mark on: both or neither. False, and nothing done,
   * when another copy moved the mark, a transaction in `known` is not on record any more, or a payment under way has the key of
   * another that landed.
   */
  conclude(network: string, range: SearchedRange, found: Found): Promise<boolean>;
}

export interface Found {
  readonly settlements: readonly SentSettlement[];
  /** Transactions that need no proof, for they are on record. */
  readonly known: readonly string[];
}

export interface FeePayerBalance {
  readonly feePayer: string;
  /** Base units of the network's own token (wei, tinybars); undefined while it could not be read. */
  readonly balance: bigint | undefined;
  readonly unit: string;
  readonly decimals: number;
  /** Below the warning line. */
  readonly low: boolean;
  /** Below the line under which nothing is settled any more. */
  readonly empty: boolean;
  /** So much of the day's budget is spent that what is left is kept for the resource servers that the operator knows. */
  readonly keptForClients: boolean;
  /** Whether its key can be asked, as far as is known. */
  readonly signs: boolean;
  /** Whether this copy looks after it. */
  readonly leased: boolean;
}
