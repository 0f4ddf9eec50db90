import type { Queryable } from "../../../shared/postgres.ts";
import type { Reads } from "../../../shared/reads.ts";

/** What happened on this service since midnight (UTC). */
export interface HomeFigures {
  readonly runs: number;
  /** Share of ended runs that succeeded, between 0 and 1; null when none ended. */
  readonly successRate: number | null;
  /** Calls that were paid for one by one, settled. */
  readonly settledCalls: number;
  /** What those paid, in atomic units of a stablecoin with six decimals. */
  readonly settledAtomic: bigint;
  /** The last ones of today, newest first. What each bought is its payer's business. */
  readonly latest: readonly SettledCall[];
}

export interface SettledCall {
  readonly network: string;
  readonly transaction: string;
  readonly atomic: bigint;
  readonly at: Date;
}

const latestMax = 5;

const freshMs = 60_000;
const keptMs = 600_000;

/**
 * Reads the figures at most once a minute, and keeps the last ones while newer ones are read: no visitor waits for them but
 * the first of a day, or in ten minutes. They are left out while they cannot be read.
 */
export function homeFigures(reads: Pick<Reads, "run">): () => Promise<HomeFigures | undefined> {
  let known: { readonly figures: HomeFigures; readonly day: string; readonly atMs: number } | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<HomeFigures | undefined> | undefined;
  const knownToday = () =>
    known && known.day === today() && performance.now() - known.atMs < keptMs ? known.figures : undefined;
  return () => {
    if (performance.now() - readAtMs >= freshMs) {
      reading ??= reads
        .run(readFigures)
        .then(
          (figures) => {
            known = { figures, day: today(), atMs: performance.now() };
            return figures;
          },
          () => knownToday(),
        )
        .finally(() => {
          reading = undefined;
          readAtMs = performance.now();
        });
    }
    const figures = knownToday();
    return figures ? Promise.resolve(figures) : (reading ?? Promise.resolve(undefined));
  };
}

/** The database's day: UTC. */
const today = () => new Date().toISOString().slice(0, 10);

/** Runs are counted already, by day; paid calls are found by when their result came. */
async function readFigures(db: Queryable): Promise<HomeFigures> {
  const { rows } = await db.query<{ runs: bigint; succeeded: bigint; calls: bigint; atomic: string }>(
    `select runs, succeeded, calls, atomic
     from (select coalesce(sum(runs), 0)::bigint as runs, coalesce(sum(runs) filter (where outcome >= 0), 0)::bigint as succeeded
           from agent_run_counts where day = (now() at time zone 'utc')::date) counted,
          (select count(*) as calls, coalesce(sum((requirements->>'amount')::numeric), 0)::text as atomic
           from paid_calls
           where result_at >= date_trunc('day', now(), 'UTC') and transaction_id is not null) settled`,
  );
  const { runs, succeeded, calls, atomic } = rows[0]!;
  const latest = await db.query<Omit<SettledCall, "atomic"> & { amount: string }>(
    `select network, transaction_id as transaction, requirements->>'amount' as amount, result_at as at from paid_calls
     where result_at >= date_trunc('day', now(), 'UTC') and transaction_id is not null
     order by result_at desc limit ${latestMax}`,
  );
  return {
    runs: Number(runs),
    successRate: Number(runs) === 0 ? null : Number(succeeded) / Number(runs),
    settledCalls: Number(calls),
    settledAtomic: BigInt(atomic),
    latest: latest.rows.map(({ amount, ...call }) => ({ ...call, atomic: BigInt(amount) })),
  };
}
