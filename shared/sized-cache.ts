/** Keeps the entries asked for last, as far as there is room: each has the size that its maker gives. */
export class SizedCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly size: number }>();
  readonly #sizeMax: number;
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Replaces what the key had. A value that is larger than the whole room is not kept. */
  set(key: string, value: Value, size: number): void {
    this.delete(key);
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#sizeMax) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
