/**
 * Colour that bends in any way, which no single gradient does: curves of colour along lines of the picture, with a
 * straight passage from each to the next. Each line is a linear gradient, each passage one faded in over another
 * (draw-field.ts).
 */
export interface Field {
  /** Lines run across the picture, or down it. */
  readonly direction: "across" | "down";
  /** The window of the picture it is told for, px. */
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** It is drawn beneath all else, without an outline: it is no area of its own. */
  readonly isGround?: boolean;
  /** At rising places, the first and the last at the window's borders. */
  readonly lines: readonly Line[];
}

export interface Line {
  /** Px from the picture's top, or left. */
  readonly at: number;
  /** Rising, px along the line. */
  readonly places: readonly number[];
  /** Three channels for each place. */
  readonly colours: readonly number[];
}

/** Sets three channels of `out` to the field's colour, the fourth to opaque. */
export function fieldColour({ direction, lines }: Field, x: number, y: number, out: Float32Array | Float64Array): void {
  const [along, at] = direction === "across" ? [x, y] : [y, x];
  let next = 1;
  while (next < lines.length - 1 && lines[next].at < at) next++;
  const [one, other] = [lines[next - 1], lines[next]];
  const share = Math.max(0, Math.min(1, (at - one.at) / (other.at - one.at)));
  for (let c = 0; c < 3; c++) out[c] = onLine(one, along, c) * (1 - share) + onLine(other, along, c) * share;
  out[3] = 255;
}

function onLine({ places, colours }: Line, along: number, c: number): number {
  const last = places.length - 1;
  if (along <= places[0]) return colours[c];
  if (along >= places[last]) return colours[last * 3 + c];
  let next = 1;
  while (places[next] < along) next++;
  const share = (along - places[next - 1]) / (places[next] - places[next - 1]);
  return colours[next * 3 - 3 + c] * (1 - share) + colours[next * 3 + c] * share;
}
