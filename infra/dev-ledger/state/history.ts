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
    const versions = this.#past.get(target)?.filter(({ until }) => until > now) ?? [];
    if (versions.at(-1)?.until !== now + mirrorLagMs) versions.push({ until: now + mirrorLagMs, value: { ...target } });
    this.#past.set(target, versions);
  }

  /** `target` as it stood `mirrorLagMs` ago. */
  seen<T extends object>(target: T): T {
    if (this.#levels.mirrorLagMs === 0) return target;
    const now = Date.now();
    const version = this.#past.get(target)?.find(({ until }) => until > now);
    return version ? (version.value as T) : target;
  }
}

type Version = { until: number; value: object };
