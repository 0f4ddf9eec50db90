import { createHash } from "node:crypto";
import type { proto } from "@hiero-ledger/proto";
import type { HederaNodes } from "../../../shared/hedera-nodes.ts";
import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import { FeePayersEmpty } from "../../fee-payers/empty.ts";
import type { HederaFeePayers } from "../../fee-payers/hedera.ts";
import type { SettlementStore } from "../../settlements/store.ts";
import { type Claim, isRefusal, type Outcome, type Unfinished } from "../scheme.ts";
import type { Signature } from "./keys.ts";
import { type LedgerRecord, type Mirror, paysAsAgreed } from "./mirror.ts";
import { type HederaPayment, readSigned } from "./payload.ts";
import type { Preflight, Sendable } from "./preflight.ts";
import { type Failure, failureOf, verdictOfPrecheck } from "./statuses.ts";
import { writeField } from "./wire.ts";

/** What a settlement needs, and the one door to the ledger for payments. */
export interface ChainNeeds {
  /** CAIP-2. */
  readonly network: string;
  readonly store: SettlementStore;
  readonly db: Database;
  readonly log: Log;
  readonly nodes: HederaNodes;
  readonly mirror: Mirror;
  readonly preflight: Preflight;
  readonly feePayers: HederaFeePayers;
  /** Transactions that a `submit` of this process is looking after. */
  readonly underway: Set<string>;
}

/**
 * Signs a claimed payment as its fee payer, stores what was signed, sends it and waits for its receipt. The same bytes
 * may go to several nodes: the ledger executes a transaction id once. What is not certain is unknown.
 */
export async function submit(
  needs: ChainNeeds,
  payment: HederaPayment,
  claim: Claim,
  deadline: Date,
): Promise<Outcome> {
  const transaction = payment.key;
  const sendables = await needs.preflight.sendables(payment);
  if (isRefusal(sendables)) return notSent(sendables.refused, sendables.message);
  const copies = sendables.map((sendable) => sign(needs.feePayers, payment.feePayer, sendable));
  const raw = copies.map((copy) => copy.raw);
  const recordedMs = Date.now();
  try {
    const held = await needs.store.recordBroadcast(needs.db, claim, { transaction, raw, feePayer: payment.feePayer });
    if (!held) return notSent("transaction_failed", "The claim on this payment ran out before it was sent.");
  } catch (error) {
    // The row may or may not say that this was sent; the reconciler reads what it says and acts on it.
    needs.log.error({ err: error, paymentKey: payment.key }, "a signed payment could not be recorded and was not sent");
    return { outcome: "unknown", transaction };
  }
  needs.underway.add(transaction);
  try {
    const offered = await offer(needs, copies, Math.min(deadline.getTime(), recordedMs + offeringMs));
    if (typeof offered === "string") return await awaitOutcome(needs, payment, copies, deadline.getTime(), offered);
    // From here on another daemon may have sent it as well.
    if (Date.now() > recordedMs + aloneMs) return { outcome: "unknown", transaction };
    if (offered.unpaid) return await takeBack(needs, payment, claim);
    return ended(needs, transaction, offered);
  } finally {
    needs.underway.delete(transaction);
  }
}

/**
 * What became of a payment that was claimed: success by the mirror's record, failure by a receipt too. While it is valid
 * and nobody knows of it, what is signed is sent once more; after that, silence of two nodes and the mirror is its end.
 */
export async function find(needs: ChainNeeds, unfinished: Unfinished): Promise<Outcome> {
  const { key: transaction, expiresAt } = unfinished;
  if (needs.underway.has(transaction)) return { outcome: "unknown", transaction };
  const deadlineMs = Date.now() + findMs;
  const copies = unfinished.raw.map(readCopy);
  const expired = Date.now() > expiresAt.getTime();
  const witnesses = needs.nodes.inOrder().slice(0, 2);
  const [records, ...receipts] = await Promise.all([
    needs.mirror.records(transaction).catch(() => undefined),
    ...witnesses.map((node) => needs.nodes.receipt(node, transaction, deadlineMs)),
  ]);
  const verdict = records && judge(records, copies, unfinished);
  if (verdict) return ended(needs, transaction, verdict);
  for (const receipt of receipts) {
    const failure = typeof receipt === "object" ? failureOf(statusOf(receipt)) : undefined;
    if (failure) return ended(needs, transaction, failure);
  }
  if (expired) {
    const noTrace = records !== undefined && receipts.every((receipt) => receipt === "none");
    const isEnd = noTrace && (await silenceIsProof(needs, unfinished));
    return isEnd ? neverReached(transaction) : { outcome: "unknown", transaction };
  }
  const executed = receipts.some((receipt) => typeof receipt === "object");
  const inHand = receipts.includes("pending") && Date.now() < validStartMsOf(transaction) + nodeHasLostItMs;
  if (executed || inHand) return { outcome: "unknown", transaction };
  if (copies.length === 0) return { outcome: "unknown", transaction };
  await offerAgain(needs, copies, deadlineMs);
  await pause(afterSendingMs, deadlineMs);
  const later = judge(await needs.mirror.records(transaction).catch(() => []), copies, unfinished);
  return later ? ended(needs, transaction, later) : { outcome: "unknown", transaction };
}

function validStartMsOf(transaction: string): number {
  return Number(/@(\d+)\./.exec(transaction)?.[1]) * 1_000;
}

/** Nodes forget receipts after three minutes; from then on the mirror must have come past the payment's end. */
async function silenceIsProof({ mirror }: ChainNeeds, { expiresAt, key }: Unfinished): Promise<boolean> {
  if (Date.now() < expiresAt.getTime() + receiptsKeptMs) return true;
  const [feePayer = ""] = key.split("@");
  const account = await mirror.account(feePayer, 0).catch(() => undefined);
  return account !== undefined && account.asOfMs > expiresAt.getTime();
}

/** One signed Transaction, the node it names, and its hash as the mirror shows it. */
interface Copy {
  readonly node: string;
  readonly raw: Buffer;
  readonly hash: string;
}

function sign(feePayers: HederaFeePayers, feePayer: string, { node, bytes, signatures }: Sendable): Copy {
  const pairs = [...signatures, feePayers.sign(feePayer, bytes)].map(signaturePair);
  const signed = Buffer.concat([writeField(1, bytes), writeField(2, ...pairs)]);
  return { node, raw: writeField(5, signed), hash: hashOf(signed) };
}

function readCopy(raw: Buffer): Copy {
  const { node, signed } = readSigned(raw);
  return { node, raw, hash: hashOf(signed) };
}

function hashOf(signed: Buffer): string {
  return createHash("sha384").update(signed).digest("base64");
}

/** With the whole key as its prefix, so that no other key begins like it. */
function signaturePair({ kind, key, signature }: Signature): Buffer {
  return writeField(1, writeField(1, key), writeField(kind === "ed25519" ? 3 : 6, signature));
}

/**
 * Offers the copies in turn until a node takes one. A node that falls silent may have it: from then on no refusal is
 * final, and only the ledger can tell. "duplicate" is a node that has the id though nothing of ours was sent.
 */
async function offer({ nodes }: ChainNeeds, copies: readonly Copy[], deadlineMs: number): Promise<Offered | Failure> {
  let ambiguous = false;
  for (let round = 0; round < roundsMax; round += 1) {
    if (round > 0) await pause(250 * 2 ** (round - 1), deadlineMs);
    for (const { node, raw } of copies) {
      if (Date.now() >= deadlineMs) break;
      const answer = await nodes.send(node, "transfer", raw, deadlineMs);
      if (answer === "unsent") continue;
      if (answer === "silent") {
        ambiguous = true;
        continue;
      }
      const verdict = verdictOfPrecheck(answer);
      if (verdict === "try again") continue;
      if (verdict === "duplicate") return ambiguous ? "accepted" : "duplicate";
      return verdict !== "accepted" && ambiguous ? "ambiguous" : verdict;
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

/** To whichever node still takes it; one that has it says so and changes nothing. */
async function offerAgain({ nodes }: ChainNeeds, copies: readonly Copy[], deadlineMs: number): Promise<void> {
  for (const { node, raw } of copies) {
    const answer = await nodes.send(node, "transfer", raw, deadlineMs);
    if (typeof answer === "number" && verdictOfPrecheck(answer) === "accepted") return;
  }
}

type Offered = "accepted" | "ambiguous" | "duplicate";

/**
 * Asks the nodes in turn, now and then the mirror, until somebody knows the end or the deadline comes. A receipt names
 * no more than the id; where the id may be another transaction's, only the mirror's record is believed.
 */
async function awaitOutcome(
  needs: ChainNeeds,
  payment: HederaPayment,
  copies: readonly Copy[],
  deadlineMs: number,
  offered: Offered,
): Promise<Outcome> {
  const { nodes, mirror } = needs;
  const transaction = payment.key;
  // Where the ledger had the id before anything was sent, what it has is not ours, be it the same bytes.
  const ours = offered === "duplicate" ? [] : copies;
  const startedMs = Date.now();
  const order = nodes.inOrder();
  // A node may have lost what it took; one that never answered probably has nothing.
  let resendAfterMs = offered === "ambiguous" ? resendAfterMinMs : resendAfterMaxMs;
  let resendAtMs = startedMs + resendAfterMs;
  let waitMs = firstPollMs;
  for (let poll = 0; Date.now() + waitMs < deadlineMs; poll += 1) {
    await pause(waitMs, deadlineMs);
    waitMs = Math.min(waitMs * 1.5, pollMaxMs);
    if (offered === "duplicate" || (poll % 4 === 3 && Date.now() - startedMs > mirrorAfterMs)) {
      const records = await mirror.records(transaction).catch(() => []);
      const verdict = judge(records, ours, payment);
      if (verdict) return ended(needs, transaction, verdict);
      continue;
    }
    const receipt = await nodes.receipt(order[poll % order.length] as string, transaction, deadlineMs);
    if (typeof receipt === "object") return ended(needs, transaction, failureOf(statusOf(receipt)) ?? "settled");
    if (Date.now() < resendAtMs) continue;
    resendAfterMs = Math.min(resendAfterMs * 2, resendAfterMaxMs);
    resendAtMs = Date.now() + resendAfterMs;
    await offerAgain(needs, copies, deadlineMs);
  }
  return { outcome: "unknown", transaction };
}

/** By the record of one of our copies; any other that succeeded under this id has paid as agreed or used it up. */
function judge(records: readonly LedgerRecord[], copies: readonly Copy[], agreed: Agreed): Verdict | undefined {
  const own = records.filter((record) => copies.some(({ hash }) => hash === record.hash));
  if (own.some(({ result }) => result === "SUCCESS")) return "settled";
  if (own[0]) return failureOf(own[0].result);
  if (records.some((record) => paysAsAgreed(record, agreed))) return "settled by another";
  if (!records.some(({ result }) => result === "SUCCESS")) return undefined;
  const message = "Another transaction has used this payment's id.";
  return { reason: "invalid_transaction_state", message, retryable: false };
}

type Verdict = "settled" | "settled by another" | Failure;
type Agreed = Parameters<typeof paysAsAgreed>[1];

/** The fee payer cannot pay, which no node holds against the transaction: as if nothing had been signed. Throws FeePayersEmpty. */
async function takeBack(
  { store, feePayers, network }: ChainNeeds,
  { key: transaction, feePayer }: HederaPayment,
  claim: Claim,
): Promise<Outcome> {
  feePayers.noteEmpty(feePayer);
  if (await store.takeBack(claim, transaction)) throw new FeePayersEmpty(network);
  return { outcome: "unknown", transaction };
}

function ended({ log, feePayers }: ChainNeeds, transaction: string, verdict: Verdict): Outcome {
  if (verdict === "settled") return { outcome: "settled", transaction };
  if (verdict === "settled by another") return { outcome: "settled", transaction, byAnother: true };
  const { reason, message, retryable, alarm, unpaid, charged = false } = verdict;
  if (unpaid) feePayers.noteEmpty(transaction.slice(0, transaction.indexOf("@")));
  if (alarm) log.error({ transaction, reason }, message);
  return { outcome: "failed", reason, message, transaction, retryable, charged };
}

function neverReached(transaction: string): Outcome {
  const message = "The transaction never reached the ledger and its validity has ended.";
  return { outcome: "failed", reason: "transaction_failed", message, transaction, retryable: false };
}

function notSent(reason: string, message: string): Outcome {
  return { outcome: "failed", reason, message, transaction: "", retryable: true };
}

const statusOf = ({ status }: proto.ITransactionReceipt) => status as number;

function pause(ms: number, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.min(ms, deadlineMs - Date.now()))));
}

const roundsMax = 4;
const firstPollMs = 25;
const mirrorAfterMs = 1_500;
const resendAfterMinMs = 500;
const resendAfterMaxMs = 8_000;
const pollMaxMs = 500;
/** Shorter than a broadcast's lease: until then nobody else sends it, and "no node took it" is certain. */
const offeringMs = 2_000;
const aloneMs = 2_500;
const findMs = 5_000;
const afterSendingMs = 500;
const nodeHasLostItMs = 20_000;
/** 180 s from consensus, which may come 10 s before what `expiresAt` says; with time to ask. */
const receiptsKeptMs = 150_000;
