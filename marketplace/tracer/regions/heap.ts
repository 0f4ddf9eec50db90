/** Binary min-heap of (key, id) in typed arrays. Ids may occur more than once: the owner knows which key is current. */
export class Heap {
  size = 0;
  private keys: Float64Array;
  private ids: Int32Array;

  constructor(capacity: number) {
    this.keys = new Float64Array(Math.max(16, capacity));
    this.ids = new Int32Array(this.keys.length);
  }

  /** The least key, or infinity. */
  get topKey(): number {
    return this.size > 0 ? this.keys[0] : Number.POSITIVE_INFINITY;
  }

  get topId(): number {
    return this.ids[0];
  }

  push(key: number, id: number): void {
    if (this.size === this.keys.length) this.grow();
    const { keys, ids } = this;
    let at = this.size++;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (keys[up] <= key) break;
      keys[at] = keys[up];
      ids[at] = ids[up];
      at = up;
    }
    keys[at] = key;
    ids[at] = id;
  }

  pop(): void {
    const last = --this.size;
    if (last > 0) this.sink(this.keys[last], this.ids[last]);
  }

  /** Gives the top entry a new key. */
  replaceTop(key: number): void {
    this.sink(key, this.ids[0]);
  }

  private sink(key: number, id: number): void {
    const { keys, ids, size } = this;
    let at = 0;
    for (let child = 1; child < size; child = at * 2 + 1) {
      if (child + 1 < size && keys[child + 1] < keys[child]) child++;
      if (keys[child] >= key) break;
      keys[at] = keys[child];
      ids[at] = ids[child];
      at = child;
    }
    keys[at] = key;
    ids[at] = id;
  }

  private grow(): void {
    const keys = new Float64Array(this.keys.length * 2);
    keys.set(this.keys);
    const ids = new Int32Array(keys.length);
    ids.set(this.ids);
    this.keys = keys;
    this.ids = ids;
  }
}
