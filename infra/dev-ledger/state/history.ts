/**
 * What the mirror still sees: for as long as the mirror lags, the value each changed object had before.
 * Costs nothing while the lag is 0.
 */
export class History {
  lagMs: number;
  readonly #past = new WeakMap<object, Version[]>();

  constructor(lagMs: number) {
    this.lagMs = lagMs;
  }

  /** Call before changing `target`. */
  remember(target: object): void {
    if (this.lagMs === 0) return;
    const now = Date.now();
    const versions = this.#past.get(target)?.filter(({ until }) => until > now) ?? [];
    if (versions.at(-1)?.until !== now + this.lagMs) versions.push({ until: now + this.lagMs, value: { ...target } });
    this.#past.set(target, versions);
  }

  /** `target` as it stood `lagMs` ago. */
  seen<T extends object>(target: T): T {
    if (this.lagMs === 0) return target;
    const now = Date.now();
    const version = this.#past.get(target)?.find(({ until }) => until > now);
    return version ? (version.value as T) : target;
  }
}

type Version = { until: number; value: object };
