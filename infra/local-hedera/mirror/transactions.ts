import { entityText, nanosPerSecond, timestampText, transactionKey } from "../hapi/ids.ts";
import { statusName } from "../hapi/refusal.ts";
import { inFlight, type TransactionRecord } from "../state/transactions.ts";
import { invalidParameter, notFound } from "./json.ts";
import { limitOf, numberFilter, orderOf, timestampFilter } from "./params.ts";
import type { MirrorView } from "./view.ts";

/** One transaction by its id in the mirror's form, `0.0.A-seconds-nanos`. 404 until it has arrived. */
export function getTransaction(view: MirrorView, [id]: string[]): object {
  const [, payer, seconds, nanos] =
    /^0\.0\.(\d{1,15})-(\d{1,11})-(\d{1,9})$/.exec(id!) ?? invalidParameter("transactionId");
  const key = transactionKey(Number(payer), BigInt(seconds!) * nanosPerSecond + BigInt(nanos!));
  const record = view.chain.transactions.get(key);
  return record && isShown(view, record) ? { transactions: [transactionJson(record)] } : notFound();
}

/**
 * Newest first when `order` does not say otherwise; `account.id` keeps those that moved something in or out of it, beside
 * `timestamp`, `transactiontype` and `result`.
 */
export function getTransactions(view: MirrorView, _parts: string[], query: URLSearchParams): object {
  const limit = limitOf(query);
  const order = orderOf(query, "desc");
  const isParty = numberFilter(query, "account.id");
  const isThen = timestampFilter(query);
  const kind = query.get("transactiontype")?.toUpperCase();
  const result = resultFilter(query);
  const wanted: TransactionRecord[] = [];
  for (const record of view.chain.transactions.newestFirst()) {
    if (order === "desc" && wanted.length === limit) break;
    const { hbar, tokens = [] } = record.outcome;
    const parties = [...hbar.map(([account]) => account), ...tokens.map(({ account }) => account)];
    if (!isShown(view, record) || !isThen(record.consensusAt) || !parties.some(isParty)) continue;
    if ((kind === undefined || kind === record.kind.toUpperCase()) && result(record)) wanted.push(record);
  }
  const inOrder = order === "asc" ? wanted.toSorted((a, b) => (a.consensusAt < b.consensusAt ? -1 : 1)) : wanted;
  return { transactions: inOrder.slice(0, limit).map(transactionJson), links: { next: null } };
}

function resultFilter(query: URLSearchParams): (record: TransactionRecord) => boolean {
  const text = query.get("result");
  if (text !== null && text !== "success" && text !== "fail") invalidParameter("result");
  return ({ status }) => text === null || (statusName(status) === "SUCCESS") === (text === "success");
}

const isShown = (view: MirrorView, record: TransactionRecord): boolean =>
  record.status !== inFlight && view.shows(record.consensusAt);

const transactionJson = (record: TransactionRecord) => {
  const { outcome } = record;
  return {
    batch_key: null,
    bytes: null,
    charged_tx_fee: outcome.fee,
    consensus_timestamp: timestampText(record.consensusAt),
    entity_id: outcome.entity === undefined ? null : entityText(outcome.entity),
    high_volume: record.highVolume,
    max_custom_fees: [],
    max_fee: String(record.maxFee),
    memo_base64: Buffer.from(record.memo).toString("base64"),
    name: record.kind.toUpperCase(),
    nft_transfers: (outcome.nfts ?? []).map(({ token, serial, from, to, approved }) => ({
      is_approval: approved,
      receiver_account_id: entityText(to),
      sender_account_id: from === 0 ? null : entityText(from),
      serial_number: serial,
      token_id: entityText(token),
    })),
    node: entityText(record.node),
    nonce: 0,
    parent_consensus_timestamp: null,
    result: statusName(record.status),
    scheduled: false,
    staking_reward_transfers: [],
    token_transfers: (outcome.tokens ?? []).map(({ token, account, amount, approved }) => ({
      token_id: entityText(token),
      account: entityText(account),
      amount,
      is_approval: approved,
    })),
    transaction_hash: record.hash,
    transaction_id: `${entityText(record.payer)}-${timestampText(record.validStart).replace(".", "-")}`,
    transfers: outcome.hbar
      .toSorted(([a], [b]) => a - b)
      .map(([account, amount]) => ({ account: entityText(account), amount, is_approval: false })),
    valid_duration_seconds: String(record.validSeconds),
    valid_start_timestamp: timestampText(record.validStart),
    assessed_custom_fees: (outcome.assessedFees ?? []).map(({ token, amount, collector, payers }) => ({
      amount,
      collector_account_id: entityText(collector),
      effective_payer_account_ids: payers.map(entityText),
      token_id: token === null ? null : entityText(token),
    })),
  };
};
