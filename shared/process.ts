import { ConfigError } from "./env.ts";

/** Something started that can be stopped. Stopping twice is harmless. */
export interface Running {
  /** Refuses new work, finishes what runs, closes in reverse order. */
  stop(): Promise<void>;
}

/**
 * Runs a service until SIGTERM or SIGINT, then stops it. Exits 1 with a plain message when it cannot start, and
 * gives up waiting `stopTimeoutMs` after the signal so that a supervisor is never kept waiting.
 */
export async function runUntilSignal(start: () => Promise<Running>, stopTimeoutMs = 60_000): Promise<void> {
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, resolve);
  });
  let running: Running;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
    process.exit(1);
  }
  await signal;
  const deadline = setTimeout(() => {
    process.stderr.write(`still busy ${stopTimeoutMs} ms after the signal; leaving the rest to recovery\n`);
    process.exit(1);
  }, stopTimeoutMs);
  deadline.unref();
  await running.stop();
  process.exit(0);
}

/** Collects what was opened and closes it in reverse order. */
export class Disposer implements Running {
  readonly #steps: Array<() => Promise<unknown> | unknown> = [];
  #stopping: Promise<void> | undefined;

  add(step: () => Promise<unknown> | unknown): void {
    this.#steps.push(step);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#run();
    return this.#stopping;
  }

  async #run(): Promise<void> {
    for (const step of this.#steps.toReversed()) await step();
  }
}
