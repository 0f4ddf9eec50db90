import { createHash } from "node:crypto";
import type { proto } from "@hiero-ledger/proto";
import { type Key, keyFromProto } from "../crypto/keys.ts";
import { accountNumber, nanosPerSecond, toBigint, toNanos, topicNumber, transactionKeyOf } from "../hapi/ids.ts";
import { ensure, type StatusName } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Topic, TopicMessage } from "../state/entities.ts";
import { autoRenewSeconds } from "../state/state.ts";

export function createTopic(handling: Handling): void {
  const body = handling.transaction.body.consensusCreateTopic!;
  ensure(Buffer.byteLength(body.memo ?? "") <= 100, "MEMO_TOO_LONG");
  ensure(!body.customFees?.length, "NOT_SUPPORTED");
  const adminKey = optionalKey(body.adminKey, "BAD_ENCODING");
  const submitKey = optionalKey(body.submitKey, "INVALID_SUBMIT_KEY");
  if (adminKey) handling.requireKey(adminKey);
  const renewer = body.autoRenewAccount ? handling.account(body.autoRenewAccount, "INVALID_AUTORENEW_ACCOUNT") : null;
  if (renewer) handling.requireAccount(renewer);
  const topic: Topic = {
    number: handling.state.newNumber(handling.journal),
    memo: body.memo ?? "",
    adminKey,
    submitKey,
    autoRenewAccount: renewer?.number ?? null,
    autoRenewSeconds: Number(toBigint(body.autoRenewPeriod?.seconds)) || autoRenewSeconds,
    sequence: 0,
    runningHash: Buffer.alloc(48),
    createdAt: handling.consensusAt,
    messages: [],
  };
  handling.journal.put(handling.state.topics, topic.number, topic);
  handling.outcome.created = { kind: "topic", number: topic.number };
  handling.outcome.entity = topic.number;
}

export function submitMessage(handling: Handling): void {
  const body = handling.transaction.body.consensusSubmitMessage!;
  const message = Buffer.from(body.message!);
  ensure(message.length <= messageBytesMax, "MESSAGE_SIZE_TOO_LARGE");
  const topic = handling.state.topics.get(topicNumber(body.topicID) ?? 0);
  ensure(topic !== undefined, "INVALID_TOPIC_ID");
  if (topic.submitKey) handling.requireKey(topic.submitKey);
  const chunk = checkChunk(handling, body.chunkInfo);

  const sequence = topic.sequence + 1;
  const runningHash = nextRunningHash(topic, sequence, message, handling);
  handling.journal.set(topic, "sequence", sequence);
  handling.journal.set(topic, "runningHash", runningHash);
  // Nothing can fail from here on, so the list needs no undo.
  topic.messages.push({
    sequence,
    consensusAt: handling.consensusAt,
    message,
    payer: handling.payer.number,
    runningHash,
    chunk,
  });
  if (topic.messages.length > messagesKept) topic.messages.splice(0, topic.messages.length - messagesKept / 2);
  handling.outcome.topicSequence = sequence;
  handling.outcome.runningHash = runningHash;
  handling.outcome.entity = topic.number;
}

/** The first chunk's transaction is the message's id, and all chunks have one payer. */
const checkChunk = (
  { transaction }: Handling,
  info: proto.IConsensusMessageChunkInfo | null | undefined,
): TopicMessage["chunk"] => {
  if (!info) return null;
  const [number, total] = [info.number ?? 0, info.total ?? 0];
  ensure(number >= 1 && number <= total, "INVALID_CHUNK_NUMBER");
  const initial = info.initialTransactionID;
  const payer = accountNumber(initial?.accountID);
  ensure(payer === transaction.payer, "INVALID_CHUNK_TRANSACTION_ID");
  ensure(number > 1 || transactionKeyOf(initial) === transaction.key, "INVALID_CHUNK_TRANSACTION_ID");
  return { payer, validStart: toNanos(initial?.transactionValidStart), number, total };
};

/** The fields of running hash version 3, without the Java serialization a real node wraps them in. */
const nextRunningHash = (topic: Topic, sequence: number, message: Buffer, { payer, consensusAt }: Handling): Buffer => {
  const fields = [
    3,
    0,
    0,
    payer.number,
    0,
    0,
    topic.number,
    consensusAt / nanosPerSecond,
    consensusAt % nanosPerSecond,
    sequence,
  ];
  const numbers = Buffer.alloc(fields.length * 8);
  for (const [index, field] of fields.entries()) numbers.writeBigInt64BE(BigInt(field), index * 8);
  const digest = createHash("sha384").update(message).digest();
  return createHash("sha384").update(topic.runningHash).update(numbers).update(digest).digest();
};

const optionalKey = (key: proto.IKey | null | undefined, invalid: StatusName): Key | null => {
  if (!key) return null;
  const parsed = keyFromProto(key);
  ensure(parsed !== undefined, invalid);
  return parsed;
};

const messageBytesMax = 1_024;
const messagesKept = 20_000;
