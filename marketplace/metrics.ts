import { performance } from "node:perf_hooks";
import type { RequestHandler } from "express";
import type { DurabilityWatch } from "../shared/durability.ts";
import type { JobRecord } from "../shared/job-record.ts";
import { Counter, durabilityGauge, type Family, Gauge, Histogram, jobGauge, memory } from "../shared/metrics.ts";
import type { Database } from "../shared/postgres.ts";
import type { Reads } from "../shared/reads.ts";
import { onceClosed } from "../shared/response-closed.ts";
import type { ValkeyCounts } from "../shared/valkey-counts.ts";

/** What this copy has counted since it started, a field a family; everything else is read when it is asked for. */
export class Metrics {
  readonly answers = new Counter("marketplace_answers_total", "Answers by operation and status.");
  readonly durations = new Histogram("marketplace_answer_seconds", "Time to the end of an answer, by operation.");
  readonly connectors = new Counter("marketplace_connector_runs_total", "What connectors came to.");
  readonly connectorSeconds = new Histogram("marketplace_connector_seconds", "Time that connectors took.");
  readonly runs = new Counter("marketplace_runs_total", "Runs that ended, by their state.");
  readonly jobFailures = new Counter("marketplace_job_failures_total", "Runs of background jobs that failed.");

  /** Counts the answers of an operation, by its id in the OpenAPI document. */
  watch(operation: string): RequestHandler {
    return (_request, response, next) => {
      const startedAt = performance.now();
      onceClosed(response, () => {
        const status = response.writableFinished ? String(response.statusCode) : "hung_up";
        this.answers.add({ operation, status });
        this.durations.observe({ operation }, (performance.now() - startedAt) / 1_000);
      });
      next();
    };
  }
}

/** GET /metrics in the Prometheus text format 0.0.4. A database that does not answer leaves its own figures out. */
export async function metricsText({
  metrics,
  db,
  jobRecord,
  durability,
  valkey,
  reads,
}: MetricsNeeds): Promise<string> {
  const counted: readonly Family[] = Object.values(metrics);
  const jobs = jobGauge("marketplace_job_troubled", jobRecord);
  const elsewhere = [...(valkey?.families ?? []), ...reads.families];
  const own = [...counted, jobs, connections(db), durabilityGauge(durability), ...elsewhere, memory()];
  return [...own, ...(await backlog(db))].map((family) => family.text()).join("");
}

export interface MetricsNeeds {
  readonly metrics: Metrics;
  readonly db: Database;
  readonly jobRecord: JobRecord;
  readonly durability: DurabilityWatch;
  readonly valkey: ValkeyCounts | undefined;
  readonly reads: Reads;
}

function connections({ totalCount, idleCount, waitingCount }: Database): Family {
  return new Gauge("marketplace_database_connections", "Connections of this copy, and who waits for one.", [
    [{ state: "busy" }, totalCount - idleCount],
    [{ state: "idle" }, idleCount],
    [{ state: "waited_for" }, waitingCount],
  ]);
}

async function backlog(db: Database): Promise<readonly Family[]> {
  try {
    const { rows } = await db.query(`
      select (select count(*)::int from runs where state = 'running') as running,
             (select count(*)::int from effects where state = 'open' and valid_until < now()) as overdue,
             (select count(*)::int from (select from debts limit 10000) as owed) as debts`);
    const { running, overdue, debts } = rows[0];
    return [
      new Gauge("marketplace_runs_running", "Runs under way, of all copies.", [[{}, running]]),
      new Gauge("marketplace_effects_overdue", "Effects on chains that must have ended, and are not known to have.", [
        [{}, overdue],
      ]),
      new Gauge("marketplace_debts", "Payments whose buyers are still owed a result, 10,000 at most.", [[{}, debts]]),
    ];
  } catch {
    return [];
  }
}
