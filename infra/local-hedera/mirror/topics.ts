import { entityText, parseEntityText, timestampText } from "../hapi/ids.ts";
import type { Topic, TopicMessage } from "../state/entities.ts";
import { invalidParameter, keyJson, notFound } from "./json.ts";
import { limitOf, numberFilter, orderOf } from "./params.ts";
import type { MirrorView } from "./view.ts";

export function getTopic(view: MirrorView, [id]: string[]): object {
  const topic = topicAt(view, id!);
  return {
    admin_key: keyJson(topic.adminKey),
    auto_renew_account: topic.autoRenewAccount === null ? null : entityText(topic.autoRenewAccount),
    auto_renew_period: topic.autoRenewSeconds,
    created_timestamp: timestampText(topic.createdAt),
    custom_fees: { created_timestamp: timestampText(topic.createdAt), fixed_fees: [] },
    deleted: false,
    fee_exempt_key_list: [],
    fee_schedule_key: null,
    memo: topic.memo,
    submit_key: keyJson(topic.submitKey),
    timestamp: { from: timestampText(topic.createdAt), to: null },
    topic_id: entityText(topic.number),
  };
}

export function getMessages(view: MirrorView, [id]: string[], query: URLSearchParams): object {
  const topic = topicAt(view, id!);
  const wanted = numberFilter(query, "sequencenumber");
  const order = orderOf(query, "asc");
  const limit = limitOf(query);
  const shown = topic.messages.filter(({ sequence, consensusAt }) => wanted(sequence) && view.shows(consensusAt));
  const page = (order === "asc" ? shown : shown.reverse()).slice(0, limit);
  const last = page.at(-1)?.sequence;
  const next =
    shown.length > limit
      ? `/api/v1/topics/${entityText(topic.number)}/messages?limit=${limit}&order=${order}&sequencenumber=${order === "asc" ? "gt" : "lt"}:${last}`
      : null;
  return { messages: page.map((message) => messageJson(topic, message)), links: { next } };
}

export function getMessage(view: MirrorView, [id, text]: string[]): object {
  const topic = topicAt(view, id!);
  const sequence = /^\d{1,15}$/.test(text!) ? Number(text) : invalidParameter("sequencenumber");
  const message = topic.messages.find((candidate) => candidate.sequence === sequence);
  return message && view.shows(message.consensusAt) ? messageJson(topic, message) : notFound();
}

const topicAt = (view: MirrorView, text: string): Topic =>
  view.topic(parseEntityText(text) ?? invalidParameter("topicId")) ?? notFound();

const messageJson = (topic: Topic, { chunk, consensusAt, message, payer, runningHash, sequence }: TopicMessage) => ({
  chunk_info: chunk && {
    initial_transaction_id: {
      account_id: entityText(chunk.payer),
      nonce: 0,
      scheduled: false,
      transaction_valid_start: timestampText(chunk.validStart),
    },
    number: chunk.number,
    total: chunk.total,
  },
  consensus_timestamp: timestampText(consensusAt),
  message: message.toString("base64"),
  payer_account_id: entityText(payer),
  running_hash: runningHash.toString("base64"),
  running_hash_version: 3,
  sequence_number: sequence,
  topic_id: entityText(topic.number),
});
