import type { Outcome, Unfinished } from "../scheme.ts";
import { readCopy } from "./copies.ts";
import type { Mirror } from "./mirror.ts";
import { type ChainNeeds, ended, endOf, judge, witnessesOf } from "./outcomes.ts";
import { failureOf } from "./statuses.ts";
import { pause, resubmit } from "./submit.ts";

/**
 * What became of a payment that was claimed: success by the mirror's record or, of what a node took from this process, by a
 * receipt; failure by a receipt too. While it is valid and neither nodes nor mirror know of it, what is signed is sent
 * once more. It never reached the chain when two nodes and a mirror that has come past its end know nothing of it.
 */
export async function find(needs: ChainNeeds, unfinished: Unfinished): Promise<Outcome> {
  const { key: transaction, expiresAt } = unfinished;
  const unknown = (because: string): Outcome => ({ outcome: "unknown", transaction, because });
  if (needs.underway.has(transaction)) return unknown("this copy is sending it");
  const deadlineMs = Date.now() + findMs;
  const copies = unfinished.raw.map(readCopy);
  const expired = Date.now() > expiresAt.getTime();
  const witnesses = witnessesOf(needs, copies).slice(0, 2);
  // Asked before the records, which are then as new.
  const hasEnded = expired && (await hasMirrorPassed(needs.mirror, unfinished));
  const [records, ...receipts] = await Promise.all([
    needs.mirror.records(transaction).catch(() => undefined),
    ...witnesses.map((node) => needs.nodes.receipt(node, transaction, deadlineMs)),
  ]);
  const verdict = records && judge(records, copies, unfinished);
  if (verdict) return ended(needs, transaction, verdict);
  for (const receipt of receipts) {
    const status = endOf(receipt);
    if (status === undefined) continue;
    const failure = failureOf(status);
    if (failure) return ended(needs, transaction, failure);
    if (copies.some(({ hash }) => needs.taken.has(hash))) return ended(needs, transaction, "settled");
  }
  if (expired) {
    const noTrace = records !== undefined && receipts.every((receipt) => receipt === "none");
    if (hasEnded && noTrace) return neverReached(transaction);
    return unknown(
      hasEnded ? "its time is over; not all of mirror and nodes answer" : "its time is over; the mirror is not past it",
    );
  }
  const executed = receipts.some((receipt) => typeof receipt === "object");
  const inHand = receipts.includes("pending") && Date.now() < validStartMsOf(transaction) + nodeHasLostItMs;
  if (executed || inHand) return unknown("a node has it; the mirror does not show it yet");
  if (copies.length === 0) return unknown("no node has it, and nothing that is signed is on record");
  await resubmit(needs, copies, deadlineMs);
  await pause(afterSendingMs, deadlineMs);
  const later = judge(await needs.mirror.records(transaction).catch(() => []), copies, unfinished);
  return later ? ended(needs, transaction, later) : unknown("no node had it; sent once more");
}

function validStartMsOf(transaction: string): number {
  return Number(/@(\d+)\./.exec(transaction)?.[1]) * 1_000;
}

/**
 * Nodes forget a receipt three minutes after consensus, so only a mirror that has come past a payment's end can say that it
 * never landed. `expiresAt` is ten seconds later than the chain executes it: by so much one mirror's copies may differ.
 */
async function hasMirrorPassed(mirror: Mirror, { expiresAt, key }: Unfinished): Promise<boolean> {
  const [feePayer = ""] = key.split("@");
  const seenMs = await mirror.seenUntilMs(feePayer).catch(() => undefined);
  return seenMs !== undefined && seenMs > expiresAt.getTime();
}

function neverReached(transaction: string): Outcome {
  const message = "The transaction never reached the chain and its validity has ended.";
  return { outcome: "failed", reason: "transaction_failed", message, transaction, retryable: false };
}

const findMs = 5_000;
const afterSendingMs = 500;
const nodeHasLostItMs = 20_000;
