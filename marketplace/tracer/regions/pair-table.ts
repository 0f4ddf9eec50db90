/** Open-addressing table from an unordered pair of small integers to an integer. Made for one merge run: never shrinks. */
export class PairTable {
  private low: Int32Array;
  private high: Int32Array;
  private value: Int32Array;
  private used = 0;
  private mask: number;

  constructor(expected: number) {
    let capacity = 1024;
    while (capacity < expected * 2) capacity *= 2;
    this.mask = capacity - 1;
    this.low = new Int32Array(capacity).fill(free);
    this.high = new Int32Array(capacity);
    this.value = new Int32Array(capacity);
  }

  /** The stored value, or -1. */
  get(a: number, b: number): number {
    const slot = this.slot(Math.min(a, b), Math.max(a, b));
    return this.low[slot] === free ? -1 : this.value[slot];
  }

  /** Stores a value; -1 forgets the pair. */
  set(a: number, b: number, value: number): void {
    const low = Math.min(a, b);
    const high = Math.max(a, b);
    const slot = this.slot(low, high);
    if (this.low[slot] === free) {
      this.low[slot] = low;
      this.high[slot] = high;
      this.used++;
    }
    this.value[slot] = value;
    if (this.used * 3 > this.mask * 2) this.grow();
  }

  private slot(low: number, high: number): number {
    let slot = (Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & this.mask;
    while (this.low[slot] !== free && (this.low[slot] !== low || this.high[slot] !== high))
      slot = (slot + 1) & this.mask;
    return slot;
  }

  private grow(): void {
    const { low, high, value } = this;
    let live = 0;
    for (let i = 0; i < low.length; i++) if (low[i] !== free && value[i] !== -1) live++;
    let capacity = 1024;
    while (capacity < live * 4) capacity *= 2;
    this.mask = capacity - 1;
    this.low = new Int32Array(capacity).fill(free);
    this.high = new Int32Array(capacity);
    this.value = new Int32Array(capacity);
    this.used = 0;
    for (let i = 0; i < low.length; i++) {
      if (low[i] !== free && value[i] !== -1) this.set(low[i], high[i], value[i]);
    }
  }
}

const free = -1;
