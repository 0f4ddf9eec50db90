import { setTimeout } from "node:timers/promises";
import type { EvmChain } from "./chain.ts";
import type { Receipt } from "./transfers.ts";

/**
 * Waits until a transaction is mined and has its confirmations, or the deadline. Undefined means that it is not known yet,
 * also when the node does not answer, or that the payment ended through another transaction (with a raised fee).
 */
export async function waitForReceipt(...asked: Parameters<typeof pollReceipt>): Promise<Receipt | undefined> {
  const [, , , deadline] = asked;
  const answered = new AbortController();
  // A node that hangs keeps no caller past the deadline.
  const late = setTimeout(deadline.getTime() - Date.now(), undefined, { signal: answered.signal }).catch(
    () => undefined,
  );
  try {
    return await Promise.race([pollReceipt(...asked), late]);
  } finally {
    answered.abort();
  }
}

async function pollReceipt(
  chain: EvmChain,
  hash: string,
  confirmations: number,
  deadline: Date,
  endedOtherwise: () => Promise<boolean>,
): Promise<Receipt | undefined> {
  for (
    let pauseMs = firstPauseMs;
    Date.now() + pauseMs < deadline.getTime();
    pauseMs = Math.min(pauseMs * 1.6, pauseMaxMs)
  ) {
    await setTimeout(pauseMs);
    const receipt = await chain.receipt(hash).catch(() => undefined);
    if (receipt && (await isConfirmed(chain, receipt, confirmations))) return receipt;
    if (pauseMs === pauseMaxMs && (await endedOtherwise())) return undefined;
  }
  return undefined;
}

async function isConfirmed(chain: EvmChain, receipt: Receipt, confirmations: number): Promise<boolean> {
  if (confirmations <= 1) return true;
  const latest = await chain.latestBlock().catch(() => undefined);
  return latest !== undefined && latest.number - BigInt(receipt.blockNumber) + 1n >= BigInt(confirmations);
}

const firstPauseMs = 3;
const pauseMaxMs = 300;
