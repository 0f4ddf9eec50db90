import type { JsonObject } from "../../../shared/json.ts";
import type { SearchLog, SearchMark, SentSettlement } from "../scheme.ts";
import type { HederaConfig } from "./config.ts";
import type { Mirror } from "./mirror.ts";
import type { HederaPayment } from "./payload.ts";
import { readSettlement } from "./sent-transfers.ts";

/**
 * Finds what our fee payers settled and the database does not know any more: every transfer that one of them paid for, in the
 * order of consensus, by the mirror's records. It searches only what is old enough for every mirror behind the address to have.
 */
export class SentSearch {
  readonly #needs: Needs;
  /** How far the mirror was when it was last looked, in nanoseconds. */
  #seen: bigint | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** What was settled under a payment's transaction id. Throws MirrorSilentError. */
  async find({ key, feePayer }: Pick<HederaPayment, "key" | "feePayer">): Promise<SentSettlement | undefined> {
    const { mirror, config } = this.#needs;
    const executed = await mirror.executed(key);
    return executed.map((record) => readSettlement(record, feePayer, config)).find((found) => found !== undefined);
  }

  async search(log: SearchLog, feePayers: readonly string[], stopping: AbortSignal): Promise<void> {
    const { network } = this.#needs.config;
    const [first] = feePayers;
    if (first === undefined) return;
    const until = this.#seen;
    const newestMs = await this.#needs.mirror.seenUntilMs(first);
    if (newestMs !== undefined) this.#seen = BigInt(Math.floor(newestMs)) * 1_000_000n;
    const beginAt = until ?? this.#seen;
    if (beginAt === undefined) return;
    const marks = await log.marks(network, feePayers);
    const fresh = feePayers.filter((feePayer) => marks.every((mark) => mark.feePayer !== feePayer));
    const begun = fresh.map((feePayer) => ({ feePayer, until: beginAt, nextNonce: undefined }));
    if (begun.length > 0) await log.begin(network, begun);
    if (until === undefined) return;
    const budget = { pages: pagesMax };
    for (const mark of marks) {
      if (stopping.aborted) return;
      if (mark.until < until) await this.#readPages(log, mark, until, budget);
    }
  }

  async #readPages(log: SearchLog, mark: SearchMark, until: bigint, budget: { pages: number }): Promise<void> {
    const { network } = this.#needs.config;
    const end = mark.until + windowNanos < until ? mark.until + windowNanos : until;
    let from = mark;
    while (from.until < end && budget.pages > 0) {
      budget.pages -= 1;
      const { records, isLast } = await this.#page(from, end);
      const last = isLast ? end : nanosOf(records.at(-1)?.consensus_timestamp);
      const settlements = records.flatMap((record) => readSettlement(record, mark.feePayer, this.#needs.config) ?? []);
      const to = { ...from, until: last };
      // Where nothing was sent, the mark is moved now and then.
      if (settlements.length === 0 && last === end && end - from.until < idleNanos) return;
      if (!(await log.conclude(network, { from, to }, { settlements, known: [] }))) return;
      from = to;
    }
  }

  /** A mirror may give fewer at once than it is asked for, and says then that there are more. */
  async #page({ feePayer, until }: SearchMark, end: bigint): Promise<Page> {
    const query = [
      `account.id=${feePayer}`,
      `timestamp=gt:${timestampOf(until)}`,
      `timestamp=lte:${timestampOf(end)}`,
      "transactiontype=CRYPTOTRANSFER&result=success",
      `order=asc&limit=${pageSize}`,
    ];
    const found = await this.#needs.mirror.get(`/api/v1/transactions?${query.join("&")}`);
    if (!Array.isArray(found?.transactions)) throw new Error("the mirror lists no transactions");
    const records = found.transactions as readonly JsonObject[];
    const hasNext = typeof (found.links as JsonObject | null | undefined)?.next === "string";
    return { records, isLast: records.length === 0 || (records.length < pageSize && !hasNext) };
  }
}

interface Page {
  readonly records: readonly JsonObject[];
  /** Nothing is left up to the end that was asked for. */
  readonly isLast: boolean;
}

const timestampOf = (nanos: bigint) => `${nanos / 1_000_000_000n}.${String(nanos % 1_000_000_000n).padStart(9, "0")}`;

function nanosOf(timestamp: unknown): bigint {
  const [, seconds, nanos] = /^(\d{1,10})\.(\d{9})$/.exec(String(timestamp)) ?? [];
  if (!seconds || !nanos) throw new Error("the mirror does not say when a transaction was");
  return BigInt(seconds + nanos);
}

const pageSize = 100;
/** In one search, of all fee payers together. */
const pagesMax = 40;
/** Mirrors search no longer ranges than some weeks. */
const windowNanos = 86_400_000_000_000n;
const idleNanos = 600_000_000_000n;

interface Needs {
  readonly mirror: Pick<Mirror, "executed" | "get" | "seenUntilMs">;
  readonly config: Pick<HederaConfig, "network" | "assets" | "feePayers">;
}
