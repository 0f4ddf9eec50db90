import type { proto } from "@hiero-ledger/proto";
import type { ChainContext } from "../context.ts";
import type { Key } from "../crypto/keys.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { type Price, toTinybars } from "../fees/schedule.ts";
import type { ParsedTransaction } from "../hapi/codec.ts";
import { accountNumber, type EntityNumber, tokenNumber } from "../hapi/ids.ts";
import { ensure, type StatusName } from "../hapi/refusal.ts";
import type { Account, Token } from "../state/entities.ts";
import { Journal } from "../state/journal.ts";
import type { ChainState } from "../state/state.ts";
import type { Outcome, TokenMove } from "../state/transactions.ts";
import { keyOfAccount } from "./authority.ts";

/**
 * One transaction at consensus: what its handler may read, check and change. Changes go through the journal and are
 * noted in the outcome at the same time; `undo` takes both back, all but the fee charged before the handler ran.
 */
export class Handling {
  readonly chain: ChainContext;
  readonly transaction: ParsedTransaction;
  readonly signatures: Signatures;
  readonly consensusAt: bigint;
  journal: Journal;
  outcome: Outcome;
  #hbarChanges = new Map<EntityNumber, bigint>();
  #feeBeforeHandler: { fee: bigint; changes: Map<EntityNumber, bigint> } = { fee: 0n, changes: new Map() };
  readonly #node: EntityNumber;

  constructor(fields: {
    chain: ChainContext;
    transaction: ParsedTransaction;
    signatures: Signatures;
    consensusAt: bigint;
    node: EntityNumber;
  }) {
    this.chain = fields.chain;
    this.transaction = fields.transaction;
    this.signatures = fields.signatures;
    this.consensusAt = fields.consensusAt;
    this.#node = fields.node;
    this.journal = new Journal(this.chain.history);
    this.outcome = { fee: 0n, hbar: [] };
  }

  get state(): ChainState {
    return this.chain.state;
  }

  get payer(): Account {
    return this.state.accounts.get(this.transaction.payer)!;
  }

  /** Charges the fee for good: it stays charged when the handler fails. False when the payer could not pay it all. */
  chargeFee({ node, total }: Price): boolean {
    const owed = toTinybars(total, this.chain.rate);
    const paid = atMost(owed, this.payer.balance);
    this.#payFee(paid, atMost(toTinybars(node, this.chain.rate), paid));
    this.#feeBeforeHandler = { fee: paid, changes: new Map(this.#hbarChanges) };
    this.journal = new Journal(this.chain.history);
    return paid === owed;
  }

  /** Adds to the fee for what the handler had to create; undone with the rest if the transaction fails. */
  chargeExtra(tinycents: bigint): void {
    const amount = toTinybars(tinycents, this.chain.rate);
    ensure(this.outcome.fee + amount <= this.transaction.maxFee, "INSUFFICIENT_TX_FEE");
    ensure(this.payer.balance >= amount, "INSUFFICIENT_PAYER_BALANCE");
    this.#payFee(amount, 0n);
  }

  undo(): void {
    this.journal.rollback();
    this.outcome = { fee: this.#feeBeforeHandler.fee, hbar: [] };
    this.#hbarChanges = this.#feeBeforeHandler.changes;
  }

  finish(): Outcome {
    this.outcome.hbar = [...this.#hbarChanges].filter(([, amount]) => amount !== 0n);
    return this.outcome;
  }

  /** The account an id or alias names. Throws INVALID_ACCOUNT_ID or ACCOUNT_DELETED. */
  account(id: proto.IAccountID | null | undefined, missing: StatusName = "INVALID_ACCOUNT_ID"): Account {
    const account = this.findAccount(id);
    ensure(account !== undefined, missing);
    ensure(!account.deleted, "ACCOUNT_DELETED");
    return account;
  }

  findAccount(id: proto.IAccountID | null | undefined): Account | undefined {
    const number = accountNumber(id);
    if (number !== undefined) return this.state.accounts.get(number);
    return id?.alias?.length ? this.state.accountByAlias(id.alias) : undefined;
  }

  /** The token an id names, alive and, unless said otherwise, not paused. */
  token(id: proto.ITokenID | EntityNumber | null | undefined, { evenPaused = false } = {}): Token {
    const token = this.state.tokens.get((typeof id === "number" ? id : tokenNumber(id)) ?? 0);
    ensure(token !== undefined, "INVALID_TOKEN_ID");
    ensure(!token.deleted, "TOKEN_WAS_DELETED");
    ensure(evenPaused || !token.paused, "TOKEN_IS_PAUSED");
    return token;
  }

  requireKey(key: Key | null | undefined, status: StatusName = "INVALID_SIGNATURE"): void {
    ensure(!!key && this.signatures.satisfies(key), status);
  }

  /** The account's own signature; a hollow account gets its key by it. */
  requireAccount(account: Account): void {
    const key = keyOfAccount(account, this.signatures);
    this.requireKey(key);
    if (!account.key) this.journal.set(account, "key", key!);
  }

  changeHbar(account: Account, amount: bigint, tooLittle: StatusName = "INSUFFICIENT_ACCOUNT_BALANCE"): void {
    ensure(account.balance + amount >= 0n, tooLittle);
    this.journal.set(account, "balance", account.balance + amount);
    this.#hbarChanges.set(account.number, (this.#hbarChanges.get(account.number) ?? 0n) + amount);
  }

  noteTokenMove(move: TokenMove): void {
    this.outcome.tokens ??= [];
    const before = this.outcome.tokens.find(({ token, account }) => token === move.token && account === move.account);
    if (before) before.amount += move.amount;
    else this.outcome.tokens.push(move);
  }

  #payFee(amount: bigint, nodeShare: bigint): void {
    this.changeHbar(this.payer, -amount);
    this.changeHbar(this.state.accounts.get(this.#node)!, nodeShare);
    this.changeHbar(this.state.accounts.get(feeCollectorNumber)!, amount - nodeShare);
    this.outcome.fee += amount;
  }
}

const atMost = (amount: bigint, limit: bigint): bigint => {
  if (amount > limit) return limit;
  return amount;
};

/** The network's own account: network and service fees go there. */
export const feeCollectorNumber = 98;
