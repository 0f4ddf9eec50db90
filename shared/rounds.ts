/**
 * Does background work now and again `everyMs` after each round has ended, whatever happens in one; `failed` hears of
 * it. `stop` waits for the round that is under way; one that takes long looks at `stopping` between its steps.
 */
export function startRounds(
  work: (stopping: AbortSignal) => Promise<unknown>,
  everyMs: number,
  failed: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const round = async (): Promise<void> => {
    await work(stopping.signal).catch(failed);
    if (!stopping.signal.aborted) timer = setTimeout(() => (current = round()), everyMs);
  };
  let current = round();
  return {
    stop: () => {
      stopping.abort();
      clearTimeout(timer);
      return current;
    },
  };
}
