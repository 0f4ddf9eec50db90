import { ApiError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Caller } from "../limits/clients.ts";
import { type BalanceReading, spentToday } from "./fee-budget.ts";
import type { FeePayerBalance, Payment, Scheme } from "./scheme.ts";

/** 503: no fee payer can pay or sign, or may. Not the payer's to mend, so nothing is claimed and nothing held against the payer. */
export class NoFeePayerError extends ApiError {
  constructor(network: string, why: keyof typeof reasons) {
    const { reason, retryAfter } = reasons[why];
    super("unavailable", `Nothing is settled on ${network} now: ${reason}.`, {
      headers: { "retry-after": retryAfter },
      body: { network, sent: false },
    });
  }
}

const reasons = {
  empty: { reason: "the fee payers have no money left for network fees", retryAfter: "30" },
  "keys away": { reason: "the fee payers cannot sign", retryAfter: "5" },
  "kept for clients": {
    reason: "what is left of the day's network fees is kept for the resource servers that the operator knows",
    retryAfter: "600",
  },
  "fees too high": { reason: "network fees are higher than the fee payers may pay", retryAfter: "15" },
} as const;

/**
 * Throws NoFeePayerError when the network's fees are too high or no fee payer that may pay for `payment` has money and a key that signs;
 * for a stranger also where its money is kept for others.
 */
export function requireFeePayer(scheme: Scheme, payment: Payment, { isStranger }: Pick<Caller, "isStranger">): void {
  if (scheme.feesTooHigh()) throw new NoFeePayerError(scheme.network, "fees too high");
  const balances = scheme.balances(payment);
  const able = balances.filter(({ empty, signs }) => !empty && signs);
  if (able.some(({ keptForClients }) => !(isStranger && keptForClients))) return;
  if (able.length > 0) throw new NoFeePayerError(scheme.network, "kept for clients");
  throw new NoFeePayerError(scheme.network, balances.every(({ empty }) => empty) ? "empty" : "keys away");
}

/**
 * What one fee payer holds and has spent today, as last read. It is read every 29 seconds, every 4 while it is not known
 * or says that nothing can be paid.
 */
export class FeePayerFunds {
  readonly #feePayer: string;
  readonly #settings: FundsSettings;
  readonly #needs: { readonly db: Queryable; readonly log: Log };
  #balance: bigint | undefined;
  #spentToday = 0n;
  /** What a transaction that the network refused for want of money costs at the time it is asked. */
  #refusedFee: (() => Promise<bigint>) | undefined;
  #readAt = 0;

  constructor(feePayer: string, settings: FundsSettings, needs: { db: Queryable; log: Log }) {
    this.#feePayer = feePayer;
    this.#settings = settings;
    this.#needs = needs;
  }

  get balance(): Omit<FeePayerBalance, "signs" | "leased"> {
    const { unit, decimals, balanceLow, balanceEmpty, dailyBudget } = this.#settings;
    const balance = this.#balance;
    const isOverBudget = dailyBudget > 0n && this.#spentToday >= dailyBudget;
    const keptForClients = dailyBudget > 0n && this.#spentToday >= dailyBudget / 2n;
    return {
      feePayer: this.#feePayer,
      balance,
      unit,
      decimals,
      low: balance !== undefined && balance < balanceLow,
      keptForClients,
      empty: this.#refusedFee !== undefined || (balance !== undefined && (balance < balanceEmpty || isOverBudget)),
    };
  }

  /** The network would not let this fee payer pay `fee`: it is empty until a balance is read that covers what the fee is then. */
  noteRefused(fee: () => Promise<bigint>): void {
    this.#refusedFee = fee;
    this.#readAt = Date.now();
  }

  /** The network refused it for want of money, and no balance that covers it was read since. */
  get isRefused(): boolean {
    return this.#refusedFee !== undefined;
  }

  get isKnown(): boolean {
    return this.#balance !== undefined;
  }

  /** What the copy that reads this fee payer's balance found. */
  share(found: SharedFunds | undefined): void {
    this.#balance = found?.balance;
    if (found) this.#spentToday = found.spentToday;
  }

  /** Reads the balance with `read`, if that is due. What is not known to be of a certain time is no spending. Never throws. */
  async readWhenDue(read: () => Promise<FundsReading | undefined>): Promise<void> {
    const { balance, empty } = this.balance;
    const askedAt = Date.now();
    if (askedAt - this.#readAt < (balance === undefined || empty ? readSoonMs : readEveryMs)) return;
    this.#readAt = askedAt;
    const [reading, refusedFee] = await Promise.all([
      read().catch(() => undefined),
      this.#refusedFee?.().catch(() => undefined),
    ]);
    this.#balance = reading?.balance;
    if (!reading) return;
    // A refusal that came while the balance was being read is newer than the balance.
    const isNewest = this.#readAt === askedAt;
    if (isNewest && refusedFee !== undefined && reading.balance >= refusedFee) this.#refusedFee = undefined;
    if (reading.asOf !== undefined) await this.#countSpending({ balance: reading.balance, asOf: reading.asOf });
  }

  async #countSpending(reading: BalanceReading): Promise<void> {
    const { network } = this.#settings;
    const { db, log } = this.#needs;
    await spentToday(db, network, this.#feePayer, reading).then(
      (today) => {
        this.#spentToday = today;
      },
      (err) => log.warn({ err, network }, "what a fee payer has spent today could not be added up"),
    );
  }
}

/** What a fee payer holds, and as of when; undefined where that is not known for certain. */
export interface FundsReading {
  readonly balance: bigint;
  readonly asOf: bigint | undefined;
}

/** A reading that another copy stored. */
export interface SharedFunds {
  readonly balance: bigint;
  readonly spentToday: bigint;
}

/** Amounts in base units of the network's own token (wei, tinybars). */
interface FundsSettings extends Pick<FeePayerBalance, "unit" | "decimals"> {
  readonly network: string;
  readonly balanceLow: bigint;
  readonly balanceEmpty: bigint;
  /** 0 is no limit. */
  readonly dailyBudget: bigint;
}

const readEveryMs = 29_000;
const readSoonMs = 4_000;
