import { Pool } from "undici";
import type { JsonObject } from "../../../shared/json.ts";
import { inSpan } from "../../../shared/tracing.ts";
import { ReadCache } from "../read-cache.ts";
import { NetworkAwayError, type Payment } from "../scheme.ts";
import { type Key, readMirrorKey } from "./keys.ts";
import { hbar } from "./payload.ts";
import { transfersWithoutRewards } from "./staking-rewards.ts";

/**
 * A mirror node's REST interface, read sparingly: the public ones allow 50 requests a second. What is asked twice at
 * the same moment is asked once. Every method throws MirrorSilentError when there is no answer to rely on.
 */
export class Mirror {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #reads = new ReadCache(entriesMax);
  #exhaustedUntilMs = 0;

  constructor(url: string) {
    const { origin, pathname } = new URL(url);
    this.#pool = new Pool(origin, { connections: 64, connect: { timeout: timeoutMs }, maxResponseSize: bytesMax });
    this.#basePath = pathname.replace(/\/$/, "");
  }

  /**
   * Undefined when there is no such account. `shown`: transactions that the mirror has already; what was asked for before is
   * not shared then.
   */
  account(id: string, ageMaxMs: number, shown: readonly string[] = []): Promise<MirrorAccount | undefined> {
    return this.#reads.read(["account", id, ...shown].join(" "), ageMaxMs, async () => {
      const found = await this.get(`/api/v1/accounts/${id}?transactions=false`);
      return found && readAccount(found);
    });
  }

  /** What an account holds of a token; undefined when the two are not associated. */
  holding(
    account: string,
    token: string,
    ageMaxMs: number,
    shown: readonly string[] = [],
  ): Promise<Holding | undefined> {
    return this.#reads.read(["holding", account, token, ...shown].join(" "), ageMaxMs, async () => {
      const found = await this.get(`/api/v1/accounts/${account}/tokens?token.id=${token}`);
      const row = listOf(found, "tokens").find(({ token_id: id }) => id === token);
      return row && { balance: wholeOf(row.balance), frozen: row.freeze_status, kyc: row.kyc_status };
    });
  }

  token(id: string, ageMaxMs: number): Promise<MirrorToken | undefined> {
    return this.#reads.read(`token ${id}`, ageMaxMs, async () => {
      const found = await this.get(`/api/v1/tokens/${id}`);
      return found && readToken(found);
    });
  }

  /** What the chain executed under a transaction id (`0.0.A@s.n`); empty while the mirror has not seen it. */
  async records(transaction: string): Promise<readonly TransactionRecord[]> {
    return (await this.executed(transaction))
      .filter(({ nonce, scheduled, result }) => nonce === 0 && scheduled !== true && result !== "DUPLICATE_TRANSACTION")
      .map((record) => ({
        result: String(record.result),
        hash: String(record.transaction_hash),
        fee: typeof record.charged_tx_fee === "number" ? wholeOf(record.charged_tx_fee) : undefined,
        rows: [
          ...listOf({ transfers: transfersWithoutRewards(record) }, "transfers").map((row) => rowOf(hbar, row)),
          ...listOf(record, "token_transfers").map((row) => rowOf(String(row.token_id), row)),
        ],
      }));
  }

  /** The mirror's own records of a transaction id. An answer without a list has not said that there are none. */
  async executed(transaction: string): Promise<readonly JsonObject[]> {
    const path = `/api/v1/transactions/${transaction.replace("@", "-").replace(/\.(\d+)$/, "-$1")}`;
    const found = await this.get(path);
    if (found === undefined) return [];
    if (!Array.isArray(found?.transactions)) throw new MirrorSilentError(path, new Error("no list of transactions"));
    return found.transactions;
  }

  /**
   * Up to when the mirror has seen everything, by its newest block or, where it does not say, by what it knows of an account
   * that is in use.
   */
  async seenUntilMs(account: string): Promise<number | undefined> {
    const [block] = listOf(await this.get("/api/v1/blocks?limit=1&order=desc"), "blocks");
    const endMs = Number((block?.timestamp as JsonObject | undefined)?.to) * 1_000;
    if (Number.isFinite(endMs)) return endMs;
    const asOf = (await this.account(account, 0))?.asOf;
    return asOf === undefined ? undefined : Number(asOf / 1_000_000n);
  }

  /** What a tinybar is worth in tinycents (both 10^8 to the whole); undefined where the mirror does not say. */
  exchangeRate(ageMaxMs: number): Promise<number | undefined> {
    return this.#reads.read("exchange rate", ageMaxMs, async () => {
      const rate = (await this.get("/api/v1/network/exchangerate"))?.current_rate as JsonObject | undefined;
      const tinycents = Number(rate?.cent_equivalent) / Number(rate?.hbar_equivalent);
      return Number.isFinite(tinycents) && tinycents > 0 ? tinycents : undefined;
    });
  }

  /** The mirror has said lately that it gets too many requests. */
  get isExhausted(): boolean {
    return Date.now() < this.#exhaustedUntilMs;
  }

  /** A body, or undefined on 404. */
  get(path: string): Promise<JsonObject | undefined> {
    const [, , , of = ""] = path.split(/[/?]/);
    return inSpan(`mirror ${of}`, { "http.request.method": "GET" }, () => this.#askTwice(path));
  }

  async #askTwice(path: string): Promise<JsonObject | undefined> {
    try {
      return await this.#ask(path);
    } catch (error) {
      // A kept connection may have been closed just now: one more try, unless there was an answer or a long wait.
      if (error instanceof MirrorSilentError || (error as Error).name === "TimeoutError")
        throw new MirrorSilentError(path, error);
    }
    return this.#ask(path).catch((error) => {
      throw new MirrorSilentError(path, error);
    });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #ask(path: string): Promise<JsonObject | undefined> {
    const { statusCode, body } = await this.#pool.request({
      method: "GET",
      path: `${this.#basePath}${path}`,
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (statusCode === 200) return (await body.json()) as JsonObject;
    await body.dump();
    if (statusCode === 404) return undefined;
    if (statusCode === 429) this.#exhaustedUntilMs = Date.now() + exhaustedMs;
    throw new MirrorSilentError(path, new Error(`status ${statusCode}`));
  }
}

/** The mirror did not answer, or not in a way that can be relied on. */
export class MirrorSilentError extends NetworkAwayError {
  override readonly name = "MirrorSilentError";

  constructor(path: string, cause: unknown) {
    super(`the mirror gave no answer to ${path}`, { cause });
  }
}

export interface MirrorAccount {
  readonly key: Key;
  /** Tinybars. */
  readonly balance: bigint;
  readonly deleted: boolean;
  readonly receiverSignatureRequired: boolean;
  /** When the balance last changed, as far as the mirror knows: nanoseconds of consensus. */
  readonly asOf: bigint | undefined;
}

export interface Holding {
  readonly balance: bigint;
  readonly frozen: unknown;
  readonly kyc: unknown;
}

export interface MirrorToken {
  readonly fungible: boolean;
  readonly decimals: number;
  readonly customFees: boolean;
  readonly paused: boolean;
  readonly deleted: boolean;
}

export interface TransactionRecord {
  readonly result: string;
  /** SHA-384 of the signed transaction, base64. */
  readonly hash: string;
  /** Tinybars. */
  readonly fee: bigint | undefined;
  /** What it moved, fees among it and no staking rewards. */
  readonly rows: ReadonlyArray<{ readonly asset: string; readonly account: string; readonly amount: number }>;
}

/** Whether a transaction moved the agreed amount from payer to payTo. */
export function paysAsAgreed({ result, rows }: TransactionRecord, agreed: Agreed): boolean {
  const moved = (account: string) =>
    rows.reduce((sum, row) => sum + (row.asset === agreed.asset && row.account === account ? row.amount : 0), 0);
  const amount = Number(agreed.amount);
  return result === "SUCCESS" && moved(agreed.payTo) === amount && moved(agreed.payer) === -amount;
}

type Agreed = Pick<Payment, "payer" | "payTo" | "asset" | "amount">;

const rowOf = (asset: string, { account, amount }: JsonObject) => ({
  asset,
  account: String(account),
  amount: Number(amount),
});

/** Where the mirror does not say a thing, the worse is assumed. */
function readAccount(found: JsonObject): MirrorAccount {
  return {
    key: readMirrorKey(found.key),
    balance: wholeOf((found.balance as JsonObject | undefined)?.balance),
    deleted: found.deleted !== false,
    receiverSignatureRequired: found.receiver_sig_required === true,
    asOf: nanosOf((found.balance as JsonObject | undefined)?.timestamp),
  };
}

/** Nanoseconds of a mirror's timestamp, `seconds.nanos`. */
function nanosOf(timestamp: unknown): bigint | undefined {
  const [, seconds, nanos] = /^(\d{1,10})\.(\d{9})$/.exec(String(timestamp)) ?? [];
  return seconds && nanos ? BigInt(seconds + nanos) : undefined;
}

function readToken(found: JsonObject): MirrorToken {
  const fees = found.custom_fees as JsonObject | undefined;
  return {
    fungible: found.type === "FUNGIBLE_COMMON",
    decimals: Number(found.decimals),
    customFees: listOf(fees, "fixed_fees").length + listOf(fees, "fractional_fees").length > 0,
    paused: found.pause_status === "PAUSED",
    deleted: found.deleted !== false,
  };
}

function listOf(body: JsonObject | undefined, name: string): readonly JsonObject[] {
  const list = body?.[name];
  return Array.isArray(list) ? list : [];
}

/** Amounts are JSON numbers here; above 2^53 the last digits are lost, which no comparison of ours needs. */
function wholeOf(value: unknown): bigint {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? BigInt(Math.floor(value)) : 0n;
}

const timeoutMs = 4_000;
const exhaustedMs = 3_000;
const bytesMax = 1_048_576;
const entriesMax = 20_000;
