import { setTimeout as sleep } from "node:timers/promises";
import type { Transaction } from "@hashgraph/sdk";
import type { proto } from "@hiero-ledger/proto";
import { HederaNodes, type Method, statusName } from "../../../shared/hedera/nodes.ts";
import type { AccountId, AgentId, RunId } from "../../ids.ts";
import type { HederaConfig } from "../config.ts";
import { EndpointSilentError } from "../endpoint.ts";
import type { ChainFees, Spending } from "../reservations.ts";
import { ConnectorError, OutcomeUnknownError, type Result } from "../result.ts";
import type { Promised, SideEffect, SideEffectJournal } from "../side-effect-journal.ts";
import { failureOf } from "./failures.ts";
import { Mirror, type MirrorRecord } from "./mirror.ts";
import { Operator, type Signed, transactionFeeMax } from "./operator.ts";

/** One Hedera network, as agents read and write it. */
export class Hedera {
  readonly network: string;
  readonly mirror: Mirror;
  readonly operator: Operator | undefined;
  readonly #nodes: HederaNodes;
  readonly #validSeconds: number;
  readonly #giveUpAfterMs: number;
  readonly #feesPerDay: bigint;
  readonly #feesPerCreatorDay: bigint;
  readonly #feePayers: () => Promise<readonly string[]>;

  /** `feePayers`: the accounts that a facilitator signs with, none of which the operator may be. */
  constructor(config: HederaConfig, feePayers: () => Promise<readonly string[]> = async () => []) {
    this.network = config.network;
    this.mirror = new Mirror(config.mirrorUrl);
    this.operator = config.operator && new Operator(config.operator);
    this.#nodes = new HederaNodes(config.nodes, nodeTimeouts);
    this.#validSeconds = config.validSeconds;
    this.#giveUpAfterMs = config.giveUpAfterMs;
    this.#feesPerDay = config.feesPerDay || unlimited;
    this.#feesPerCreatorDay = config.feesPerCreatorDay || unlimited;
    this.#feePayers = feePayers;
  }

  /**
   * Does `order` on the chain once. Its ids are in the side-effect journal before anything is sent. Waits until the chain
   * shows the outcome: ConnectorError when it certainly did not happen, OutcomeUnknownError when the chain does not answer.
   */
  async execute(call: SideEffectCall, journal: SideEffectJournal, order: Order): Promise<Result> {
    if (!this.operator) throw new ConnectorError("The agent's chain is not available.", { reason: "no operator" });
    const parts = order.parts ?? 1;
    const validSeconds = parts > 1 ? longestValidity(this.#validSeconds) : this.#validSeconds;
    const nodes = shuffled(this.#nodes.ids).slice(0, nodesMax);
    const signed = await this.operator.sign(order.make, validSeconds, nodes);
    const { kind, promised, asset, amount, dayMax, reward, pools = [], fees } = order;
    call.signal.throwIfAborted();
    await journal.begin({
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
      fees,
      promised: { kind, receipt: promised },
      ...(reward ? { reward } : {}),
    });
    const effect = { key: call.effectKey, transactionIds: signed.ids, promised: { kind, receipt: promised } };
    // A caller that stopped waiting before this was written down has recorded the run as failed.
    if (call.signal.aborted) return this.conclude(journal, effect, { ending: "failed", status: "TRANSACTION_EXPIRED" });
    return this.conclude(journal, effect, await this.#sendAll(kind, signed, effect.promised));
  }

  /** What an agent's order may cost the operator, for any caller and whatever becomes of it. */
  feesOf({ ownerId }: { readonly ownerId: AccountId }, parts = 1): ChainFees {
    return {
      network: this.network,
      creator: ownerId,
      most: transactionFeeMax * BigInt(parts),
      dayMax: this.#feesPerDay,
      creatorDayMax: this.#feesPerCreatorDay,
    };
  }

  /** Any payment could spend an allowance granted to a fee payer. False while the facilitator cannot be asked. */
  async operatorIsFeePayer(): Promise<boolean> {
    const feePayers = await this.#feePayers().catch((): string[] => []);
    return this.operator !== undefined && feePayers.includes(this.operator.accountId);
  }

  /** The outcome of a side effect that this or another copy began. "unknown" as long as the chain may still take it. */
  async endingOf(effect: Pick<SideEffect, "transactionIds" | "validUntil" | "promised">): Promise<Ending> {
    const decisive = effect.transactionIds.at(-1)!;
    return this.#ask(decisive, effect.validUntil!.getTime(), effect.promised);
  }

  /** Closes the effect as it ended and says so: its result, or why there is none. */
  async conclude(
    journal: SideEffectJournal,
    effect: Pick<SideEffect, "key" | "transactionIds" | "promised">,
    ending: Ending,
  ): Promise<Result> {
    const transactionId = effect.transactionIds[0]!;
    switch (ending.ending) {
      case "unknown":
        throw new OutcomeUnknownError(transactionId);
      case "failed":
        await journal.close(effect, {});
        throw failureOf(ending.status, transactionId);
      case "done": {
        const output = { kind: "receipt", status: "SUCCESS", transactionId } as const;
        const result = { output, receipt: { ...effect.promised.receipt, ...ending.receipt } };
        await journal.close(effect, { done: result });
        return result;
      }
    }
  }

  async stop(): Promise<void> {
    this.#nodes.close();
    await this.mirror.stop();
  }

  /** Parts are sent one after the other, each when the one before is done: the outcome of the last is that of all. */
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
   * Offers the copies in turn until a node takes one; the chain executes an id once. A node that falls silent may have
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
        if (!transient.has(refusal)) return ambiguous ? "offered" : refusal;
      }
      if (ambiguous) return "offered";
    }
    return refusal;
  }

  /** Asks until the chain shows the outcome, which it does soon after the transaction's validity ends at the latest. */
  async #await(id: string, validUntilMs: number, promised: Promised): Promise<Ending> {
    const giveUpMs = validUntilMs + this.#giveUpAfterMs;
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
      const overMs = validUntilMs + expiredMarginMs;
      const nodesKnow =
        receipts.every((receipt) => receipt === "none") && now < this.#receiptsKeptUntilMs(validUntilMs);
      // First how far the mirror had come: a transaction that it does not show then never came.
      const isOver = now > overMs && (nodesKnow || (await this.mirror.reachedMs()) > overMs);
      const [record] = await this.mirror.records(id);
      if (record) return await this.#endingOfRecord(record, promised);
      if (isOver) return { ending: "failed", status: "TRANSACTION_EXPIRED" };
    } catch (error) {
      if (!(error instanceof EndpointSilentError)) throw error;
    }
    return { ending: "unknown" };
  }

  /** Consensus can come as soon as it is signed, which was the longest validity ago at most. */
  #receiptsKeptUntilMs(validUntilMs: number): number {
    return validUntilMs - longestValidity(this.#validSeconds) * 1_000 + receiptsKeptMs;
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

/** What a call says of the effect that it asks for. */
interface SideEffectCall {
  readonly runId: RunId;
  readonly effectKey: string;
  readonly agent: { readonly id: AgentId };
  readonly signal: AbortSignal;
}

/** A transaction to make on the chain, and what it spends. */
export interface Order extends Spending {
  readonly kind: Method;
  readonly make: (sdk: typeof import("@hashgraph/sdk")) => Transaction;
  /** Into how many transactions it falls. */
  readonly parts?: number;
  /** What the receipt says whatever the chain adds. */
  readonly promised: Readonly<Record<string, unknown>>;
}

export type Ending =
  | { readonly ending: "done"; readonly receipt: Readonly<Record<string, unknown>> }
  /** The transaction certainly had no effect. */
  | { readonly ending: "failed"; readonly status: string }
  | { readonly ending: "unknown" };

/** Nothing was executed; another node, or the same one later, may take the transaction. */
const transient = new Set(["BUSY", "PLATFORM_NOT_ACTIVE", "PLATFORM_TRANSACTION_NOT_CREATED", "INVALID_NODE_ACCOUNT"]);

const unlimited = 10n ** 30n;
const nodeTimeouts = { connectMs: 1_500, sendMs: 3_000, receiptMs: 3_000 };
const nodesMax = 3;
const roundsMax = 4;
/** By this much a node's clock may be late, or ours early. */
const expiredMarginMs = 10_000;
/** 180 s from consensus, less the time to ask. */
const receiptsKeptMs = 160_000;
/** For an order in several parts, which are sent one after the other. */
const longestValidity = (seconds: number) => Math.min(180, 2 * seconds);

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

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
