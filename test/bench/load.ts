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
  const latenciesMs = new Array<number>(calls.length).fill(0);
  let next = 0;
  let succeeded = 0;
  const startedAt = performance.now();
  const worker = async () => {
    while (next < calls.length) {
      const index = next++;
      const begunAt = performance.now();
      if (await calls[index]!().catch(() => false)) succeeded += 1;
      latenciesMs[index] = performance.now() - begunAt;
      if (restMs > 0) await pause(restMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return figuresOf(latenciesMs, succeeded, (performance.now() - startedAt) / 1_000);
}

export interface Figures {
  readonly calls: number;
  readonly succeeded: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Of each call, in the order of the calls. */
  readonly latenciesMs: readonly number[];
}

/**
 * What the steps of the same calls take one after the other: of each call the sum of what its steps took. The middle of
 * these sums is a call's middle; the sum of the steps' middles would be no call's.
 */
export function inTurn(steps: readonly Figures[]): Figures {
  const [first, ...others] = steps as [Figures, ...Figures[]];
  const latenciesMs = first.latenciesMs.map((ms, call) =>
    others.reduce((all, step) => all + (step.latenciesMs[call] as number), ms),
  );
  const seconds = steps.reduce((all, { calls, perSecond }) => all + calls / perSecond, 0);
  return figuresOf(latenciesMs, Math.min(...steps.map(({ succeeded }) => succeeded)), seconds);
}

function figuresOf(latenciesMs: readonly number[], succeeded: number, seconds: number): Figures {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
  return {
    calls: latenciesMs.length,
    succeeded,
    perSecond: latenciesMs.length / seconds,
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
    latenciesMs,
  };
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
