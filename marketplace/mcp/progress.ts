import type { Extra } from "./built-in-tool.ts";

/** Clients that give up after a minute of silence are kept waiting with one of these every few seconds. */
const everyMs = 5_000;

/** Tells a caller who asked for it how long the call has been running, until `stop`. */
export function reportProgress({ _meta, sendNotification }: Pick<Extra, "_meta" | "sendNotification">) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { stop: () => {} };
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const progress = Math.round((performance.now() - startedAt) / 1_000);
    const params = { progressToken, progress, message: `Running for ${progress} s.` };
    // The caller may have left.
    sendNotification({ method: "notifications/progress", params }).catch(() => {});
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}
