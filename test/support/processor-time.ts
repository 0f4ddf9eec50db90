/** What the work took of the processor, ms: whatever else a busy machine does is not counted. */
export function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * How much more a piece of work takes of this processor now than of the one where the tests' bounds were measured; at least 1. A machine
 * of which others take a share, or that is throttled, counts what it was kept from doing as work.
 */
export function slowness(): number {
  const times = Array.from({ length: 5 }, () => processorMs(() => JSON.parse(JSON.stringify(sample))));
  return Math.max(1, times.toSorted((a, b) => a - b)[2]! / usualMs);
}

const sample = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `item ${id} "q"`, tags: ["a", "b"] }));
const usualMs = 18;
