import {
  type Address,
  type Hex,
  numberToHex,
  type PublicClient,
  ResponseBodyTooLargeError,
  RpcError,
  RpcRequestError,
} from "viem";

/** A log without its data. */
export interface RawLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
}

/** Blocks, both ends included, and how many are asked for at once: at first, and at most. */
export interface LogRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly step: bigint;
  readonly stepMax: bigint;
}

/** What was read: all logs from this block on, or not all of them. */
export interface LogsRead {
  readonly from: bigint;
  readonly complete: boolean;
}

/**
 * Gives raw logs to `take`, newest first, until it answers false. Any account can fill blocks with logs of a token or of a wallet:
 * where an answer is too large, or refused, fewer blocks are asked for; a block whose logs are too many by themselves is left
 * out, and after `refusalsMax` such answers the rest is. Logs are not decoded, which takes long for many.
 */
export async function readLogs(
  client: PublicClient,
  filter: { address?: Address; topics: Array<Hex | Hex[] | null> },
  { from: first, to: latest, step: firstStep, stepMax }: LogRange,
  take: (log: RawLog) => boolean,
  signal?: AbortSignal,
): Promise<LogsRead> {
  let [to, step, refusals, complete] = [latest, firstStep, 0, true];
  while (to >= first) {
    signal?.throwIfAborted();
    const from = to - step + 1n > first ? to - step + 1n : first;
    const params = [{ ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }] as const;
    const logs = await client
      .request({ method: "eth_getLogs", params: [...params] }, { retryCount: 0 })
      .catch((error: unknown) => refusedFor(error, from === to));
    if (logs) {
      for (const log of logs.reverse()) if (!take(log)) return { from, complete: false };
      step = step * 2n < stepMax ? step * 2n : stepMax;
      to = from - 1n;
      continue;
    }
    refusals += 1;
    if (refusals >= refusalsMax) return { from: to + 1n, complete: false };
    if (from < to) step = (to - from + 1n) / 8n || 1n;
    else [to, complete] = [from - 1n, false];
  }
  return { from: first, complete };
}

const refusalsMax = 40;

/** Undefined for an answer that fewer blocks may make small enough; throws what they would not help against. */
function refusedFor(error: unknown, isOneBlock: boolean): undefined {
  if (error instanceof ResponseBodyTooLargeError) return;
  // Nodes have limits of their own on blocks and logs, and no code in common to say so.
  if (!isOneBlock && (error instanceof RpcError || error instanceof RpcRequestError)) return;
  throw error;
}
