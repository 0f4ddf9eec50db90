/**
 * A signal that is aborted after `ms`, with a TimeoutError as by AbortSignal.timeout, or before that with another signal.
 * `AbortSignal.any` of such a timeout does not do: in Node 20 nothing keeps the timeout, so that it is collected as garbage and
 * never fires (nodejs/node#57736); in later versions the same can befall any signal (nodejs/node#65995).
 */
export function timeLimit(ms: number, sooner?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  if (!sooner) return timeout;
  const controller = new AbortController();
  const { signal } = controller;
  for (const ends of [timeout, sooner]) {
    if (ends.aborted) controller.abort(ends.reason);
    // While somebody listens to it a timeout is kept.
    else ends.addEventListener("abort", () => controller.abort(ends.reason), { once: true, signal });
  }
  return signal;
}
