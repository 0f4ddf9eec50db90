import { setMaxListeners } from "node:events";

export interface TimeLimit {
  /** Aborted when the time is over, with a TimeoutError, or when the other signal is, with its reason. */
  readonly signal: AbortSignal;
  /** What was limited is done: nothing ends it any more. */
  lift(): void;
}

/**
 * Ends what it is given to after `ms`, or sooner with another signal. `AbortSignal.any` with a timeout does not do: in Node 20
 * nothing keeps the timeout, so that it is collected as garbage and never fires (nodejs/node#57736); in later versions the
 * same can befall any signal (nodejs/node#65995).
 */
export function timeLimit(ms: number, sooner?: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const end = () => controller.abort(sooner?.reason);
  const timer = setTimeout(() => controller.abort(new DOMException("It took too long.", "TimeoutError")), ms);
  timer.unref();
  if (sooner) {
    // As many listen as are limited at the same time, each until it is lifted.
    setMaxListeners(0, sooner);
    sooner.addEventListener("abort", end);
    if (sooner.aborted) end();
  }
  const lift = () => {
    clearTimeout(timer);
    sooner?.removeEventListener("abort", end);
  };
  return { signal: controller.signal, lift };
}
