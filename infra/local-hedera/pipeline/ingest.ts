import type { ChainContext } from "../context.ts";
import { Signatures } from "../crypto/signatures.ts";
import { toTinybars, transactionPrice } from "../fees/schedule.ts";
import { type ParsedTransaction, parseTransaction } from "../hapi/codec.ts";
import { accountNumber, type EntityNumber, nanosPerSecond } from "../hapi/ids.ts";
import { ensure, RefusalError, type Status, statusCode } from "../hapi/refusal.ts";
import { keyOfAccount } from "./authority.ts";
import type { Consensus } from "./consensus.ts";
import { checkPurely } from "./pure-checks.ts";

/**
 * What a node answers to a submitted transaction. Everything refused here costs nothing; after OK the fee is charged
 * even if the transaction fails. The order of the checks is that of IngestChecker (hiero-consensus-node).
 */
export function submit(chain: ChainContext, consensus: Consensus, bytes: Buffer, node: EntityNumber): Status {
  if (chain.faults.take("busy", node)) return busyCode;
  try {
    const transaction = parseTransaction(bytes);
    const signatures = new Signatures(transaction.bodyBytes, transaction.sigPairs);
    checkHeader(transaction, signatures, node);
    checkTimeBox(transaction, chain.clock.now());
    ensure(!chain.transactions.isKnownTo(node, transaction.key), "DUPLICATE_TRANSACTION");
    checkPurely(transaction);
    checkPayer(chain, transaction, signatures);
    if (chain.faults.take("loseTx", node)) {
      chain.transactions.lose(transaction.key, node, Date.now() + chain.levels.receiptTtlMs);
    } else {
      consensus.enqueue(transaction, signatures, node);
    }
    return okCode;
  } catch (error) {
    if (error instanceof RefusalError) return error.status;
    throw error;
  }
}

const checkHeader = ({ body, kind }: ParsedTransaction, signatures: Signatures, node: EntityNumber): void => {
  ensure(!signatures.hasAmbiguousPrefixes(), "KEY_PREFIX_MISMATCH");
  ensure(Buffer.byteLength(body.memo) <= memoBytesMax, "MEMO_TOO_LONG");
  ensure(!body.memo.includes("\0"), "INVALID_ZERO_BYTE_IN_STRING");
  ensure(!body.batchKey, "BATCH_KEY_SET_ON_NON_INNER_TRANSACTION");
  ensure(body.maxCustomFees.length === 0 || kind === "consensusSubmitMessage", "MAX_CUSTOM_FEES_IS_NOT_SUPPORTED");
  ensure(accountNumber(body.nodeAccountID) === node, "INVALID_NODE_ACCOUNT");
};

const checkTimeBox = ({ validStart, validSeconds }: ParsedTransaction, now: bigint): void => {
  ensure(validSeconds >= validSecondsMin && validSeconds <= validSecondsMax, "INVALID_TRANSACTION_DURATION");
  const end = validStart + BigInt(validSeconds - nodeBufferSeconds) * nanosPerSecond;
  ensure(end >= now, "TRANSACTION_EXPIRED");
  ensure(validStart <= now, "INVALID_TRANSACTION_START");
};

const checkPayer = (chain: ChainContext, transaction: ParsedTransaction, signatures: Signatures): void => {
  const payer = chain.state.accounts.get(transaction.payer);
  ensure(payer !== undefined, "PAYER_ACCOUNT_NOT_FOUND");
  ensure(!payer.deleted, "PAYER_ACCOUNT_DELETED");
  const key = keyOfAccount(payer, signatures);
  ensure(key !== undefined && signatures.satisfies(key), "INVALID_SIGNATURE");
  const fee = toTinybars(transactionPrice(transaction, signatures.count, chain.state).total, chain.rate);
  ensure(transaction.maxFee >= fee, "INSUFFICIENT_TX_FEE");
  ensure(payer.balance >= fee, "INSUFFICIENT_PAYER_BALANCE");
};

const okCode: Status = statusCode("OK");
const busyCode: Status = statusCode("BUSY");
const memoBytesMax = 100;
const validSecondsMin = 15;
const validSecondsMax = 180;
/** A node wants this much validity left, so that consensus comes before the end (hedera.transaction.minValidityBufferSecs). */
const nodeBufferSeconds = 10;
