import type { EvmConfig } from "../../config.ts";
import { transactionHash } from "../../fee-payers/evm-signer.ts";
import type { Outcome, Unfinished } from "../scheme.ts";
import { type EvmChain, outcomeOf, type Receipt } from "./chain.ts";
import type { Hex } from "./hex.ts";
import { RpcError } from "./rpc.ts";

/**
 * What became of a payment that was sent: by the receipt of any of its transactions (a raised fee makes another one
 * under the same nonce). Else the stored bytes are sent again, which is harmless, until the authorization is spent or
 * has run out, or its account nonce was used by something else. Throws RpcUnreachable when the node does not answer.
 */
export async function findOutcome(chain: EvmChain, config: EvmConfig, unfinished: Unfinished): Promise<Outcome> {
  const unknown: Outcome = { outcome: "unknown", transaction: unfinished.transaction };
  // Asked before the receipts: whatever was mined until then has one.
  const { number, timestampSeconds } = await chain.latestBlock();
  const [asset, from, nonce] = unfinished.key.split(":") as [string, Hex, Hex];
  const [spent, mined] = await Promise.all([
    chain.isNonceUsed(asset, from, nonce),
    chain.transactionCount(unfinished.feePayer, "latest"),
  ]);
  const receipt = await anyReceipt(chain, unfinished.raw);
  if (receipt) {
    const confirmed = number - BigInt(receipt.blockNumber) + 1n >= BigInt(config.confirmations);
    return confirmed ? outcomeOf(receipt, unfinished) : unknown;
  }
  const { transaction, raw, expiresAt } = unfinished;
  const displaced = unfinished.nonce !== undefined && mined > unfinished.nonce;
  const overdue = Number(timestampSeconds) * 1_000 > unfinished.expiresAt.getTime() + lagMaxMs;
  // Our account nonce and the authorization are both used and there is no receipt: most likely it is only late.
  if (spent && displaced && !overdue) return unknown;
  if (spent) return spentBy(await chain.spendingOf(asset, from, nonce), unfinished);
  if (Number(timestampSeconds) * 1_000 >= expiresAt.getTime()) {
    const message = "The authorization ran out before the transaction was mined.";
    return failed("invalid_exact_evm_payload_authorization_valid_before", message, transaction, false);
  }
  if (displaced) {
    const message = "The transaction was displaced by another one of the fee payer; nothing moved.";
    return failed("invalid_exact_evm_transaction_failed", message, transaction, true);
  }
  await sendAgain(chain, raw);
  return unknown;
}

/** Nodes behind one address do not know the same; after this long they do. */
const lagMaxMs = 600_000;

/** Ours whose receipt is late; somebody else's, who then did what was agreed or did not; or cancelled by the payer. */
function spentBy(spending: Receipt | undefined, unfinished: Unfinished): Outcome {
  const { transaction, raw } = unfinished;
  if (spending && raw.some((bytes) => transactionHash(bytes) === spending.transactionHash)) {
    return { outcome: "unknown", transaction };
  }
  if (spending && outcomeOf(spending, unfinished).outcome === "settled") {
    const message = "Somebody else submitted this payment before us.";
    return failed("already_settled", message, spending.transactionHash, false);
  }
  const message = "The authorization's nonce was used or cancelled by another transaction.";
  return failed("invalid_exact_evm_nonce_already_used", message, transaction, false);
}

async function anyReceipt(chain: EvmChain, raw: readonly Buffer[]): Promise<Receipt | undefined> {
  const receipts = await Promise.all(raw.map((bytes) => chain.receipt(transactionHash(bytes))));
  return receipts.find((receipt) => receipt !== undefined);
}

/** The newest pays the most; the node refuses the others. */
async function sendAgain(chain: EvmChain, raw: readonly Buffer[]): Promise<void> {
  await chain.send(raw.at(-1) as Buffer).catch((error) => {
    if (!(error instanceof RpcError)) throw error;
  });
}

function failed(reason: string, message: string, transaction: string, retryable: boolean): Outcome {
  return { outcome: "failed", reason, message, transaction, retryable };
}
