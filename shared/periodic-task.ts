/**
 * Runs `run` at once, or as soon as `after` has resolved, and again `everyMs` milliseconds after each run has ended, or
 * `retryMs` after one that threw; what a run throws goes to `failed`. `firstEnded` resolves with the end of the first run.
 * `stop` waits for the run under way; a long run looks at `stopping` between its steps.
 */
export function startPeriodicTask({ run, everyMs, retryMs = everyMs, failed, after }: PeriodicTask): StartedTask {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const runAndPlanNext = async (): Promise<void> => {
    const waitMs = await run(stopping.signal).then(
      () => everyMs,
      (error) => {
        failed(error);
        return Math.min(retryMs, everyMs);
      },
    );
    if (!stopping.signal.aborted) timer = setTimeout(() => (current = runAndPlanNext()), waitMs);
  };
  let current = after ? after.then(() => (stopping.signal.aborted ? undefined : runAndPlanNext())) : runAndPlanNext();
  return {
    firstEnded: current,
    stop: () => {
      stopping.abort();
      clearTimeout(timer);
      return current;
    },
  };
}

interface PeriodicTask {
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
  readonly everyMs: number;
  readonly retryMs?: number;
  readonly failed: (error: unknown) => void;
  readonly after?: Promise<unknown>;
}

interface StartedTask {
  readonly firstEnded: Promise<void>;
  stop(): Promise<void>;
}
