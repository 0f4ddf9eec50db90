/** Growable scratch for the points of one outline. */
export class Points {
  count = 0;
  x = new Float64Array(4096);
  y = new Float64Array(4096);
  /** How far the fitted curve may miss the point, px. */
  tolerance = new Float64Array(4096);
  /** 1 where the outline must have a corner. */
  corner = new Uint8Array(4096);
  /** How far the point is to be pushed outwards, px. */
  push = new Float64Array(4096);
  /** 1 where a stroke drawn later lies over the outline: what is measured there says little of the shape. */
  beneath = new Uint8Array(4096);

  clear(): void {
    this.count = 0;
  }

  add(x: number, y: number, tolerance: number, corner: 0 | 1 = 0, push = 0): void {
    if (this.count === this.x.length) this.grow();
    const i = this.count++;
    this.x[i] = x;
    this.y[i] = y;
    this.tolerance[i] = tolerance;
    this.corner[i] = corner;
    this.push[i] = push;
    this.beneath[i] = 0;
  }

  private grow(): void {
    const capacity = this.x.length * 2;
    for (const name of ["x", "y", "tolerance", "push"] as const) {
      const grown = new Float64Array(capacity);
      grown.set(this[name]);
      this[name] = grown;
    }
    for (const name of ["corner", "beneath"] as const) {
      const grown = new Uint8Array(capacity);
      grown.set(this[name]);
      this[name] = grown;
    }
  }
}
