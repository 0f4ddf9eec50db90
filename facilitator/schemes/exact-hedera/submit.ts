import { wasRolledBack } from "../../../shared/postgres.ts";
import { within } from "../../../shared/within.ts";
import { KeyAwayError } from "../../signing/signing-key.ts";
import { NoFeePayerError } from "../fee-payers.ts";
import { type Broadcast, type Claim, type Claiming, isRefusal, type Outcome, type Refusal } from "../scheme.ts";
import { type Copy, signCopy } from "./copies.ts";
import { type ChainNeeds, ended, endOf, judge, witnessesOf } from "./outcomes.ts";
import type { HederaPayment } from "./payload.ts";
import { type Failure, failureOf, verdictOfPrecheck } from "./statuses.ts";

/**
 * Signs a claimed payment as its fee payer, stores what was signed, sends it and waits for its receipt. The same bytes
 * may go to several nodes: the chain executes a transaction id once. What is not certain is unknown. Throws NoFeePayerError.
 */
export async function submit(
  needs: ChainNeeds,
  payment: HederaPayment,
  claim: Claim,
  deadline: Date,
): Promise<Outcome> {
  const copies = await sign(needs, payment);
  if (isRefusal(copies)) return notSent(copies.refused, copies.message);
  const recordedMs = Date.now();
  try {
    const held = await needs.store.recordBroadcast(claim, broadcastOf(payment, copies));
    if (!held) return notSent("transaction_failed", "The claim on this payment ran out before it was sent.");
  } catch (error) {
    // The row may or may not say that this was sent; the reconciler reads what it says and acts on it.
    needs.log.error({ err: error, paymentKey: payment.key }, "a signed payment could not be recorded and was not sent");
    return { outcome: "unknown", transaction: payment.key };
  }
  return send(needs, payment, { claim, copies, recordedMs }, deadline);
}

/** Submits a payment that has no claim: it is claimed together with what is signed for it. */
export async function claimAndSubmit(
  needs: ChainNeeds,
  payment: HederaPayment,
  claiming: Claiming,
  deadline: Date,
): Promise<Outcome | "unclaimed"> {
  const copies = await sign(needs, payment);
  if (isRefusal(copies)) return "unclaimed";
  const recordedMs = Date.now();
  const { wanted } = claiming;
  const claim = await needs.store
    .claimOneSigned({ wanted, broadcast: broadcastOf(payment, copies) })
    .catch((error: unknown) => {
      // Else it may be stored, and the reconciler's.
      if (!wasRolledBack(error)) throw error;
      return undefined;
    });
  if (!claim) return "unclaimed";
  claiming.claim = claim;
  return send(needs, payment, { claim, copies, recordedMs }, deadline);
}

/** Throws NoFeePayerError. */
async function sign(
  { preflight, feePayers, network }: ChainNeeds,
  payment: HederaPayment,
): Promise<readonly Copy[] | Refusal> {
  const sendables = await preflight.sendables(payment);
  if (isRefusal(sendables)) return sendables;
  const signing = sendables.map((sendable) => signCopy(feePayers, payment.feePayer, sendable));
  return Promise.all(signing).catch((error) => {
    throw error instanceof KeyAwayError ? new NoFeePayerError(network, "keys away") : error;
  });
}

function broadcastOf({ key, feePayer }: HederaPayment, copies: readonly Copy[]): Broadcast {
  return { transaction: key, raw: copies.map((copy) => copy.raw), feePayer };
}

/** Sends what was signed and stored. Throws NoFeePayerError. */
async function send(
  needs: ChainNeeds,
  payment: HederaPayment,
  { claim, copies, recordedMs }: Stored,
  deadline: Date,
): Promise<Outcome> {
  const transaction = payment.key;
  needs.underway.add(transaction);
  try {
    const submitted = await submitToNodes(needs, copies, Math.min(deadline.getTime(), recordedMs + submittingMs));
    if (submitted === "duplicate" && !(await forgetCopies(needs, payment, claim)))
      return { outcome: "unknown", transaction };
    if (typeof submitted === "string") return await awaitOutcome(needs, payment, copies, deadline.getTime(), submitted);
    if (submitted.unpaid) needs.feePayers.noteEmpty(payment.feePayer);
    if (!(await needs.store.takeBackUnsent(claim, transaction))) return { outcome: "unknown", transaction };
    // Which no node holds against the transaction: as if nothing had been signed.
    if (submitted.unpaid) throw new NoFeePayerError(needs.network, "empty");
    return ended(needs, transaction, submitted);
  } finally {
    needs.underway.delete(transaction);
  }
}

interface Stored {
  readonly claim: Claim;
  readonly copies: readonly Copy[];
  /** Right before it was stored. */
  readonly recordedMs: number;
}

/**
 * The chain had the id before anything was sent: a later search for the payment must not take our copies for the chain's, even if
 * their bytes are equal. False when another daemon may have sent them.
 */
async function forgetCopies({ store }: ChainNeeds, { key, feePayer }: HederaPayment, claim: Claim): Promise<boolean> {
  if (!(await store.takeBackUnsent(claim, key))) return false;
  return store.recordBroadcast(claim, { transaction: key, raw: [], feePayer });
}

/**
 * Submits the copies in turn until a node takes one. A node that falls silent may have it, or have refused it for an id that
 * another transaction has: from then on no answer but "accepted" is final, and only the chain can tell. "duplicate" is a node
 * that has the id though nothing of ours was sent.
 */
async function submitToNodes(
  { nodes, taken }: ChainNeeds,
  copies: readonly Copy[],
  deadlineMs: number,
): Promise<Submitted | Failure> {
  let ambiguous = false;
  for (let round = 0; round < roundsMax; round += 1) {
    if (round > 0) await pause(250 * 2 ** (round - 1), deadlineMs);
    let unpaid: Failure | undefined;
    for (const { node, raw, hash } of copies) {
      if (Date.now() >= deadlineMs) break;
      const answer = await nodes.send(node, "transfer", raw, deadlineMs);
      if (answer === "unsent") continue;
      if (answer === "silent") {
        ambiguous = true;
        continue;
      }
      const verdict = verdictOfPrecheck(answer);
      if (verdict === "try again") continue;
      if (verdict === "accepted") remember(taken, hash);
      // A node that has been away may know an older balance than the others.
      if (typeof verdict === "object" && verdict.unpaid) {
        unpaid = verdict;
        continue;
      }
      return verdict !== "accepted" && ambiguous ? "ambiguous" : verdict;
    }
    // Receipts answer sooner than more rounds do.
    if (ambiguous) return "ambiguous";
    if (unpaid) return unpaid;
  }
  return {
    reason: "transaction_failed",
    message: "No node took the transaction: all are busy or away. The same payment can be settled again.",
    retryable: true,
  };
}

/** Sends it until a node takes it, and answers whether one did; one that has it already says so and changes nothing. */
export async function resubmit(
  { nodes, taken }: ChainNeeds,
  copies: readonly Copy[],
  deadlineMs: number,
): Promise<boolean> {
  for (const { node, raw, hash } of copies) {
    const answer = await nodes.send(node, "transfer", raw, deadlineMs);
    if (typeof answer !== "number" || verdictOfPrecheck(answer) !== "accepted") continue;
    remember(taken, hash);
    return true;
  }
  return false;
}

type Submitted = "accepted" | "ambiguous" | "duplicate";

/**
 * Asks the nodes in turn, now and then the mirror, until one of them knows the end or the deadline comes. A receipt names
 * no more than the id; where no node took ours, and the id may so be another transaction's, only the mirror's record of a
 * success is believed.
 */
async function awaitOutcome(
  needs: ChainNeeds,
  payment: HederaPayment,
  copies: readonly Copy[],
  deadlineMs: number,
  submitted: Submitted,
): Promise<Outcome> {
  const { nodes, mirror } = needs;
  const transaction = payment.key;
  // Where the chain had the id before anything was sent, what it has is not ours, be it the same bytes.
  const ours = submitted === "duplicate" ? [] : copies;
  const startedMs = Date.now();
  const witnesses = witnessesOf(needs, copies);
  // A node may have lost what it took; one that never answered probably has nothing.
  let resendAfterMs = submitted === "ambiguous" ? resendAfterMinMs : resendAfterMaxMs;
  const firstResendAtMs = startedMs + resendAfterMs;
  let resendAtMs = firstResendAtMs;
  let isTaken = submitted === "accepted";
  // Sooner where no node has said that it took a copy: another one may have to be sent.
  const schedule = isTaken ? needs.usualWait.schedule : { firstMs: soonMs, againMs: soonMs };
  let waitMs = Math.min(schedule.firstMs, (deadlineMs - startedMs) / 2);
  let hasSucceeded = submitted === "duplicate";
  for (let poll = 0; Date.now() + waitMs < deadlineMs; poll += 1) {
    await pause(waitMs, deadlineMs);
    waitMs = Math.min(poll === 0 ? schedule.againMs : waitMs * 1.5, pollMaxMs);
    if (hasSucceeded || (poll % 4 === 3 && Date.now() - startedMs > mirrorAfterMs)) {
      const records = await within(deadlineMs - Date.now(), mirror.records(transaction)).catch(() => []);
      const verdict = judge(records, ours, payment);
      if (verdict) return ended(needs, transaction, verdict);
      continue;
    }
    const witness = witnesses[poll % witnesses.length] as string;
    const status = endOf(await nodes.receipt(witness, transaction, deadlineMs));
    if (status !== undefined) {
      const failure = failureOf(status);
      if (submitted === "accepted" && resendAtMs === firstResendAtMs)
        needs.usualWait.note(startedMs, Date.now() - startedMs, poll === 0 ? "first" : "again");
      if (failure || isTaken) return ended(needs, transaction, failure ?? "settled");
      hasSucceeded = true;
      continue;
    }
    if (Date.now() < resendAtMs) continue;
    resendAfterMs = Math.min(resendAfterMs * 2, resendAfterMaxMs);
    resendAtMs = Date.now() + resendAfterMs;
    if (!(await resubmit(needs, copies, deadlineMs))) continue;
    isTaken = true;
  }
  return { outcome: "unknown", transaction };
}

function notSent(reason: string, message: string): Outcome {
  return { outcome: "failed", reason, message, transaction: "", retryable: true };
}

function remember(hashes: Set<string>, hash: string): void {
  hashes.add(hash);
  if (hashes.size <= takenMax) return;
  for (const oldest of hashes) return void hashes.delete(oldest);
}

export function pause(ms: number, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.min(ms, deadlineMs - Date.now()))));
}

const roundsMax = 4;
const soonMs = 25;
const mirrorAfterMs = 1_500;
const resendAfterMinMs = 500;
const resendAfterMaxMs = 8_000;
const pollMaxMs = 500;
/** Shorter than a broadcast's lease: until then no other daemon sends it. */
const submittingMs = 2_000;
const takenMax = 10_000;
