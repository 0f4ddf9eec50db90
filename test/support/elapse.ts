/**
 * Lets a time pass, where time is what a test gives: a lag, a lease, the pace of an attack. `_why` tells the reader what must
 * be so old, or last so long. What can be seen to happen is waited for instead (`until`, `expect.poll`).
 */
export function elapse(ms: number, _why: string): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
