import { type Areas, together } from "../regions/areas.ts";
import { narrowAreas } from "./candidates.ts";
import { evenTones } from "./even-tones.ts";
import { areThinStrokes, looker, thinMax } from "./look-for-strokes.ts";
import type { State } from "./state.ts";
import { thickParts } from "./thick-parts.ts";

/** Gives pieces of thin lines that are of a lighter tone to these lines; for each area the one whose it is, null if none is given. */
export function joinTones(state: State): Int32Array | null {
  const { areas } = state;
  const drawnAs = evenTones(areas, state.candidates({ widest: thinMax }), narrowAreas(areas, state.measured));
  if (drawnAs) state.regroup(areas.map.flat.map((area) => drawnAs[area]));
  return drawnAs;
}

/** Gives what `joinTones` joined to lines, and no stroke came of, its own colour again. `before` are the areas that were joined. */
export function splitTones(state: State, before: Areas, drawnAs: Int32Array | null): void {
  if (!drawnAs) return;
  const { areas, at } = state;
  const labels = areas.map.flat.slice();
  let some = false;
  before.map.flat.forEach((area, p) => {
    if (drawnAs[area] === area || at[p] >= 0) return;
    labels[p] = areas.map.count + area;
    some = true;
  });
  if (some) state.recut(together(areas, before), labels);
}

/** Makes areas of the thick parts of lines: a curve's markers, arrows' heads. What turns out as no stroke is joined again. */
export function setThickApart(state: State): void {
  const { map } = state.areas;
  const look = looker(state, thinMax, areThinStrokes);
  const source = Array.from({ length: map.count }, (_, area) => area);
  const labels = map.flat.slice();
  const split: Int32Array[] = [];
  const marks = new Uint8Array(map.areas.length);
  const pixelOf = (q: number) => (Math.floor(q / map.stride) - 1) * map.width + (q % map.stride) - 1;
  for (const candidate of state.candidates({ widest: thinMax })) {
    const { area, places } = candidate;
    const thick = thickParts(places, map, thinMax, marks);
    if (!thick || look(candidate)) continue;
    places.forEach((q, i) => {
      if (thick[i] === 1) labels[pixelOf(q)] = source.length;
    });
    source.push(area);
    split.push(places);
  }
  if (source.length === map.count) return;
  state.regroup(labels, source);
  state.pieces = new Uint8Array(state.areas.map.count);
  for (const places of split) for (const q of places) state.pieces[state.areas.map.flat[pixelOf(q)]] = 1;
}
