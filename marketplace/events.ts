import type { Log } from "../shared/log.ts";
import type { Metrics } from "./metrics.ts";

/** One function per business event, so that what is logged and counted of it is decided in one place. */
export function createEvents(log: Log, metrics: Metrics) {
  return {
    started: (event: { url: string; doubts: readonly string[] }) => {
      for (const doubt of event.doubts) log.warn(doubt);
      log.info({ url: event.url }, "marketplace is listening");
    },
    connectorEnded: (event: {
      runId: string;
      agent: string;
      connector: string;
      outcome: string;
      durationMs: number;
    }) => {
      const { connector, outcome } = event;
      metrics.connectors.add({ connector, outcome });
      metrics.connectorSeconds.observe({ connector }, event.durationMs / 1_000);
      log[outcome === "crashed" ? "error" : "info"](event, "connector ended");
    },
    runEnded: (event: { runId: string; agent: string; state: string }) => {
      metrics.runs.add({ state: event.state });
      log.info(event, "run ended");
    },
    runNotResolved: ({ runId, error }: { runId: string; error: unknown }) =>
      log.warn({ runId, err: error }, "run could not be ended; it will be tried again"),
    runLost: (event: { runId: string; rail: string }) => log.warn(event, "run lost; credits given back"),
    claimNotEnded: ({ runId, error }: { runId: string; error: unknown }) =>
      log.warn({ runId, err: error }, "claim for a model could not be ended; it will be tried again"),
    failureNotCounted: ({ runId, error }: { runId: string; error: unknown }) =>
      log.warn({ runId, err: error }, "a failure after the model answered could not be counted against its buyer"),
    agentStopped: (event: { agent: string; reason: string }) => log.info(event, "agent has stopped answering"),
    leasesNotExtended: ({ error }: { error: unknown }) => log.warn({ err: error }, "leases could not be extended"),
    jobFailed: (job: string, error: unknown) => {
      metrics.jobFailures.add({ task: job });
      log.warn({ job, err: error }, "background job failed; it will be tried again");
    },
    walletMoved: (event: { walletId: string; network: string; state: string }) =>
      log.info(event, "payout wallet changed state"),
    agentPublished: (event: { agent: string; version: number }) => log.info(event, "agent published"),
  };
}

export type Events = ReturnType<typeof createEvents>;
