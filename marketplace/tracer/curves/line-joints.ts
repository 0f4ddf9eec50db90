import type { Outline } from "../drawing.ts";
import type { Chain } from "./chain.ts";
import { lengthOf } from "./length.ts";

/**
 * Moves the points where two lines of an outline meet, so that each line runs through the middle of its points instead of along one
 * side of them: by least squares, across the general run of the outline. Corners and the ends of curves stay. `ends` is the
 * chain's point that each segment ends at.
 */
export function fitLineJoints(outline: Outline, chain: Chain, ends: readonly number[]): void {
  const { kinds } = outline;
  const isJoint = (k: number) =>
    k + 1 < kinds.length && kinds[k] === 1 && kinds[k + 1] === 1 && chain.corner[ends[k]] === 0;
  for (let k = 0, i = 0; k < kinds.length; k++) {
    if (isJoint(k)) {
      let last = k;
      while (isJoint(last + 1)) last++;
      run.load(chain, ends, k, last);
      run.solve(chain);
      run.move(outline.points, i, chain);
      i += 2 * (last - k);
      k = last;
    }
    i += 2 * kinds[k];
  }
}

/** Joints with nothing but lines between them, and a fixed point at either end. Scratch, used for one run after another. */
class Run {
  #count = 0;
  /** Where the lines end in the chain: the fixed beginning, the joints, the fixed end. */
  #at = new Int32Array(64);
  /** The direction in which each joint moves. */
  #acrossX = new Float64Array(64);
  #acrossY = new Float64Array(64);
  /** The normal equations, in which a joint has to do with the next alone. */
  #own = new Float64Array(64);
  #withNext = new Float64Array(64);
  /** The right hand side, then how far each joint moves, px. */
  #moves = new Float64Array(64);

  load({ x, y }: Chain, ends: readonly number[], first: number, last: number): void {
    const count = last - first + 1;
    if (this.#at.length < count + 2) this.#grow(2 * count + 2);
    this.#count = count;
    for (let j = 0; j < count + 2; j++) this.#at[j] = first + j === 0 ? 0 : ends[first + j - 1];
    for (let j = 0; j < count; j++) {
      const a = this.#at[j];
      const b = this.#at[j + 2];
      const length = lengthOf(x[b] - x[a], y[b] - y[a]) || 1;
      this.#acrossX[j] = (y[a] - y[b]) / length;
      this.#acrossY[j] = (x[b] - x[a]) / length;
    }
    this.#own.fill(steadiness, 0, count);
    this.#withNext.fill(0, 0, count);
    this.#moves.fill(0, 0, count);
  }

  solve(chain: Chain): void {
    const [count, own, withNext, moves] = [this.#count, this.#own, this.#withNext, this.#moves];
    for (let j = 0; j <= count; j++) this.#addLine(chain, j);
    for (let j = 1; j < count; j++) {
      const share = withNext[j - 1] / own[j - 1];
      own[j] -= share * withNext[j - 1];
      moves[j] -= share * moves[j - 1];
    }
    for (let j = count - 1; j >= 0; j--) {
      if (j + 1 < count) moves[j] -= withNext[j] * moves[j + 1];
      moves[j] /= own[j];
    }
  }

  /** Adds what the points of a line, which ends in the joints `j - 1` and `j`, ask of these. */
  #addLine({ x, y }: Chain, j: number): void {
    const a = this.#at[j];
    const b = this.#at[j + 1];
    const dx = x[b] - x[a];
    const dy = y[b] - y[a];
    const length = lengthOf(dx, dy);
    if (length < 1e-9) return;
    const hasFirst = j > 0;
    const hasSecond = j < this.#count;
    const first = hasFirst ? (this.#acrossY[j - 1] * dx - this.#acrossX[j - 1] * dy) / length : 0;
    const second = hasSecond ? (this.#acrossY[j] * dx - this.#acrossX[j] * dy) / length : 0;
    for (let i = a; i <= b; i++) {
      // An end is a point of two lines.
      const weight = i === a || i === b ? 0.5 : 1;
      const px = x[i] - x[a];
      const py = y[i] - y[a];
      const place = (px * dx + py * dy) / (length * length);
      const off = (py * dx - px * dy) / length;
      const ofFirst = (1 - place) * first;
      const ofSecond = place * second;
      if (hasFirst) {
        this.#own[j - 1] += weight * ofFirst * ofFirst;
        this.#moves[j - 1] += weight * ofFirst * off;
      }
      if (hasSecond) {
        this.#own[j] += weight * ofSecond * ofSecond;
        this.#moves[j] += weight * ofSecond * off;
      }
      if (hasFirst && hasSecond) this.#withNext[j - 1] += weight * ofFirst * ofSecond;
    }
  }

  /** Moves the joints in an outline's points, where `from` is the first one's x. */
  move(points: number[], from: number, { tolerance }: Chain): void {
    for (let j = 0; j < this.#count; j++) {
      const most = tolerance[this.#at[j + 1]];
      const move = Math.max(-most, Math.min(most, this.#moves[j]));
      points[from + 2 * j] += move * this.#acrossX[j];
      points[from + 2 * j + 1] += move * this.#acrossY[j];
    }
  }

  #grow(capacity: number): void {
    this.#at = new Int32Array(capacity);
    this.#acrossX = new Float64Array(capacity);
    this.#acrossY = new Float64Array(capacity);
    this.#own = new Float64Array(capacity);
    this.#withNext = new Float64Array(capacity);
    this.#moves = new Float64Array(capacity);
  }
}

const run = new Run();

/** Keeps a joint where it is when its points ask for nothing. */
const steadiness = 0.01;
