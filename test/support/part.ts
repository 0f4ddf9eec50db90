/**
 * What test files stand on. A part is started for the first test of a file that takes it, and stopped after the file's
 * last; parts that stand on it are stopped before.
 */
export const perFile = { scope: "file" } as const;

/** Starts a part, which is stopped when its fixture ends. */
export async function kept<P extends Part>(starting: P | Promise<P>, onCleanup: OnCleanup): Promise<P> {
  const started = await starting;
  onCleanup(() => stopped(started));
  return started;
}

/** Starts several of them, for one fixture. */
export async function keptAll<P extends Part>(starting: readonly Promise<P>[], onCleanup: OnCleanup): Promise<P[]> {
  const started = await Promise.all(starting);
  onCleanup(async () => {
    await Promise.all(started.map(stopped));
  });
  return started;
}

async function stopped(part: Part): Promise<void> {
  await ("stop" in part ? part.stop() : part.close());
}

/** The fixture of a part that stands on no other. */
export function part<P extends Part>(start: () => P | Promise<P>) {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
  return async ({}, { onCleanup }: { onCleanup: OnCleanup }) => kept(start(), onCleanup);
}

type Part = { stop(): unknown } | { close(): unknown };
export type OnCleanup = (end: () => Promise<void>) => void;
