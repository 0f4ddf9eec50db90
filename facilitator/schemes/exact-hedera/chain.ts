import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import type { HederaFeePayers } from "../../fee-payers/hedera.ts";
import type { SettlementStore } from "../../settlements/store.ts";
import { type Claim, isRefusal, type Outcome, type Unfinished } from "../scheme.ts";
import type { Signature } from "./keys.ts";
import type { Mirror } from "./mirror.ts";
import { type LedgerNodes, receiptQuery } from "./node-client.ts";
import { type HederaPayment, nodeOf } from "./payload.ts";
import type { Preflight, Sendable } from "./preflight.ts";
import { type Failure, failureOf, verdictOfPrecheck } from "./statuses.ts";
import { writeField } from "./wire.ts";

/** What a settlement needs, and the one door to the ledger for payments. */
export interface ChainNeeds {
  readonly store: SettlementStore;
  readonly db: Database;
  readonly log: Log;
  readonly nodes: LedgerNodes;
  readonly mirror: Mirror;
  readonly preflight: Preflight;
  readonly feePayers: HederaFeePayers;
}

/**
 * Signs a claimed payment as its fee payer, stores what was signed, sends it and waits for its receipt. The same bytes
 * may go to several nodes: the ledger executes a transaction id once. Never throws; what is not certain is unknown.
 */
export async function submit(
  needs: ChainNeeds,
  payment: HederaPayment,
  claim: Claim,
  deadline: Date,
): Promise<Outcome> {
  const transaction = payment.key;
  const sendables = await needs.preflight.sendables(payment);
  if (isRefusal(sendables)) {
    return {
      outcome: "failed",
      reason: sendables.refused,
      message: sendables.message,
      transaction: "",
      retryable: true,
    };
  }
  const copies = sendables.map((sendable) => sign(needs.feePayers, payment.feePayer, sendable));
  const raw = copies.map((copy) => copy.raw);
  try {
    const held = await needs.store.recordBroadcast(needs.db, claim, { transaction, raw, feePayer: payment.feePayer });
    if (!held) return notSent("The claim on this payment ran out before it was sent.");
  } catch (error) {
    // The row may or may not say that this was sent; the reconciler reads what it says and acts on it.
    needs.log.error({ err: error, paymentKey: payment.key }, "a signed payment could not be recorded and was not sent");
    return { outcome: "unknown", transaction };
  }
  const offered = await offer(needs, copies, deadline.getTime(), false);
  if (typeof offered === "object") return ended(needs, transaction, offered);
  return awaitReceipt(needs, transaction, copies, deadline.getTime(), offered);
}

/**
 * What became of a payment that was sent: receipts of two nodes and the mirror. While it is valid it is sent once more,
 * in case the node that took it lost it; after that, silence of all three is the end of it.
 */
export async function find(needs: ChainNeeds, unfinished: Unfinished): Promise<Outcome> {
  const { key: transaction, expiresAt } = unfinished;
  const deadlineMs = Date.now() + findMs;
  const query = receiptQuery(transaction);
  const expired = Date.now() > expiresAt.getTime();
  const witnesses = needs.nodes.inOrder().slice(0, 2);
  const [results, ...receipts] = await Promise.all([
    needs.mirror.results(transaction).catch(() => undefined),
    ...witnesses.map((node) => needs.nodes.receipt(node, query, deadlineMs)),
  ]);
  for (const receipt of receipts) if (typeof receipt === "number") return ended(needs, transaction, failureOf(receipt));
  if (results && results.length > 0) return ended(needs, transaction, failureOfResults(results));
  if (expired) {
    const noTrace = results !== undefined && receipts.every((receipt) => receipt === "none");
    const isEnd = noTrace && (await silenceIsProof(needs, unfinished));
    return isEnd ? neverReached(transaction) : { outcome: "unknown", transaction };
  }
  const copies = unfinished.raw.flatMap((raw) => {
    const node = nodeOf(raw);
    return node === undefined ? [] : [{ node, raw }];
  });
  const offered = await offer(needs, copies, deadlineMs, true);
  return awaitReceipt(needs, transaction, copies, deadlineMs, offered);
}

/** Nodes forget receipts after three minutes; from then on the mirror must have come past the payment's end. */
async function silenceIsProof({ mirror }: ChainNeeds, { expiresAt, feePayer }: Unfinished): Promise<boolean> {
  if (Date.now() < expiresAt.getTime() + receiptsKeptMs) return true;
  const account = await mirror.account(feePayer, 0).catch(() => undefined);
  return account !== undefined && account.asOfMs > expiresAt.getTime();
}

/** One signed Transaction and the node it names. */
interface Copy {
  readonly node: string;
  readonly raw: Buffer;
}

function sign(feePayers: HederaFeePayers, feePayer: string, { node, bytes, signatures }: Sendable): Copy {
  const pairs = [...signatures, feePayers.sign(feePayer, bytes)].map(signaturePair);
  return { node, raw: writeField(5, writeField(1, bytes), writeField(2, ...pairs)) };
}

/** With the whole key as its prefix, so that no other key begins like it. */
function signaturePair({ kind, key, signature }: Signature): Buffer {
  return writeField(1, writeField(1, key), writeField(kind === "ed25519" ? 3 : 6, signature));
}

/**
 * Offers the copies in turn until a node takes one. A node that falls silent may have it: from then on no refusal is
 * final, and only the receipt can tell.
 */
function offer(
  needs: ChainNeeds,
  copies: readonly Copy[],
  deadlineMs: number,
  sentBefore: true,
): Promise<"accepted" | "ambiguous">;
function offer(
  needs: ChainNeeds,
  copies: readonly Copy[],
  deadlineMs: number,
  sentBefore: false,
): Promise<"accepted" | "ambiguous" | Failure>;
async function offer({ nodes }: ChainNeeds, copies: readonly Copy[], deadlineMs: number, sentBefore: boolean) {
  let ambiguous = sentBefore;
  for (let round = 0; round < roundsMax; round += 1) {
    if (round > 0) await pause(250 * 2 ** (round - 1), deadlineMs);
    for (const { node, raw } of copies) {
      if (Date.now() >= deadlineMs) break;
      const answer = await nodes.send(node, raw, deadlineMs);
      if (answer === "unsent") continue;
      if (answer === "silent") {
        ambiguous = true;
        continue;
      }
      const verdict = verdictOfPrecheck(answer);
      if (verdict === "accepted") return "accepted";
      if (verdict !== "try again") return ambiguous ? "ambiguous" : verdict;
    }
    // Receipts answer sooner than more rounds do.
    if (ambiguous) return "ambiguous";
  }
  return {
    reason: "transaction_failed",
    message: "No node took the transaction: all are busy or away. The same payment can be settled again.",
    retryable: true,
  };
}

/** Asks the nodes in turn, now and then the mirror, until somebody knows the end or the deadline comes. */
async function awaitReceipt(
  needs: ChainNeeds,
  transaction: string,
  copies: readonly Copy[],
  deadlineMs: number,
  offered: "accepted" | "ambiguous",
): Promise<Outcome> {
  const { nodes, mirror } = needs;
  const query = receiptQuery(transaction);
  const startedMs = Date.now();
  const order = nodes.inOrder();
  // A node may have lost what it took; one that never answered probably has nothing.
  let resendAfterMs = offered === "accepted" ? resendAfterMaxMs : resendAfterMinMs;
  let resendAtMs = startedMs + resendAfterMs;
  let waitMs = firstPollMs;
  for (let poll = 0; Date.now() + waitMs < deadlineMs; poll += 1) {
    await pause(waitMs, deadlineMs);
    waitMs = Math.min(waitMs * 1.5, 500);
    if (poll % 4 === 3 && Date.now() - startedMs > mirrorAfterMs) {
      const results = await mirror.results(transaction).catch(() => []);
      if (results.length > 0) return ended(needs, transaction, failureOfResults(results));
      continue;
    }
    const receipt = await nodes.receipt(order[poll % order.length] as string, query, deadlineMs);
    if (typeof receipt === "number") return ended(needs, transaction, failureOf(receipt));
    if (Date.now() < resendAtMs) continue;
    resendAfterMs = Math.min(resendAfterMs * 2, resendAfterMaxMs);
    resendAtMs = Date.now() + resendAfterMs;
    await offer(needs, copies, deadlineMs, true);
  }
  return { outcome: "unknown", transaction };
}

/** Of several rows under one id at most one moved anything. */
function failureOfResults(results: readonly string[]): Failure | undefined {
  return failureOf(results.includes("SUCCESS") ? "SUCCESS" : (results[0] as string));
}

function ended({ log }: ChainNeeds, transaction: string, failure: Failure | undefined): Outcome {
  if (failure === undefined) return { outcome: "settled", transaction };
  const { reason, message, retryable, alarm } = failure;
  if (alarm) log.error({ transaction, reason }, message);
  return { outcome: "failed", reason, message, transaction, retryable };
}

function neverReached(transaction: string): Outcome {
  const message = "The transaction never reached the ledger and its validity has ended.";
  return { outcome: "failed", reason: "transaction_failed", message, transaction, retryable: false };
}

function notSent(message: string): Outcome {
  return { outcome: "failed", reason: "transaction_failed", message, transaction: "", retryable: true };
}

function pause(ms: number, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.min(ms, deadlineMs - Date.now()))));
}

const roundsMax = 4;
const firstPollMs = 25;
const mirrorAfterMs = 1_500;
const resendAfterMinMs = 500;
const resendAfterMaxMs = 8_000;
const findMs = 4_000;
/** 180 s from consensus, which may come 10 s before what `expiresAt` says; with time to ask. */
const receiptsKeptMs = 150_000;
