/**
 * Remembers answers for a while and shares questions that are being asked, so that a rate-limited source is asked as
 * little as correctness allows. A failure is shared by the callers who wait for it and not remembered.
 */
export class ReadCache {
  readonly #entries = new Map<string, Entry>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  /** The value under `key` if it was asked for at most `ageMaxMs` ago (0: only while being asked), else `load()`. */
  read<T>(key: string, ageMaxMs: number, load: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known && (!known.settled || Date.now() - known.askedAt <= ageMaxMs)) {
      if (ageMaxMs > 0) this.#touch(key, known);
      return known.value as Promise<T>;
    }
    const entry: Entry = { askedAt: Date.now(), settled: false, value: load() };
    this.#entries.delete(key);
    this.#touch(key, entry);
    entry.value.then(
      () => {
        entry.settled = true;
        if (ageMaxMs === 0) this.#forget(key, entry);
      },
      () => this.#forget(key, entry),
    );
    return entry.value as Promise<T>;
  }

  /** Moves to the end of the line of those to be forgotten. */
  #touch(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#entriesMax) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

interface Entry {
  readonly askedAt: number;
  settled: boolean;
  readonly value: Promise<unknown>;
}
