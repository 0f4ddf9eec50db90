/** Things by the area they lie on and a row of pixels, so that a search along one line does not look at all things. */
export class ByRow<T> {
  private readonly rows = new Map<number, T[]>();
  private readonly height: number;

  constructor(height: number) {
    this.height = height;
  }

  add(on: number, row: number, thing: T): void {
    const things = this.rows.get(this.key(on, row));
    if (things) things.push(thing);
    else this.rows.set(this.key(on, row), [thing]);
  }

  remove(on: number, row: number, thing: T): void {
    const things = this.rows.get(this.key(on, row)) ?? [];
    const at = things.indexOf(thing);
    if (at >= 0) things.splice(at, 1);
  }

  /** The things in the rows from `from` to `to`, row by row, in the order in which they were added; the caller may remove things meanwhile. */
  *between(on: number, from: number, to: number): Generator<T[]> {
    const last = Math.min(this.height, Math.floor(to));
    for (let row = Math.max(0, Math.ceil(from)); row <= last; row++) {
      const things = this.rows.get(this.key(on, row));
      if (things) yield things;
    }
  }

  private key(on: number, row: number): number {
    return on * (this.height + 1) + row;
  }
}

/** The index of the first of `things`, which are sorted by `of`, that is no less than `least`. */
export function firstFrom<T>(things: readonly T[], least: number, of: (thing: T) => number): number {
  let low = 0;
  let high = things.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(things[middle]) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
