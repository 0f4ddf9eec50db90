/**
 * Runs `run` at once, and again `everyMs` milliseconds after each run has ended, whether it succeeded or threw; what a
 * run throws goes to `failed`. `stop` waits for the run under way; a long run looks at `stopping` between its steps.
 */
export function startPeriodicTask({ run, everyMs, failed }: PeriodicTask): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const runAndPlanNext = async (): Promise<void> => {
    await run(stopping.signal).catch(failed);
    if (!stopping.signal.aborted) timer = setTimeout(() => (current = runAndPlanNext()), everyMs);
  };
  let current = runAndPlanNext();
  return {
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
  readonly failed: (error: unknown) => void;
}
