/**
 * Does background work now and again `everyMs` after each round has ended, whatever happens in one; `failed` hears of
 * it. `stop` waits for the round that is under way.
 */
export function startRounds(
  work: () => Promise<unknown>,
  everyMs: number,
  failed: (error: unknown) => void,
): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const round = async (): Promise<void> => {
    await work().catch(failed);
    if (!stopped) timer = setTimeout(() => (current = round()), everyMs);
  };
  let current = round();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return current;
    },
  };
}
