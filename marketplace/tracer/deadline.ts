export class DeadlinePassedError extends Error {
  constructor() {
    super("trace deadline passed");
  }
}

/** Throws once `performance.now()` is past the deadline. */
export function keepTo(deadlineMs: number): void {
  if (performance.now() > deadlineMs) throw new DeadlinePassedError();
}
