import type { HederaNodes } from "../../../shared/hedera/nodes.ts";
import { NetworkAwayError, type Refusal, refuse } from "../scheme.ts";
import type { HederaConfig } from "./config.ts";
import { networkFee, networkFeeMax } from "./fees.ts";
import { type Key, namesSigners, type Sendable, signaturesFor, theseKeys } from "./keys.ts";
import { type Mirror, type MirrorAccount, MirrorSilentError, paysAsAgreed } from "./mirror.ts";
import { type HederaPayment, hbar, type SignedBody } from "./payload.ts";
import { invalid } from "./requirements.ts";

/** The rules that need the clock or the chain: G8, H22, H23, G9, G17. What the mirror does not answer for is not judged. */
export class Preflight {
  readonly #mirror: Mirror;
  readonly #nodes: HederaNodes;
  readonly #feeMin: bigint;
  /** Of each payment the body that was verified. */
  readonly #signed = new WeakMap<HederaPayment, Sendable>();
  readonly #balances = new WeakMap<HederaPayment, bigint>();
  /** Payers who have signed a payment, those who did last at its end. */
  readonly #signers = new Set<string>();

  constructor({ transactionFeeMin }: Pick<HederaConfig, "transactionFeeMin">, mirror: Mirror, nodes: HederaNodes) {
    this.#feeMin = transactionFeeMin;
    this.#mirror = mirror;
    this.#nodes = nodes;
  }

  /** The payer's balance as `check` read it. */
  balanceOf(payment: HederaPayment): bigint {
    return this.#balances.get(payment) ?? 0n;
  }

  /** The payer's balance as the mirror has it now, which has all of `shown`. Throws MirrorSilentError. */
  async readBalance({ payer, asset }: HederaPayment, shown: readonly string[]): Promise<bigint> {
    const source =
      asset === hbar ? this.#mirror.account(payer, 0, shown) : this.#mirror.holding(payer, asset, 0, shown);
    return (await source)?.balance ?? 0n;
  }

  async check(payment: HederaPayment, signed = () => {}): Promise<Refusal | undefined> {
    return checkWindow(payment, Date.now()) ?? this.#ifReadable(() => this.#checkOnChain(payment, signed));
  }

  /** H22 alone. Throws MirrorSilentError. */
  async checkSignature(payment: HederaPayment): Promise<Refusal | undefined> {
    return this.#signed.has(payment) ? undefined : this.#checkSignatures(payment);
  }

  /** What to send of a payment: the body that `check` verified, and up to two more that are signed as well. */
  async sendables(payment: HederaPayment): Promise<readonly Sendable[] | Refusal> {
    const refusal = this.#signed.has(payment)
      ? undefined
      : await this.#ifReadable(() => this.#checkSignatures(payment));
    if (refusal) return refusal;
    const checked = this.#signed.get(payment) as Sendable;
    const bodies = new Map(payment.bodies.map((body) => [body.node as string, body]));
    const order = this.#nodes.inOrder([...bodies.keys()]);
    // By the same keys: what other signatures would cost was not looked at.
    const key = theseKeys(checked.signatures);
    const others = order.filter((node) => node !== checked.node).slice(0, othersMax);
    const found = await Promise.all(others.map((node) => sendableOf(bodies.get(node) as SignedBody, key)));
    const signed = new Map([checked, ...found].flatMap((one) => (one ? [[one.node, one]] : [])));
    return order.flatMap((node) => signed.get(node) ?? []);
  }

  async #checkOnChain(payment: HederaPayment, signed: () => void): Promise<Refusal | undefined> {
    // Signatures first: they cost a cached read, and keep what is not signed from costing more.
    const unsigned = await this.#checkSignatures(payment);
    if (unsigned) return unsigned;
    signed();
    const [unused, fee, payer, payTo] = await Promise.all([
      this.#checkUnused(payment),
      this.#checkFee(payment),
      this.#checkPayer(payment),
      this.#checkPayTo(payment),
    ]);
    return unused ?? fee ?? payer ?? payTo ?? this.#checkToken(payment);
  }

  /** H22. A key that may have been replaced since it was read is read once more before it refuses anything. */
  async #checkSignatures(payment: HederaPayment): Promise<Refusal | undefined> {
    // Any caller can name payers who never signed: what a mirror that is asked too much still answers is for those who did.
    if (this.#mirror.isExhausted && !this.#signers.has(payment.payer))
      throw new MirrorSilentError(`/api/v1/accounts/${payment.payer}`, new Error("it is asked too much"));
    const account = await this.#mirror.account(payment.payer, keptMs);
    if (account && (await this.#keepSigned(payment, account))) return undefined;
    const current = await this.#mirror.account(payment.payer, justReadMs);
    if (current === undefined) return invalid("signature_invalid", "signature_unverifiable: the payer has no account.");
    if (current !== account && (await this.#keepSigned(payment, current))) return undefined;
    return current.key.kind === "unusable"
      ? invalid("signature_invalid", "signature_unverifiable: the payer's account has no key that can sign.")
      : invalid(
          "signature_invalid",
          "signature_invalid: the payer's key has not signed the first body, or other bodies name other signers.",
        );
  }

  /**
   * Verifies one body, the same one whenever a payment is asked about, since a settlement must find what a verification found. The others
   * say the same and name the same signers; they are verified when they are to be sent.
   */
  async #keepSigned(payment: HederaPayment, { key }: MirrorAccount): Promise<boolean> {
    const [checked, ...others] = payment.bodies;
    const sendable = await sendableOf(checked as SignedBody, key);
    if (!sendable || !others.every((body) => namesSigners(body, sendable.signatures))) return false;
    this.#signed.set(payment, sendable);
    this.#remember(payment.payer);
    return true;
  }

  #remember(payer: string): void {
    this.#signers.delete(payer);
    this.#signers.add(payer);
    if (this.#signers.size > signersMax) this.#signers.delete(this.#signers.keys().next().value as string);
  }

  /**
   * The chain executes an id once, and remembers it also where our database does not. What began just now is not asked
   * about: a node refuses an id that it has.
   */
  async #checkUnused(payment: HederaPayment): Promise<Refusal | undefined> {
    if (Date.now() - payment.validStartMs < youngMs) return undefined;
    return this.#findExecuted(payment);
  }

  /**
   * Where the mirror has nothing of a payment that is too late, the chain has nothing: when the mirror has come past its end,
   * or nodes that would still know say so. Throws NetworkAwayError when neither is so yet.
   */
  async findSettled(payment: HederaPayment): Promise<Refusal | undefined> {
    const { key, feePayer, validStartMs, expiresAt } = payment;
    // Asked before the records, which are then as new.
    const seenMs = (await this.#mirror.seenUntilMs(feePayer)) ?? 0;
    const deadlineMs = Date.now() + receiptMs;
    const witnesses = this.#nodes.inOrder().slice(0, 2);
    const [executed, ...receipts] = await Promise.all([
      this.#findExecuted(payment),
      ...witnesses.map((node) => this.#nodes.receipt(node, key, deadlineMs)),
    ]);
    if (executed || seenMs > expiresAt.getTime()) return executed;
    const wouldKnow = Date.now() - validStartMs < receiptsKeptMs && receipts.length > 1;
    if (wouldKnow && receipts.every((receipt) => receipt === "none")) return undefined;
    throw new NetworkAwayError("the mirror has not come past the payment's end");
  }

  async #findExecuted(payment: HederaPayment): Promise<Refusal | undefined> {
    const executed = (await this.#mirror.records(payment.key)).filter(({ result }) => result === "SUCCESS");
    if (executed.length === 0) return undefined;
    if (!executed.some((record) => paysAsAgreed(record, payment))) {
      return refuse("invalid_transaction_state", "Another transaction has used this payment's id.");
    }
    const message = `The chain has executed this payment: ${payment.key}.`;
    return { ...refuse("already_settled", message), transaction: payment.key };
  }

  /** G9 from below: a node refuses what allows less than it charges, so it could never settle. The fee has a bound of its own. */
  async #checkFee(payment: HederaPayment): Promise<Refusal | undefined> {
    const tinycentsPerTinybar = await this.#mirror.exchangeRate(rateKeptMs).catch(() => undefined);
    const price = networkFee(payment, this.#signed.get(payment) as Sendable);
    if (price > networkFeeMax) {
      return failed("too_many_signatures: with so many signatures the network fee is more than the facilitator pays.");
    }
    const least =
      tinycentsPerTinybar === undefined
        ? this.#feeMin
        : BigInt(Math.ceil((price / tinycentsPerTinybar) * rateMayRiseTo));
    if (payment.feeMax >= least) return undefined;
    const message = `The maximum transaction fee is ${payment.feeMax} tinybars; the network charges up to ${least}.`;
    return invalid("max_fee", message);
  }

  /** H23: the payer can pay, now. */
  async #checkPayer(payment: HederaPayment): Promise<Refusal | undefined> {
    const { payer, asset, amount } = payment;
    if (asset === hbar) {
      const account = await this.#mirror.account(payer, 0);
      if (!account || account.deleted) return failed("payer_deleted: the payer's account does not exist any more.");
      this.#balances.set(payment, account.balance);
      return account.balance < amount ? poor(account.balance) : undefined;
    }
    const [account, holding] = await Promise.all([
      this.#mirror.account(payer, keptMs),
      this.#mirror.holding(payer, asset, 0),
    ]);
    if (!account || account.deleted) return failed("payer_deleted: the payer's account does not exist any more.");
    if (!holding || holding.balance < amount) return poor(holding?.balance ?? 0n);
    this.#balances.set(payment, holding.balance);
    if (holding.frozen === "FROZEN") return failed("payer_frozen: the payer is frozen for this token.");
    if (holding.kyc === "REVOKED") return failed("payer_kyc_not_granted: the payer lacks KYC for this token.");
    return undefined;
  }

  /** H23: payTo can be paid, without its signature and at no extra cost. */
  async #checkPayTo({ payTo, asset }: HederaPayment): Promise<Refusal | undefined> {
    const receivable = ({ deleted, receiverSignatureRequired }: MirrorAccount) =>
      !deleted && !receiverSignatureRequired;
    const [account, holding] = await Promise.all([
      this.#lasting((ageMs) => this.#mirror.account(payTo, ageMs), receivable),
      asset === hbar
        ? undefined
        : this.#lasting(
            (ageMs) => this.#mirror.holding(payTo, asset, ageMs),
            ({ frozen, kyc }) => frozen !== "FROZEN" && kyc !== "REVOKED",
          ),
    ]);
    if (!account || account.deleted) return failed("pay_to_not_found: payTo's account does not exist.");
    if (account.receiverSignatureRequired) {
      return failed("pay_to_signature_required: payTo must sign what it receives, which a payment cannot offer.");
    }
    if (asset === hbar) return undefined;
    if (!holding)
      return failed("pay_to_not_associated: payTo must associate itself with the token; free slots do not do.");
    if (holding.frozen === "FROZEN") return failed("pay_to_frozen: payTo is frozen for this token.");
    if (holding.kyc === "REVOKED") return failed("pay_to_kyc_not_granted: payTo lacks KYC for this token.");
    return undefined;
  }

  /** G17: a token with custom fees would credit payTo with less than the amount. */
  async #checkToken({ asset, expectedDecimals }: HederaPayment): Promise<Refusal | undefined> {
    if (asset === hbar) return undefined;
    const token = await this.#lasting(
      (ageMs) => this.#mirror.token(asset, ageMs),
      ({ fungible, customFees, paused, deleted }) => fungible && !customFees && !paused && !deleted,
    );
    if (!token || token.deleted) return failed("token_not_found: the token does not exist.");
    if (!token.fungible) return failed("token_not_fungible: the token is not fungible.");
    if (token.customFees) return failed("token_has_custom_fees: the token's own fees would reduce the payment.");
    if (token.paused) return failed("token_paused: the token is paused.");
    if (expectedDecimals !== undefined && expectedDecimals !== token.decimals) {
      return failed(
        `token_decimals: the token has ${token.decimals} decimals, the transaction says ${expectedDecimals}.`,
      );
    }
    return undefined;
  }

  /** Good news is kept for a minute, bad news is asked for again. */
  async #lasting<T>(read: (ageMaxMs: number) => Promise<T | undefined>, isGood: (value: T) => boolean) {
    const kept = await read(keptMs);
    return kept !== undefined && isGood(kept) ? kept : read(justReadMs);
  }

  async #ifReadable(check: () => Promise<Refusal | undefined>): Promise<Refusal | undefined> {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof MirrorSilentError)) throw error;
      return refuse("unexpected_verify_error", "unverifiable: the mirror does not answer at the moment; try again.");
    }
  }
}

async function sendableOf(body: SignedBody, key: Key): Promise<Sendable | undefined> {
  const signatures = await signaturesFor(key, body);
  return signatures && { node: body.node as string, bytes: body.bytes, signatures };
}

/** G8: a node takes a transaction up to 10 s before its end; the rest is for sending it. */
function checkWindow({ validStartMs, durationSeconds }: HederaPayment, nowMs: number): Refusal | undefined {
  const remainingSeconds = Math.floor((validStartMs + durationSeconds * 1_000 - nowMs) / 1_000);
  if (remainingSeconds < nodeBufferSeconds + marginSeconds) {
    const message = `The transaction is valid for ${remainingSeconds} more seconds; ${nodeBufferSeconds + marginSeconds} are needed.`;
    return { ...invalid("transaction_expired", message), late: true };
  }
  if (validStartMs > nowMs + skewMs) return invalid("transaction_expired", "The transaction is not valid yet.");
  return undefined;
}

const failed = (message: string) => invalid("preflight_failed", message);
const poor = (balance: bigint) => failed(`insufficient_balance: the payer holds ${balance} base units.`);

const othersMax = 2;
const signersMax = 50_000;
const youngMs = 20_000;
const receiptMs = 2_000;
/** Nodes keep a receipt for 180 s from consensus, by their clocks. */
const receiptsKeptMs = 150_000;
const rateKeptMs = 600_000;
/** The network changes its exchange rate every hour. */
const rateMayRiseTo = 1.1;
const keptMs = 60_000;
const justReadMs = 1_000;
const nodeBufferSeconds = 10;
const marginSeconds = 15;
const skewMs = 2_000;
