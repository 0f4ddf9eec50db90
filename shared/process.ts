import { ConfigError } from "./env.ts";

/** Something started that can be stopped. Stopping twice is harmless. */
export interface Running {
  /** Refuses new work, finishes what runs, closes in reverse order. */
  stop(): Promise<void>;
}

/** What a process runs. */
export interface Service extends Running {
  /** Has callers go elsewhere while all of them are still served; ends when balancers have had the time to notice. */
  leave?(): Promise<void>;
}

/**
 * Runs a service until SIGTERM or SIGINT, then has it leave and stops it; a second signal ends the leaving. A signal while it
 * starts ends the process at once: what had begun is no more than what a crash leaves. Exits 1 with a plain message when it
 * cannot start or calls `fail`, and gives up waiting `stopTimeoutMs` after it left so that a supervisor is never kept waiting.
 */
export async function runUntilSignal(
  start: (fail: (error: unknown) => void) => Promise<Service>,
  stopTimeoutMs = 60_000,
): Promise<void> {
  let fail: (error: unknown) => void = exitSaying;
  const failure = new Promise<unknown>((resolve) => {
    fail = resolve;
  });
  const signal = nextSignal();
  const service = await Promise.race([start(fail), signal]).catch(exitSaying);
  if (!service) process.exit(0);
  const failed = await Promise.race([signal, failure]);
  if (!failed && service.leave) await Promise.race([service.leave(), nextSignal()]);
  const giveUp = () => {
    process.stderr.write(`still busy ${stopTimeoutMs} ms after it left; leaving the rest to recovery\n`);
    process.exit(1);
  };
  setTimeout(giveUp, stopTimeoutMs).unref();
  await service.stop();
  if (failed) exitSaying(failed);
  process.exit(0);
}

function nextSignal(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve(undefined));
  });
}

function exitSaying(error: unknown): never {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
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
