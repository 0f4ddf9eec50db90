/**
 * Straight passages between some places of a row of values: the values at the places that make all others miss the row
 * least, in squares. Its normal equations have three diagonals, and are factored once for all rows of the same places.
 */
export class Passages {
  private readonly places: readonly number[];
  /** The factored diagonal, and what lies beside it. */
  private readonly diagonal: Float64Array;
  private readonly beside: Float64Array;

  /** `places` rise from 0 to the last of the row. */
  constructor(places: readonly number[]) {
    const n = places.length;
    this.places = places;
    this.diagonal = new Float64Array(n);
    this.beside = new Float64Array(n);
    for (let i = 1; i < n; i++) {
      const span = places[i] - places[i - 1];
      // A place itself counts once, with the passage that ends there, the first with the one that begins.
      for (let k = i === 1 ? 0 : 1; k <= span; k++) {
        const t = k / span;
        this.diagonal[i - 1] += (1 - t) ** 2;
        this.beside[i] += t * (1 - t);
        this.diagonal[i] += t * t;
      }
    }
    for (let i = 1; i < n; i++) this.diagonal[i] -= this.beside[i] ** 2 / this.diagonal[i - 1];
  }

  /** The values at the places, for the row that begins at `at` of `values` with `step` from each to the next. */
  fit(values: ArrayLike<number>, at: number, step: number): Float64Array {
    const { places, diagonal, beside } = this;
    const n = places.length;
    const found = new Float64Array(n);
    for (let i = 1; i < n; i++) {
      const span = places[i] - places[i - 1];
      for (let k = i === 1 ? 0 : 1; k <= span; k++) {
        const value = values[at + (places[i - 1] + k) * step];
        found[i - 1] += value * (1 - k / span);
        found[i] += value * (k / span);
      }
    }
    for (let i = 1; i < n; i++) found[i] -= (found[i - 1] * beside[i]) / diagonal[i - 1];
    for (let i = n - 1; i >= 0; i--) {
      found[i] = (found[i] - (i + 1 < n ? beside[i + 1] * found[i + 1] : 0)) / diagonal[i];
    }
    return found;
  }
}
