import type { Raster } from "../../../../marketplace/tracer/image/raster.ts";
import { renderRaster } from "../../../../marketplace/tracer/pool/render.ts";
import type { LayeredDrawing } from "./drawing.ts";

function asSvg({ width, height, body }: LayeredDrawing): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${body}</svg>`;
}

function layeredPicture(drawing: LayeredDrawing): Raster {
  return renderRaster(asSvg(drawing), drawing.width, drawing.height);
}

interface Groups {
  /** The group on top at each pixel, or -1. */
  readonly at: Int32Array;
  readonly ids: readonly string[];
}

/** The group, directly under the root, that is seen at each pixel: each is drawn by itself, the later over the earlier. */
function groupsOf(svg: string, width: number, height: number): Groups {
  const at = new Int32Array(width * height).fill(-1);
  const open = svg.slice(0, svg.indexOf(">") + 1);
  const defs = svg.match(/<defs>.*?<\/defs>/s)?.[0] ?? "";
  const parts = topGroups(svg.slice(open.length));
  parts.forEach(({ markup }, group) => {
    const { rgba } = renderRaster(`${open}${defs}${markup}</svg>`, width, height);
    for (let p = 0; p < at.length; p++) if (rgba[p * 4 + 3]! >= 128) at[p] = group;
  });
  return { at, ids: parts.map(({ id }) => id) };
}

function topGroups(body: string): { id: string; markup: string }[] {
  const parts: { id: string; markup: string }[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: tag, index } of body.matchAll(/<g\b[^>]*>|<\/g>/g)) {
    if (tag !== "</g>" && depth++ === 0) from = index;
    if (tag !== "</g>" || --depth > 0) continue;
    const markup = body.slice(from, index + tag.length);
    parts.push({ id: markup.match(/^<g id="([^"]*)"/)?.[1] ?? "", markup });
  }
  return parts;
}

/**
 * How alike two groupings are: 1 where they are the same, 0 where they agree as chance would have it. Source: Hubert &
 * Arabie, "Comparing Partitions" (1985).
 */
function adjustedRand(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const both = new Map<string, number>();
  const ones = new Map<number, number>();
  const others = new Map<number, number>();
  const count = <K>(counts: Map<K, number>, key: K) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (let i = 0; i < one.length; i++) {
    count(both, `${one[i]} ${other[i]}`);
    count(ones, one[i]!);
    count(others, other[i]!);
  }
  const pairs = (counts: Map<unknown, number>) => [...counts.values()].reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
  const [together, a, b] = [pairs(both), pairs(ones), pairs(others)];
  const byChance = (a * b) / ((one.length * (one.length - 1)) / 2);
  const most = (a + b) / 2;
  return most === byChance ? 1 : (together - byChance) / (most - byChance);
}

interface Alike {
  /** How many groups. */
  readonly known: number;
  readonly found: number;
  /** The adjusted Rand index over all pixels, and over those that are no background in the known grouping. */
  readonly all: number;
  readonly objects: number;
}

/** How alike the groups of a drawing and of its trace are. */
export function groupsAlike(drawing: LayeredDrawing, traced: (picture: Raster) => string): Alike {
  const { width, height } = drawing;
  const known = groupsOf(asSvg(drawing), width, height);
  const found = groupsOf(traced(layeredPicture(drawing)), width, height);
  const ground = known.ids.indexOf("background");
  const objects = Array.from(known.at.keys()).filter((p) => known.at[p] !== ground && known.at[p] !== -1);
  const of = ({ at }: Groups) => objects.map((p) => at[p]!);
  return {
    known: known.ids.length,
    found: found.ids.length,
    all: adjustedRand(known.at, found.at),
    objects: adjustedRand(of(known), of(found)),
  };
}
