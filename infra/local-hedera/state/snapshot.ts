import type { ChainContext } from "../context.ts";
import { type Key, keyFromBytes } from "../crypto/keys.ts";
import type { Account, Token, Topic } from "./entities.ts";
import { inFlight, type TransactionRecord } from "./transactions.ts";

/**
 * The whole state as JSON: every account, token and topic, and of the transactions the newest and all whose id could
 * still be submitted again. What is in flight is left out: as after a crash, it never happened.
 */
export function takeSnapshot({ state, transactions, levels }: ChainContext): string {
  const ageMs = Math.max(levels.receiptTtlMs, replayableMs);
  const snapshot: Snapshot = {
    version: ownVersion,
    nextNumber: state.nextNumber,
    accounts: [...state.accounts.values()],
    tokens: [...state.tokens.values()],
    topics: [...state.topics.values()],
    transactions: transactions.recent(transactionsKept, ageMs).filter(({ status }) => status !== inFlight),
  };
  return JSON.stringify(pack(snapshot));
}

/** Fills an empty chain. Throws when `text` is no snapshot of this version. */
export function restoreSnapshot(chain: ChainContext, text: string): void {
  const { state, transactions, clock, levels } = chain;
  const { nextNumber, accounts, tokens, topics, transactions: records } = read(text);
  state.nextNumber = nextNumber;
  for (const account of accounts) {
    state.accounts.set(account.number, account);
    for (const name of [account.alias, account.evmAddress])
      if (name) state.aliases.set(name.toString("hex"), account.number);
  }
  for (const token of tokens) state.tokens.set(token.number, token);
  for (const topic of topics) state.topics.set(topic.number, topic);
  for (const record of records) {
    transactions.add(record, levels.receiptTtlMs);
    clock.startAfter(record.consensusAt);
  }
}

const read = (text: string): Snapshot => {
  let snapshot: Snapshot | undefined;
  try {
    snapshot = unpack(JSON.parse(text)) as Snapshot;
  } catch {
    snapshot = undefined;
  }
  if (snapshot?.version !== ownVersion) throw new Error(`state: not a local-hedera snapshot of version ${ownVersion}`);
  return snapshot;
};

/** JSON has no bigint, Buffer, Map or key, so each travels as an array led by its mark; a plain array has mark "[". */
const pack = (value: unknown): unknown => {
  if (typeof value === "bigint") return ["n", value.toString()];
  if (Buffer.isBuffer(value)) return ["b", value.toString("base64")];
  if (value instanceof Map) return ["m", ...[...value].flat().map(pack)];
  if (Array.isArray(value)) return ["[", ...value.map(pack)];
  if (value === null || typeof value !== "object") return value;
  if ("encoded" in value) return ["k", (value as Key).encoded.toString("base64")];
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, pack(field)]));
};

const unpack = (value: unknown): unknown => {
  if (value === null || typeof value !== "object") return value;
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, unpack(field)]));
  }
  const [mark, ...items] = value;
  if (mark === "n") return BigInt(items[0]);
  if (mark === "b") return Buffer.from(items[0], "base64");
  if (mark === "k") return keyFromBytes(Buffer.from(items[0], "base64"));
  if (mark === "[") return items.map(unpack);
  const flat = items.map(unpack);
  return new Map(Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2], flat[index * 2 + 1]]));
};

const ownVersion = 1;
const transactionsKept = 5_000;
/** The longest a transaction id stays valid. */
const replayableMs = 180_000;

type Snapshot = {
  version: number;
  nextNumber: number;
  accounts: Account[];
  tokens: Token[];
  topics: Topic[];
  transactions: TransactionRecord[];
};
