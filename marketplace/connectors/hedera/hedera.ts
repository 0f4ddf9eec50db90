import { setTimeout as sleep } from "node:timers/promises";
import type { Transaction } from "@hashgraph/sdk";
import type { proto } from "@hiero-ledger/proto";
import { HederaNodes, type Method, statusName } from "../../../shared/hedera-nodes.ts";
import type { HederaConfig } from "../config.ts";
import { type Call, ConnectorFailure, OutcomeUnknown, type Remedy, type Result } from "../connector.ts";
import type { Effect, Effects, Promised } from "../effects.ts";
import { EndpointSilent } from "../endpoint.ts";
import type { Spending } from "../reservations.ts";
import { Mirror, type MirrorRecord } from "./mirror.ts";
import { Operator, type Signed } from "./operator.ts";

/** One Hedera network, as agents read and write it. */
export class Hedera {
  readonly network: string;
  readonly mirror: Mirror;
  readonly operator: Operator | undefined;
  readonly #nodes: HederaNodes;
  readonly #validSeconds: number;
  readonly #feePayers: () => Promise<readonly string[]>;

  /** `feePayers`: the accounts that a facilitator signs with, none of which the operator may be. */
  constructor(config: HederaConfig, feePayers: () => Promise<readonly string[]> = async () => []) {
    this.network = config.network;
    this.mirror = new Mirror(config.mirrorUrl);
    this.operator = config.operator && new Operator(config.operator);
    this.#nodes = new HederaNodes(config.nodes, nodeTimeouts);
    this.#validSeconds = config.validSeconds;
    this.#feePayers = feePayers;
  }

  /**
   * Does `order` on the ledger once. Its ids are in the book before anything is sent. Waits until the ledger has told
   * the end: ConnectorFailure when it certainly did not happen, OutcomeUnknown when nobody answers.
   */
  async execute(call: Call<unknown>, effects: Effects, order: Order): Promise<Result> {
    if (!this.operator) throw new ConnectorFailure("The agent's ledger is not available.", { reason: "no operator" });
    const parts = order.parts ?? 1;
    const validSeconds = Math.min(180, this.#validSeconds * (parts > 1 ? 2 : 1));
    const nodes = shuffled(this.#nodes.ids).slice(0, nodesMax);
    const signed = await this.operator.sign(order.make, validSeconds, nodes);
    const { kind, promised, asset, amount, dayMax, reward, pools = [] } = order;
    call.signal.throwIfAborted();
    await effects.begin({
      key: call.effectKey,
      runId: call.runId,
      agentId: call.agent.id,
      network: this.network,
      transactionIds: signed.ids,
      validUntil: signed.validUntil,
      asset,
      amount,
      dayMax,
      pools,
      promised: { kind, receipt: promised },
      ...(reward ? { reward } : {}),
    });
    const effect = { key: call.effectKey, transactionIds: signed.ids, promised: { kind, receipt: promised } };
    // Whoever gave up waiting before this was written down has called the run a failure.
    if (call.signal.aborted) return this.conclude(effects, effect, { ending: "failed", status: "TRANSACTION_EXPIRED" });
    return this.conclude(effects, effect, await this.#sendAll(kind, signed, effect.promised));
  }

  /** An allowance granted to a fee payer could be spent by anybody's payment. A facilitator that is away cannot be asked. */
  async operatorIsFeePayer(): Promise<boolean> {
    const feePayers = await this.#feePayers().catch((): string[] => []);
    return this.operator !== undefined && feePayers.includes(this.operator.accountId);
  }

  /** What became of an effect that was begun here or elsewhere. "unknown" as long as the ledger may still take it. */
  async endingOf(effect: Pick<Effect, "transactionIds" | "validUntil" | "promised">): Promise<Ending> {
    const decisive = effect.transactionIds.at(-1)!;
    return this.#ask(decisive, effect.validUntil!.getTime(), effect.promised);
  }

  /** Closes the effect as it ended and says so: its result, or why there is none. */
  async conclude(
    effects: Effects,
    effect: Pick<Effect, "key" | "transactionIds" | "promised">,
    ending: Ending,
  ): Promise<Result> {
    const transactionId = effect.transactionIds[0]!;
    switch (ending.ending) {
      case "unknown":
        throw new OutcomeUnknown(transactionId);
      case "failed":
        await effects.close(effect.key, {});
        throw failureOf(ending.status, transactionId);
      case "done": {
        const output = { kind: "receipt", status: "SUCCESS", transactionId } as const;
        const result = { output, receipt: { ...effect.promised.receipt, ...ending.receipt } };
        await effects.close(effect.key, { done: result });
        return result;
      }
    }
  }

  async stop(): Promise<void> {
    this.#nodes.close();
    await this.mirror.stop();
  }

  /** Parts go one after the other, each when the one before is done: the last one tells of all. */
  async #sendAll(kind: Method, signed: Signed, promised: Promised): Promise<Ending> {
    let ending: Ending = { ending: "unknown" };
    for (const [index, copies] of signed.parts.entries()) {
      const offered = await this.#offer(kind, copies);
      ending =
        offered === "offered"
          ? await this.#await(signed.ids[index]!, signed.validUntil.getTime(), promised)
          : { ending: "failed", status: offered };
      if (ending.ending !== "done") break;
    }
    return ending;
  }

  /**
   * Offers the copies in turn until a node takes one; the ledger executes an id once. A node that falls silent may have
   * it: from then on no refusal is final. Answers the status of a refusal that is.
   */
  async #offer(method: Method, copies: Signed["parts"][number]): Promise<string | "offered"> {
    let refusal = "BUSY";
    let ambiguous = false;
    for (let round = 0; round < roundsMax; round += 1) {
      if (round > 0) await sleep(200 * 2 ** round);
      for (const { node, bytes } of copies) {
        const answer = await this.#nodes.send(node, method, bytes);
        if (answer === "unsent") continue;
        if (answer === "silent") {
          ambiguous = true;
          continue;
        }
        refusal = statusName(answer);
        if (refusal === "OK" || refusal === "DUPLICATE_TRANSACTION") return "offered";
        if (!passing.has(refusal)) return ambiguous ? "offered" : refusal;
      }
      if (ambiguous) return "offered";
    }
    return refusal;
  }

  /** Asks until the ledger has told, which it has a while after the transaction's validity at the latest. */
  async #await(id: string, validUntilMs: number, promised: Promised): Promise<Ending> {
    const giveUpMs = validUntilMs + giveUpAfterMs;
    for (let pauseMs = 50; Date.now() < giveUpMs; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
      await sleep(pauseMs);
      const ending = await this.#ask(id, validUntilMs, promised);
      if (ending.ending !== "unknown") return ending;
    }
    return { ending: "unknown" };
  }

  async #ask(id: string, validUntilMs: number, promised: Promised): Promise<Ending> {
    const witnesses = shuffled(this.#nodes.ids).slice(0, 2);
    const receipts = await Promise.all(witnesses.map((node) => this.#nodes.receipt(node, id)));
    for (const receipt of receipts) {
      if (typeof receipt === "object") return endingOf(receipt);
    }
    const now = Date.now();
    // The mirror is asked when the nodes have had their time.
    if (now < validUntilMs && receipts.includes("pending")) return { ending: "unknown" };
    try {
      const [record] = await this.mirror.records(id);
      if (record) return await this.#endingOfRecord(record, promised);
      const expired = now > validUntilMs + expiredMarginMs;
      const nodesKnow = receipts.every((receipt) => receipt === "none") && now < validUntilMs + receiptsKeptMs;
      const isOver =
        nodesKnow || (await this.mirror.reachedMs(this.operator!.accountId)) > validUntilMs + expiredMarginMs;
      if (expired && isOver) return { ending: "failed", status: "TRANSACTION_EXPIRED" };
    } catch (error) {
      if (!(error instanceof EndpointSilent)) throw error;
    }
    return { ending: "unknown" };
  }

  async #endingOfRecord(record: MirrorRecord, promised: Promised): Promise<Ending> {
    if (record.result !== "SUCCESS") return { ending: "failed", status: record.result };
    const receipt: Record<string, unknown> = {};
    if (promised.kind === "message" && promised.receipt.topicId) {
      const topic = String(promised.receipt.topicId);
      const sequence = await this.mirror.sequenceAt(topic, record.consensus_timestamp).catch(() => undefined);
      if (sequence !== undefined) receipt.sequence = sequence;
    }
    const minted = record.nft_transfers?.filter((nft) => nft.sender_account_id === null) ?? [];
    if (minted.length > 0) receipt.serials = minted.map((nft) => nft.serial_number).sort((a, b) => a - b);
    return { ending: "done", receipt };
  }
}

/** What is to be done on the ledger, and what it spends. */
export interface Order extends Spending {
  readonly kind: Method;
  readonly make: (sdk: typeof import("@hashgraph/sdk")) => Transaction;
  /** Into how many transactions it falls. */
  readonly parts?: number;
  /** What the receipt says whatever the ledger adds. */
  readonly promised: Readonly<Record<string, unknown>>;
}

export type Ending =
  | { readonly ending: "done"; readonly receipt: Readonly<Record<string, unknown>> }
  /** It certainly had no effect. */
  | { readonly ending: "failed"; readonly status: string }
  | { readonly ending: "unknown" };

/** Nothing was executed; another node, or the same one later, may take the transaction. */
const passing = new Set(["BUSY", "PLATFORM_NOT_ACTIVE", "PLATFORM_TRANSACTION_NOT_CREATED", "INVALID_NODE_ACCOUNT"]);

const nodeTimeouts = { connectMs: 1_500, sendMs: 3_000, receiptMs: 3_000 };
const nodesMax = 3;
const roundsMax = 4;
/** Nodes' clocks may be late by this much. */
const expiredMarginMs = 5_000;
/** 180 s from consensus, less the time to ask. */
const receiptsKeptMs = 120_000;
const giveUpAfterMs = 25_000;

function endingOf(receipt: proto.ITransactionReceipt): Ending {
  const status = statusName(receipt.status ?? 0);
  if (status !== "SUCCESS") return { ending: "failed", status };
  const found: Record<string, unknown> = {};
  const sequence = Number(receipt.topicSequenceNumber ?? 0);
  if (sequence > 0) found.sequence = sequence;
  if (receipt.serialNumbers?.length) found.serials = receipt.serialNumbers.map(Number);
  const supply = String(receipt.newTotalSupply ?? 0);
  if (supply !== "0") found.totalSupply = supply;
  return { ending: "done", receipt: found };
}

/** What a buyer can understand of it; the status itself is in the log. */
function failureOf(status: string, transactionId: string): ConnectorFailure {
  const [text, remedy] = failures[status] ?? ["The ledger refused the transaction.", "later"];
  return new ConnectorFailure(text, { transactionId, status }, remedy);
}

const failures: Readonly<Record<string, readonly [string, Remedy]>> = {
  AMOUNT_EXCEEDS_ALLOWANCE: ["The creator's allowance does not cover this.", "later"],
  SPENDER_DOES_NOT_HAVE_ALLOWANCE: ["The creator's allowance does not cover this.", "later"],
  INSUFFICIENT_ACCOUNT_BALANCE: ["The creator's wallet does not hold enough.", "later"],
  INSUFFICIENT_TOKEN_BALANCE: ["The creator's wallet does not hold enough.", "later"],
  TOKEN_NOT_ASSOCIATED_TO_ACCOUNT: ["The receiving account is not associated with the token.", "input"],
  NO_REMAINING_AUTOMATIC_ASSOCIATIONS: ["The receiving account is not associated with the token.", "input"],
  ACCOUNT_FROZEN_FOR_TOKEN: ["The token is frozen for one of the accounts.", "input"],
  ACCOUNT_KYC_NOT_GRANTED_FOR_TOKEN: ["The token asks for a KYC grant that one of the accounts lacks.", "input"],
  INVALID_ACCOUNT_ID: ["There is no such account on the ledger.", "input"],
  ACCOUNT_DELETED: ["The account has been deleted.", "input"],
  TOKEN_IS_PAUSED: ["The token is paused.", "later"],
  TOKEN_WAS_DELETED: ["The token has been deleted.", "later"],
  TOKEN_MAX_SUPPLY_REACHED: ["The token's maximum supply has been reached.", "later"],
  TOKEN_HAS_NO_SUPPLY_KEY: ["The token cannot be minted.", "later"],
  INVALID_TOPIC_ID: ["There is no such topic.", "later"],
  BUSY: ["The ledger is busy; try again later.", "again"],
  THROTTLED_AT_CONSENSUS: ["The ledger is busy; try again later.", "again"],
  TRANSACTION_EXPIRED: ["The ledger did not take the transaction in time.", "again"],
};

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
