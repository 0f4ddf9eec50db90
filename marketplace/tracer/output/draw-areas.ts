import { type Contour, type Contours, contours } from "../curves/contours.ts";
import { markCorners } from "../curves/corners.ts";
import { fitClosed } from "../curves/fit-curve.ts";
import { Points } from "../curves/points.ts";
import { asCircle, asRect } from "../curves/primitives.ts";
import { depthMax, type SnapInput, snapContour } from "../curves/snap.ts";
import { keepTo } from "../deadline.ts";
import { type Drawing, type Element, type Fill, inOneColour, type Outline, type Shape } from "../drawing.ts";
import { asCoveredRect } from "../lines/as-covered-rect.ts";
import { asRound } from "../lines/as-round.ts";
import type { Lines } from "../lines/lines.ts";
import type { Objects } from "../objects/find-objects.ts";
import type { Areas } from "../regions/areas.ts";
import { stride } from "../regions/colour-model.ts";
import { isField, isRadial } from "../regions/gradient.ts";
import type { Settings } from "../settings.ts";
import { bordered } from "./bordered.ts";
import { drawInParts } from "./draw-gradient.ts";
import { type Extent, planeFill, radialFill } from "./fills.ts";
import { depthLayers, objectLayers } from "./layers.ts";
import { namedGroups } from "./name-groups.ts";
import { seenThrough } from "./seen-through.ts";
import { Sheet } from "./sheet.ts";
import { StrokeOrder } from "./stroke-order.ts";

/**
 * Steps 4 to 7: described areas as a drawing. `pixels` is the source before unblending, for the sub-pixel place of edges.
 *
 * Stacked: areas are drawn from the outside in, larger before smaller, each as its outer outline; a hole is cut only
 * where something that was drawn earlier, or is not opaque, must show through it. Cutout: every hole is cut, and where two
 * areas meet, the one drawn earlier goes on beneath the other by a hair, so that no line of what lies behind shows
 * between them. Groups are by depth, or by object where these are given (find-objects.ts).
 */
export function drawAreas(
  areas: Areas,
  pixels: Uint8Array,
  settings: Settings,
  {
    lines = null,
    runOf = null,
    chain = contours(areas.map),
    objects = null,
    deadlineMs = Number.POSITIVE_INFINITY,
  }: Found = {},
): Drawing {
  const { map, planes, radials, opaque, empty } = areas;
  const { width, height, count } = map;
  const { mode, tolerance, grid } = settings;
  const trapMax = mode === "cutout" ? hair : depthMax;
  const layering = objects ? objectLayers(map, chain, objects) : depthLayers(chain, areas, runOf);
  const { rank, order } = layering;
  const holes = holesToCut(areas, chain, rank, mode);
  const unseen = seenThrough(areas, chain, rank, holes);
  const hidden = (area: number, other: number) =>
    rank[other] > rank[area] && opaque[other] === 1 && unseen[other] === 0;
  const input = { pixels, map, contours: chain, planes, radials, hidden, tolerance, trapMax, lines };
  const strokes = new StrokeOrder(lines, map, rank);
  const points = new Points();
  const sheet = new Sheet(layering, lines, width);
  const plate = mode === "cutout" || opaque.includes(0) ? -1 : order[0];
  const placed = new Map<number, { readonly elements: Element[]; readonly at: number }>();
  /** Puts an area's element where it is drawn: with the border around it, where what it lies in is no more than that. */
  const place = (area: number, element: Element, elements: Element[]) => {
    const around = chain.container[area] < 0 ? -1 : chain.all[chain.container[area]].area;
    const below = mode === "stacked" && !holes.has(around) ? placed.get(around) : undefined;
    const both = below && opaque[area] === 1 ? bordered(below.elements[below.at], element) : null;
    if (below && both) below.elements[below.at] = both;
    else {
      placed.set(area, { elements, at: elements.length });
      elements.push(element);
    }
  };
  const own = count <= ownCountMax && (lines?.strokes.length ?? 0) >= ownStrokesMin;
  for (const area of order) {
    keepTo(deadlineMs);
    if (empty[area] === 1 && strokes.after(area).length === 0) continue;
    const elements = sheet.on(layering.layer[area]);
    const outer = chain.all[chain.outer[area]];
    const fill = fillOf(areas, area, chain, outer);
    const gradient = radials.get(area);
    const inParts = gradient && !isRadial(gradient) ? gradient : null;
    if (area === plate) {
      // Nothing can show behind the first area of an opaque picture: it is the whole ground.
      const shape = { kind: "rect" as const, x: 0, y: 0, width, height };
      // A field ends at its window.
      const isWhole = !inParts || isField(inParts);
      elements.push(...(isWhole ? [{ fill, shape }] : []), ...(inParts ? drawInParts(inParts, shape) : []));
    } else if (empty[area] === 0 && unseen[area] === 0) {
      const frame = holes.has(area) ? null : strokes.frameOf(outer, chain);
      const shape = frame?.shape ?? shapeOf(input, [outer, ...(holes.get(area) ?? [])], points);
      const isOwn = map.sizes[area] >= ownSizeMin || (shape && isSign(shape) && map.sizes[area] >= signSizeMin);
      const whole = own && isOwn && (runOf?.[area] ?? -1) < 0;
      if (shape && inParts) {
        elements.push(...drawInParts(inParts, shape));
        if (frame) elements.push({ fill: { kind: "none" }, shape, stroke: frame.stroke });
      } else if (shape) {
        const element = { fill, shape, ...(frame && { stroke: frame.stroke }), ...(whole && { whole }) };
        place(area, element, elements);
      }
    }
    for (const stroke of strokes.after(area)) sheet.stroke(stroke, layering.layer[area]);
  }
  const groups = objects ? namedGroups(sheet.groups()) : sheet.groups();
  const fine = own && width * height <= smallMax ? 2 : 1;
  return { width, height, spanX: width, spanY: height, grid: grid * fine, oneWay: true, crisp: false, groups };
}

/** A stroke's width is one number for all of it: in small pictures, which are looked at enlarged, it is written finer. */
const smallMax = 512 * 512;

/** How far an area of a cutout goes on beneath its neighbour, px. */
const hair = 1.25;

/** With at least this many strokes and at most `ownCountMax` areas, an area of at least `ownSizeMin` pixels is an element of its own. */
const ownStrokesMin = 3;
const ownCountMax = 150;
const ownSizeMin = 600;
/** The least size of markers and arrows' heads that are elements of their own. */
const signSizeMin = 24;

/** Whether a shape is one of few straight lines. */
function isSign(shape: Shape): boolean {
  if (shape.kind !== "path") return true;
  return (
    shape.outlines.length === 1 &&
    shape.outlines[0].kinds.length <= 8 &&
    shape.outlines[0].kinds.every((kind) => kind === 1)
  );
}

/** What was found in a picture beside its areas. */
interface Found {
  readonly lines?: Lines | null;
  /** The run of text each area is of, or -1. */
  readonly runOf?: Int32Array | null;
  readonly chain?: Contours;
  /** Where groups are objects. */
  readonly objects?: Objects | null;
  /** Past it, `DeadlinePassedError` is thrown. */
  readonly deadlineMs?: number;
}

/** An area's outer outline and the holes cut into it as a shape, in its plainest form; null where nothing is left of it. */
function shapeOf(input: SnapInput, contours: readonly Contour[], points: Points): Shape | null {
  const outlines: Outline[] = [];
  let covered: Shape | null = null;
  for (const contour of contours) {
    snapContour(input, contour, points);
    if (points.count < 3) continue;
    const round = contours.length === 1 ? (asCircle(points) ?? asRound(points, contour.enclosed)) : null;
    if (round) return round;
    covered = contours.length === 1 ? asCoveredRect(points, contour.enclosed) : null;
    markCorners(points);
    outlines.push(fitClosed(points));
  }
  if (outlines.length === 0) return null;
  return (outlines.length === 1 ? asRect(outlines[0]) : null) ?? covered ?? { kind: "path", outlines };
}

/** The holes to be cut into each area that has any, by area: all of them for a cutout. */
export function holesToCut(
  areas: Pick<Areas, "map" | "opaque">,
  chain: Contours,
  rank: Int32Array,
  mode: Settings["mode"],
): ReadonlyMap<number, readonly Contour[]> {
  return holesByArea(chain, mode === "cutout" ? null : openHoles(chain, areas, rank));
}

/** Which holes must be cut: those with anything in them that the area would wrongly cover. */
function openHoles(chain: Contours, { map, opaque }: Pick<Areas, "map" | "opaque">, rank: Int32Array): Uint8Array {
  const open = new Uint8Array(chain.all.length);
  for (let area = 0; area < map.count; area++) {
    for (let hole = chain.container[area]; hole >= 0; ) {
      const owner = chain.all[hole].area;
      if (opaque[area] === 0 || rank[area] < rank[owner]) open[hole] = 1;
      hole = chain.container[owner];
    }
  }
  return open;
}

function holesByArea(chain: Contours, open: Uint8Array | null): Map<number, Contour[]> {
  const holes = new Map<number, Contour[]>();
  for (let c = 0; c < chain.all.length; c++) {
    const contour = chain.all[c];
    if (open?.[c] === 0 || chain.outer[contour.area] === c) continue;
    const list = holes.get(contour.area);
    if (list) list.push(contour);
    else holes.set(contour.area, [contour]);
  }
  return holes;
}

function fillOf(areas: Areas, area: number, chain: Contours, outer: Contour): Fill {
  const fill = ownFill(areas, area, chain, outer);
  const tone = areas.tones[area];
  return tone ? inOneColour(fill, tone) : fill;
}

function ownFill({ planes, sloped, radials, sums, map }: Areas, area: number, chain: Contours, outer: Contour): Fill {
  const radial = radials.get(area);
  if (radial && isRadial(radial)) return radialFill(radial);
  const cx = map.width / 2;
  const cy = map.height / 2;
  const n = sums[area * stride];
  const extent: Extent = (dx, dy) => {
    let from = Number.POSITIVE_INFINITY;
    let to = Number.NEGATIVE_INFINITY;
    let { x, y } = outer;
    for (let i = outer.from; i < outer.to; i++) {
      const t = (x - cx) * dx + (y - cy) * dy;
      if (t < from) from = t;
      if (t > to) to = t;
      const direction = chain.steps[i];
      if (direction === 0) x++;
      else if (direction === 1) y++;
      else if (direction === 2) x--;
      else y--;
    }
    return { from, to, mx: sums[area * stride + 1] / n, my: sums[area * stride + 2] / n };
  };
  const fill = planeFill(planes, area, sloped[area] === 1, extent);
  if (fill.kind !== "linear") return fill;
  return { ...fill, x1: fill.x1 + cx, y1: fill.y1 + cy, x2: fill.x2 + cx, y2: fill.y2 + cy };
}
