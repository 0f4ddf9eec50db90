import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "undici";

/**
 * Runs `calls` with at most `inFlight` under way at once, and says how long they took. After each call its caller rests
 * for `restMs`.
 */
export async function measure(
  calls: ReadonlyArray<() => Promise<boolean>>,
  inFlight: number,
  restMs = 0,
): Promise<Figures> {
  const latenciesMs: number[] = [];
  let next = 0;
  let succeeded = 0;
  const startedAt = performance.now();
  const worker = async () => {
    while (next < calls.length) {
      const call = calls[next++] as () => Promise<boolean>;
      const begunAt = performance.now();
      if (await call().catch(() => false)) succeeded += 1;
      latenciesMs.push(performance.now() - begunAt);
      if (restMs > 0) await pause(restMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - startedAt) / 1_000;
  latenciesMs.sort((a, b) => a - b);
  const quantile = (q: number) =>
    latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * q))] ?? 0;
  return {
    calls: calls.length,
    succeeded,
    perSecond: calls.length / seconds,
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
  };
}

export interface Figures {
  readonly calls: number;
  readonly succeeded: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** Posts JSON over kept-alive connections and answers whether the reply satisfies `good`. */
export function poster(origin: string, connections: number) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  return {
    post: async (
      path: string,
      body: string,
      good: (reply: Record<string, unknown>) => boolean,
      more: Record<string, string> = {},
    ): Promise<boolean> => {
      const headers = { "content-type": "application/json", ...more };
      const response = await pool.request({ method: "POST", path, body, headers });
      return good((await response.body.json()) as Record<string, unknown>);
    },
    close: () => pool.close(),
  };
}

/** The middle of several runs by throughput: these machines are noisy. */
export function median(runs: readonly Figures[]): Figures {
  return runs.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(runs.length / 2)] as Figures;
}
