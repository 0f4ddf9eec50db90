import { type Background, describeAreas } from "./areas.ts";
import { drawAreas } from "./draw-areas.ts";
import { type Colour, type Drawing, fillColours, hex } from "./drawing.ts";
import { strengthenHairlines } from "./hairlines.ts";
import { describeLayers } from "./layers.ts";
import { Merging } from "./merge.ts";
import { type Settings, settingsOf, type TraceOptions } from "./options.ts";
import { cellSize, drawPixels } from "./pixel-art.ts";
import { premultiply, type Raster, reduce } from "./raster.ts";
import { segment } from "./segment.ts";
import { unblend } from "./unblend.ts";
import { writeSvg } from "./write-svg.ts";

export interface Trace {
  readonly svg: string;
  /** Px of the source. */
  readonly width: number;
  readonly height: number;
  /** Drawn elements. */
  readonly paths: number;
  /** Distinct flat colours and gradient stops. */
  readonly colors: number;
  /** UTF-8 length of `svg`. */
  readonly bytes: number;
  readonly layers: readonly { readonly id: string; readonly fill: readonly string[] }[];
  /** The colour taken away by `removeBackground`, if any. */
  readonly removed: Colour | null;
  readonly drawing: Drawing;
}

/**
 * A bitmap as SVG: unblend, segment, merge, order, snap, fit, fill, write. Pure and deterministic: the same picture and
 * options give the same bytes. Work is bounded by the picture's size, not by what is on it; `deadlineMs`
 * (`performance.now()` time) makes it throw, never change the result.
 */
export function trace(image: Raster, options: TraceOptions = {}, deadlineMs = Number.POSITIVE_INFINITY): Trace {
  const settings = settingsOf(options);
  return tracePixelArt(image, settings) ?? traceAreas(image, settings, deadlineMs);
}

function tracePixelArt(image: Raster, settings: Settings): Trace | null {
  const { style, mode, colors, palette, removeBackground, objects, bytesMax } = settings;
  if (style !== "pixel" && (style !== "auto" || mode === "cutout" || colors || palette || removeBackground || objects))
    return null;
  const cell = cellSize(image);
  if (cell === 1 && style !== "pixel") return null;
  if (image.width * image.height > cell * cell * cellsMax) return null;
  const result = finish(drawPixels(image, cell), null);
  return result.bytes <= bytesMax ? result : null;
}

/** Beyond this many cells a picture is not pixel art but an enlarged photograph. */
const cellsMax = 400_000;

function traceAreas(image: Raster, settings: Settings, deadlineMs: number): Trace {
  const { width, height } = image;
  let scale = Math.min(1, Math.sqrt(settings.pixelsMax / (width * height)));
  let stage = prepare(image, scale, settings, deadlineMs);
  let attempt = draw(stage, stage.merging.merges, image, settings);
  if (attempt.bytes > settings.bytesMax * 2 && stage.width * stage.height > reducibleMin) {
    // Far over budget: the picture is texture. Fewer pixels hold as much of it in the same bytes, in half the time.
    scale *= 0.65;
    stage = prepare(image, scale, settings, deadlineMs);
    attempt = draw(stage, stage.merging.merges, image, settings);
  }
  return attempt.bytes <= settings.bytesMax ? attempt : withinBudget(stage, attempt, image, settings);
}

const reducibleMin = 200_000;

interface Stage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
  readonly clean: Uint8Array;
  readonly merging: Merging;
}

/** Steps 1 to 3 at a working scale. */
function prepare(image: Raster, scale: number, settings: Settings, deadlineMs: number): Stage {
  const width = Math.max(1, Math.round(image.width * scale));
  const height = Math.max(1, Math.round(image.height * scale));
  const working = width === image.width && height === image.height ? image : reduce(image, width, height);
  const pixels = premultiply(working);
  const clean = unblend(pixels, width, height);
  strengthenHairlines(clean, width, height);
  const { labels, count } = segment(clean, width, height, evenness, areasMax);
  const merging = new Merging({ pixels: clean, width, height, labels, count, deadlineMs });
  merging.run(settings.lambda);
  merging.absorb(settings.areaMin);
  return { width, height, pixels, clean, merging };
}

const evenness = 20;
const areasMax = 60_000;

function draw(
  { width, height, pixels, clean, merging }: Stage,
  merges: number,
  image: Raster,
  settings: Settings,
): Trace {
  const areas = describeAreas(clean, width, height, merging.labelsAfter(merges), merging.count - merges, settings);
  const drawing = { ...drawAreas(areas, pixels, settings), width: image.width, height: image.height };
  return finish(drawing, settings.removeBackground ? areas.background : null);
}

/**
 * The finest trace that keeps to the byte budget: goes on merging from where the run stopped, guided by how bytes have
 * followed outline length so far. Every step of the merge is remembered, so it can also go back.
 */
function withinBudget(stage: Stage, first: Trace, image: Raster, settings: Settings): Trace {
  const { merging } = stage;
  const { bytesMax } = settings;
  let high = merging.merges;
  merging.run(Number.POSITIVE_INFINITY, 1);
  const length = (merges: number) => merging.borders[merges - 1]! + 8 * (merging.count - merges);
  let perLength = first.bytes / length(high);
  let low = merging.merges;
  let best: Trace | null = null;
  for (let round = 0; round < 5; round++) {
    const wanted = (bytesMax * 0.965) / perLength;
    let from = high;
    let to = low;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (length(middle) <= wanted) to = middle;
      else from = middle + 1;
    }
    const attempt = draw(stage, from, image, settings);
    perLength = attempt.bytes / length(from);
    if (attempt.bytes <= bytesMax) {
      if (!best || attempt.bytes > best.bytes) best = attempt;
      if (attempt.bytes >= bytesMax * 0.93) break;
      low = from;
    } else high = Math.min(low, from + 1);
  }
  return best ?? draw(stage, merging.merges, image, settings);
}

function finish(drawing: Drawing, background: Background | null): Trace {
  const svg = writeSvg(drawing);
  const colours = new Set<string>();
  for (const { elements } of drawing.groups) {
    for (const { fill } of elements) for (const colour of fillColours(fill)) colours.add(hex(colour));
  }
  return {
    svg,
    width: drawing.width,
    height: drawing.height,
    paths: svg.match(/<(?:path|circle|rect)\b/g)?.length ?? 0,
    colors: colours.size,
    bytes: Buffer.byteLength(svg),
    layers: describeLayers(drawing),
    removed: background?.colour ?? null,
    drawing,
  };
}
