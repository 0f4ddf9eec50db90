import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";

/** A turn that took longer than this is followed by a rest. */
const longMs = 5;
const restMaxMs = 200;

let last: Promise<void> = Promise.resolve();
let restedAt = 0;

/**
 * Resolves in a turn of the event loop that no other caller of this is given. What must be done in one go, such as
 * parsing megabytes of JSON, is done after it, so that such work of many requests never adds up. After long work the next
 * caller waits as long as that took: other requests take several turns to answer, and would meet such work in each.
 */
export function ownEventLoopTurn(): Promise<void> {
  last = last.then(async () => {
    await nextTurn();
    const restMs = restedAt - performance.now();
    if (restMs > 0) await pause(restMs);
    restAfter(performance.now());
  });
  return last;
}

/** Called right before work is begun; the turn after it sees how long that took. */
function restAfter(begunAt: number): void {
  setImmediate(() => {
    const endedAt = performance.now();
    const tookMs = endedAt - begunAt;
    if (tookMs > longMs) restedAt = endedAt + Math.min(tookMs, restMaxMs);
  });
}
