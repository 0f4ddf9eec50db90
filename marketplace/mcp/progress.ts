import type { ReportProgress } from "./built-in-tool.ts";

/** Clients that give up after a minute of silence are kept waiting with one of these every few seconds. */
const everyMs = 5_000;

/** Tells a caller who asked for it how long the call has been running, until `stop`. */
export function reportWaiting(report: ReportProgress | undefined) {
  if (!report) return { stop: () => {} };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    // The caller may have left.
    report(seconds, { message: `Running for ${seconds} s.` }).catch(() => {});
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}
