import type { Levels } from "../faults.ts";

/**
 * What the mirror still sees: for as long as the mirror lags, the value each changed object had before.
 * Costs nothing while `mirrorLagMs` is 0.
 */
export class History {
  readonly #levels: Levels;
  readonly #past = new WeakMap<object, Version[]>();

  constructor(levels: Levels) {
    this.#levels = levels;
  }

  /** Call before changing `target`. */
  remember(target: object): void {
    const { mirrorLagMs } = this.#levels;
    if (mirrorLagMs === 0) return;
    const now = Date.now();
    const versions = this.#past.get(target)?.filter(({ changedAtMs }) => changedAtMs > now - mirrorLagMs) ?? [];
    // When a target changes several times within a millisecond, only the first old value is worth keeping.
    if (versions.at(-1)?.changedAtMs !== now) versions.push({ changedAtMs: now, before: { ...target } });
    this.#past.set(target, versions);
  }

  /** `target` as it stood `mirrorLagMs` ago. */
  seen<T extends object>(target: T): T {
    const { mirrorLagMs } = this.#levels;
    if (mirrorLagMs === 0) return target;
    const then = Date.now() - mirrorLagMs;
    const version = this.#past.get(target)?.find(({ changedAtMs }) => changedAtMs > then);
    return version ? (version.before as T) : target;
  }
}

type Version = { changedAtMs: number; before: object };
