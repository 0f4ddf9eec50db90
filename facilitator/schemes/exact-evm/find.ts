import { NetworkAwayError, type Outcome, type Unfinished } from "../scheme.ts";
import type { Block, EvmChain } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { authorizationOf } from "./payload.ts";
import { RpcError } from "./rpc.ts";
import { transactionHash } from "./signer.ts";
import { paysAsAgreed, type Receipt, succeeded } from "./transfers.ts";

/**
 * What became of a payment that was claimed, by any account's transaction: first by the receipts of all that we ever
 * signed for it, then by the token's own events. It has failed once the chain shows, at one block as deep as is asked for, the
 * authorization unspent and our transaction mined, displaced or too late. Else the stored bytes are sent again, which is harmless.
 * Nodes behind one address do not know the same: what is not there yet is unknown. Throws RpcUnreachableError.
 */
export async function findOutcome(
  chain: EvmChain,
  config: Pick<EvmConfig, "confirmations">,
  unfinished: Asked,
): Promise<Outcome> {
  const unknown = (because: string): Outcome => ({ outcome: "unknown", transaction: unfinished.transaction, because });
  const current = [unfinished.transaction, ...unfinished.raw.map(transactionHash)];
  const ours = new Set([...current, ...unfinished.signedTransactions].filter((hash) => hash !== ""));
  const block = await chain.latestBlock();
  const confirmed = await chain.blockBefore(block, config.confirmations - 1);
  const { asset, payer, nonce } = authorizationOf(unfinished.key);
  const [isSpent, mined, ...found] = await Promise.all([
    chain.isNonceUsed(asset, payer, nonce, confirmed.number),
    unfinished.nonce === undefined ? 0n : chain.transactionCount(unfinished.feePayer, confirmed.number),
    ...[...ours].map((hash) => chain.receipt(hash)),
  ]);
  const receipts = found.filter((receipt) => receipt !== undefined);
  const receipt = receipts.find(succeeded) ?? receipts.find((one) => current.includes(one.transactionHash));
  if (receipt && !isConfirmed(receipt, block, config)) return unknown("its transaction is mined, not yet deep enough");
  if (receipt && succeeded(receipt)) return outcomeOfSuccess(receipt, unfinished);
  if (isSpent) {
    const spending = await chain.spendingOf(asset, payer, nonce, unfinished.createdAt);
    if (!spending) return unknown("its nonce is used; the node does not show yet by which transaction");
    if (!isConfirmed(spending, block, config)) return unknown("what used its nonce is mined, not yet deep enough");
    return spentBy(spending, ours, unfinished, receipt !== undefined);
  }
  if (receipt) return reverted(receipt);
  const { transaction, raw, expiresAt } = unfinished;
  if (Number(confirmed.timestampSeconds) * 1_000 >= expiresAt.getTime()) {
    const message = "The authorization ran out before the transaction was mined.";
    return failed("invalid_exact_evm_payload_authorization_valid_before", message, transaction, false);
  }
  if (unfinished.nonce !== undefined && mined > unfinished.nonce) {
    const message = "The transaction was displaced by another one of the fee payer; nothing moved.";
    return failed("invalid_exact_evm_transaction_failed", message, transaction, true);
  }
  await sendAgain(chain, raw);
  return unknown(
    raw.length > 0 ? "not mined yet; sent once more" : "not mined, and nothing that is signed is on record",
  );
}

/** The outcome of a transaction that was just seen to have reverted; waits until the node has got that far or the deadline comes. */
export async function outcomeOfRevert(
  chain: EvmChain,
  config: EvmConfig,
  payment: Pick<Unfinished, "key" | "payTo" | "amount" | "expiresAt" | "transaction" | "signedTransactions">,
  deadline: Date,
): Promise<Outcome> {
  const asked = { ...payment, raw: [], feePayer: "", nonce: undefined, createdAt: new Date() };
  for (;;) {
    const outcome = await findOutcome(chain, config, asked).catch((error): Outcome => {
      if (error instanceof NetworkAwayError || error instanceof RpcError) {
        return { outcome: "unknown", transaction: payment.transaction };
      }
      throw error;
    });
    if (outcome.outcome !== "unknown" || Date.now() + pauseMs >= deadline.getTime()) return outcome;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** A mined transaction of ours is a settlement only if the token says that it made the agreed transfer. */
export function outcomeOfSuccess(receipt: Receipt, payment: Pick<Asked, "key" | "payTo" | "amount">): Outcome {
  const transaction = receipt.transactionHash;
  if (paysAsAgreed(receipt, payment)) return { outcome: "settled", transaction };
  const message = "The transaction was mined but the token did not report the agreed transfer.";
  const reason = "invalid_exact_evm_transfer_event_mismatch";
  return { ...failed(reason, message, transaction, false), charged: true };
}

/** Ours whose receipt was late; another account's, which paid as agreed or did not; or cancelled by the payer. */
function spentBy(spending: Receipt, ours: ReadonlySet<string>, unfinished: Asked, charged: boolean): Outcome {
  const transaction = spending.transactionHash;
  if (ours.has(transaction)) return outcomeOfSuccess(spending, unfinished);
  if (paysAsAgreed(spending, unfinished)) return { outcome: "settled", transaction, byAnother: true };
  const message = "The authorization's nonce was used or cancelled by another transaction.";
  return { ...failed("invalid_exact_evm_nonce_already_used", message, unfinished.transaction, false), charged };
}

function reverted({ transactionHash: transaction }: Receipt): Outcome {
  const message = "The transaction was mined and reverted; no money moved.";
  return { ...failed("invalid_transaction_state", message, transaction, true), charged: true };
}

/** Not when it is newer than the block that everything else was asked at. */
function isConfirmed(
  { blockNumber }: Receipt,
  { number }: Block,
  { confirmations }: Pick<EvmConfig, "confirmations">,
): boolean {
  return number - BigInt(blockNumber) + 1n >= BigInt(Math.max(1, confirmations));
}

const pauseMs = 200;

/** The newest pays the most; the node refuses the others. */
async function sendAgain(chain: EvmChain, raw: readonly Buffer[]): Promise<void> {
  const newest = raw.at(-1);
  await (newest && chain.send(newest))?.catch((error) => {
    if (!(error instanceof RpcError)) throw error;
  });
}

export type Asked = Pick<
  Unfinished,
  | "key"
  | "payTo"
  | "amount"
  | "feePayer"
  | "transaction"
  | "signedTransactions"
  | "raw"
  | "nonce"
  | "expiresAt"
  | "createdAt"
>;
type Failed = Extract<Outcome, { outcome: "failed" }>;

function failed(reason: string, message: string, transaction: string, retryable: boolean): Failed {
  return { outcome: "failed", reason, message, transaction, retryable };
}
