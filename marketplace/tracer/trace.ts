import { contours } from "./curves/contours.ts";
import { DeadlinePassedError, keepTo } from "./deadline.ts";
import { type Colour, type Drawing, type Group, repainted, type Shape } from "./drawing.ts";
import { strengthened } from "./image/faint.ts";
import { strengthenHairlines } from "./image/hairlines.ts";
import { clearBlockNoise } from "./image/jpeg/block-noise.ts";
import { groundBeyond, margin as marginWidth, withMargin } from "./image/margin.ts";
import { cellsMax, isPixelArt, mayBePixelArt } from "./image/own-size.ts";
import { inkOnPaper } from "./image/paper.ts";
import { everyPixel, findGrid, type PixelGrid } from "./image/pixel-grid.ts";
import { posterised } from "./image/poster.ts";
import { premultiply, type Raster, reduce } from "./image/raster.ts";
import { closeSeams } from "./image/seams.ts";
import { blurOf, sharpened } from "./image/sharpen.ts";
import { workingScale } from "./image/texture.ts";
import { unblend } from "./image/unblend.ts";
import { liftLines } from "./lines/lift.ts";
import { groupObjects } from "./objects/find-objects.ts";
import { shapesOf } from "./objects/shapes-of-areas.ts";
import { findTextRuns } from "./objects/text-runs.ts";
import type { TraceOptions } from "./options.ts";
import { drawAreas } from "./output/draw-areas.ts";
import { drawField, drawGround } from "./output/draw-field.ts";
import { finish, type Trace } from "./output/finish.ts";
import { moved } from "./output/moved.ts";
import { drawPixels } from "./output/pixel-art.ts";
import { writeSvg } from "./output/write-svg.ts";
import { describeAreas, slopeWorth } from "./regions/areas.ts";
import type { Background } from "./regions/background.ts";
import { type Gradient, isField } from "./regions/gradient.ts";
import { evenInk } from "./regions/ink.ts";
import { joinSmooth } from "./regions/join-smooth.ts";
import { keptStructure } from "./regions/kept-structure.ts";
import { Merging } from "./regions/merge.ts";
import { nearestColour } from "./regions/palette.ts";
import { joinRadials } from "./regions/radial.ts";
import { relaxBorders } from "./regions/relax.ts";
import { segment } from "./regions/segment.ts";
import { isFlat, type Settings, settingsOf, usualLambda } from "./settings.ts";
import { liftOffGround } from "./shadow/off-ground.ts";
import { type Lifted, liftShadow } from "./shadow/shadow.ts";

/**
 * A bitmap as SVG: unblend, segment, merge, order, snap, fit, fill, write. Pure and deterministic: the same picture and
 * options give the same bytes. Work is bounded by the picture's size, not by what is on it; past `deadlineMs`
 * (`performance.now()` time) it throws `DeadlinePassedError`, it never changes the result. `share` is the share of the pixels
 * the preset would trace; the picture is reduced to that, and is no pixel art then.
 */
export function trace(
  image: Raster,
  options: TraceOptions = {},
  { deadlineMs = Number.POSITIVE_INFINITY, share = 1 }: { deadlineMs?: number; share?: number } = {},
): Trace {
  const asked = settingsOf(options);
  const settings = { ...asked, pixelsMax: asked.pixelsMax * share };
  const pixelArt = share === 1 ? tracePixelArt(image, settings, deadlineMs) : null;
  if (pixelArt) return pixelArt;
  const isMaybe = share === 1 && settings.style === "auto" && mayBePixelArt(image);
  const exact = isMaybe ? traceCells(image, everyPixel(image), settings, deadlineMs) : null;
  const traced = traceAreas(...withContrast(...onPaper(...clearOf(image, settings))), deadlineMs);
  return exact && exact.bytes <= exactShareMax * traced.bytes ? exact : traced;
}

/** Exact pixels may take so many times the bytes of lines and curves: a picture of pixels has none of these, so tracing it saves little. */
const exactShareMax = 1.5;

/**
 * The trace there is time for: what is not done in `budgetMs` is begun again with a quarter of the pixels, which takes
 * half that time at most, or with a sixteenth, which is waited for.
 */
export function traceInTime(image: Raster, options: TraceOptions, budgetMs: number): Trace {
  for (const [share, ms] of [
    [1, budgetMs],
    [1 / 4, budgetMs / 2],
  ] as const) {
    try {
      return trace(image, options, { share, deadlineMs: performance.now() + ms });
    } catch (error) {
      if (!(error instanceof DeadlinePassedError)) throw error;
    }
  }
  return trace(image, options, { share: 1 / 16 });
}

/** Pixel art as it is, whatever else was asked for: no option but fewer colours may change a cell. */
function tracePixelArt(image: Raster, settings: Settings, deadlineMs: number): Trace | null {
  const { style } = settings;
  const cells = style === "pixel" || (style === "auto" && isPixelArt(image));
  const grid = findGrid(image) ?? (cells ? everyPixel(image) : null);
  return grid && traceCells(image, grid, settings, deadlineMs);
}

/** Every cell of the grid as it is. Null beyond the byte budget. */
function traceCells(image: Raster, grid: PixelGrid, settings: Settings, deadlineMs: number): Trace | null {
  if ((grid.columns.length - 1) * (grid.rows.length - 1) > cellsMax) return null;
  const drawn = drawPixels(image, grid, settings, deadlineMs);
  const result = drawn && finish(drawn.drawing, drawn.background);
  return result && result.bytes <= settings.bytesMax ? result : null;
}

/** The picture without the noise of JPEG; what was noisy is cut less finely and drawn a little more plainly. */
function clearOf(image: Raster, settings: Settings): [Raster, Settings] {
  // Reducing a picture to less than half of its pixels removes the noise.
  const cleared = image.width * image.height < 2 * settings.pixelsMax ? clearBlockNoise(image) : null;
  if (!cleared) return [image, settings];
  const { lambda, tolerance } = settings;
  const { noise } = cleared;
  return [cleared.image, { ...settings, lambda: lambda * (1 + 3 * noise), tolerance: tolerance * (1 + noise) }];
}

/** Line art without the shadows on its paper, where it is two colours that are wanted. */
function onPaper(image: Raster, settings: Settings): [Raster, Settings] {
  const { style, colors, palette } = settings;
  return [style === "lineart" && colors === 2 && !palette ? (inkOnPaper(image) ?? image) : image, settings];
}

/** What is faint with more contrast, where its colours are drawn as they are. */
function withContrast(image: Raster, settings: Settings): [Raster, Settings] {
  // Where fewer details are wanted or to be had than usual, a texture is grain.
  const stronger = settings.palette ? null : strengthened(image, settings.lambda > usualLambda ? texturePx : 1);
  if (!stronger) return [image, settings];
  const { strength } = stronger;
  // The fewer levels an edge has, the less they say of where it runs.
  const tolerance = settings.tolerance * Math.min(2, strength ** 0.4);
  return [stronger.image, { ...settings, strengthened: stronger, tolerance }];
}

const texturePx = 8;

function traceAreas(image: Raster, settings: Settings, deadlineMs: number): Trace {
  const scale = workingScale(image, settings.pixelsMax);
  // Reduced texture is fainter; the byte budget, not the error, decides how much of it is kept.
  const reduced = scale * scale * Math.max(1, (image.width * image.height) / settings.pixelsMax);
  const atScale = (lambda: number) => lambda * Math.min(1, reduced);
  const stage = prepare(image, scale, { ...settings, lambda: atScale(settings.lambda) }, deadlineMs);
  if (settings.isAdaptive) {
    const adapted = { ...asDrawingNeeds(stage, image, settings, atScale(settings.lambda)), isAdaptive: false };
    if (adapted.lambda < settings.lambda) return traceAreas(image, adapted, deadlineMs);
    mergeAreas(stage.merging, { ...adapted, lambda: atScale(adapted.lambda) });
    return drawWithin(stage, image, adapted, deadlineMs);
  }
  // Where a blurred edge runs is known less exactly.
  const tolerance = settings.tolerance * Math.max(1, stage.blur / 3);
  return drawWithin(stage, image, { ...settings, tolerance }, deadlineMs);
}

/** The settings for this picture, whose areas were merged as usual, by `lambda`. */
function asDrawingNeeds(stage: Stage, { width, height }: Raster, settings: Settings, lambda: number): Settings {
  const kept = keptStructure(merged(stage), slopeWorth * lambda);
  if (kept < structureMin && expectedBytes(stage) * finerBytes <= settings.bytesMax) {
    return { ...settings, lambda: settings.lambda * textureShare };
  }
  const areas = stage.merging.count - stage.merging.merges;
  if (kept >= flatMin && areas <= flatAreasMax) return { ...settings, tolerance: settings.tolerance * flatTolerance };
  const isPlain = kept >= plainMin && areas >= areasMin;
  const larger = isPlain ? Math.min(coarserMax, Math.max(1, ((width * height) / detailPixels) ** coarserPower)) : 1;
  const coarser = shadedShare * larger;
  return { ...settings, lambda: settings.lambda * coarser };
}

/** A picture of which less of the structure is left is a texture of little contrast, and joined for less. */
const structureMin = 0.85;
const textureShare = 0.25;
/** It takes so many times the bytes; what is beyond the budget would only be merged again. */
const finerBytes = 1.5;
/** A picture of which no less is left, in few areas, is flat shapes: all that it differs by is how exactly their edges are drawn. */
const flatMin = 0.998;
const flatAreasMax = 100;
/** What a curve may miss an edge by there, as a share of what it may elsewhere. */
const flatTolerance = 0.66;
/** What is not flat may miss by so much more: few of the shades that it is cut into are seen to be missing. */
const shadedShare = 1.3;
/**
 * The larger a picture of many areas, the less is seen of what a pixel of outline saves; but not of the texture of a photograph,
 * nor of the faint lines of a drawing of few areas.
 */
const areasMin = 200;
const plainMin = 0.94;
const detailPixels = 16_384;
const coarserPower = 0.2;
const coarserMax = 2.5;

function drawWithin(stage: Stage, image: Raster, settings: Settings, deadlineMs: number): Trace {
  // Drawing what is sure to be far too much would only cost time.
  const attempt =
    expectedBytes(stage) < settings.bytesMax * 1.5
      ? draw(stage, stage.merging.merges, image, settings, deadlineMs)
      : null;
  if (attempt && attempt.bytes <= settings.bytesMax) return attempt;
  return withinBudget(stage, attempt, image, settings, deadlineMs);
}

function expectedBytes({ merging }: Stage): number {
  return outlineLength(merging, merging.merges) * bytesPerLength;
}

function merged(stage: Stage, merges = stage.merging.merges) {
  const { clean, width, height } = stage;
  return { ...stage.merging.after(merges), clean, width, height };
}

interface Stage {
  /** Px, with the margin to each side. */
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  /** How wide most edges were before they were sharpened, px; 0 where they were not. */
  readonly blur: number;
  readonly pixels: Uint8Array;
  readonly clean: Uint8Array;
  /** Soft shadows and the like. */
  readonly lifted: Lifted | null;
  readonly merging: Merging;
}

/** Steps 1 to 3 at a working scale. */
function prepare(image: Raster, scale: number, settings: Settings, deadlineMs: number): Stage {
  const { source, width, height, margin, blur } = sourceOf(image, scale, settings);
  keepTo(deadlineMs);
  const lifted = liftSoft(source, width, height, settings);
  const pixels = lifted?.above ?? source;
  // Edges are measured in the source all the same.
  const clean = unblend(settings.style === "photo" ? posterised(pixels, width, height) : pixels, width, height);
  strengthenHairlines(clean, width, height);
  keepTo(deadlineMs);
  const cut = segment(clean, width, height, evenness, settings.pixelsMax * areasShare);
  const merging = new Merging({ ...cut, pixels: clean, width, height, deadlineMs });
  mergeAreas(merging, settings);
  return { width, height, margin, blur, pixels, clean, lifted, merging };
}

function mergeAreas(merging: Merging, { lambda, areaMin }: Settings): void {
  merging.run(lambda);
  // Specks that stand out, such as the dot on a small i, stay.
  merging.absorb(areaMin, 2 * lambda);
}

/** The picture's premultiplied pixels at a working scale, with a margin where it needs one: a background to remove is to reach the borders. */
function sourceOf(image: Raster, scale: number, settings: Settings) {
  const width = Math.max(1, Math.round(image.width * scale));
  const height = Math.max(1, Math.round(image.height * scale));
  const working = width === image.width && height === image.height ? image : reduce(image, width, height);
  const premultiplied = premultiply(working);
  if (premultiplied !== working.rgba) closeSeams(premultiplied, width, height);
  const blur = isFlat(settings) ? blurOf(premultiplied, width, height) : 0;
  const source = blur > 0 ? sharpened(premultiplied, width, height) : premultiplied;
  const ground = settings.removeBackground ? null : groundBeyond(source, width, height);
  if (ground === null) return { source, width, height, margin: 0, blur };
  const around = { width: width + 2 * marginWidth, height: height + 2 * marginWidth, margin: marginWidth };
  return { source: withMargin(source, width, height, ground), ...around, blur };
}

/** Lifts off soft shadows and the things on them, where they may be drawn on their own and the byte budget has room for that. */
function liftSoft(pixels: Uint8Array, width: number, height: number, settings: Settings): Lifted | null {
  const { mode, style, grid, bytesMax, removeBackground } = settings;
  // A shadow in its original colour is as it was on its own ground only.
  if (mode !== "stacked" || (removeBackground && settings.strengthened)) return null;
  const fadesAway = removeBackground && style !== "lineart";
  const lifted = liftShadow(pixels, width, height) ?? (fadesAway ? liftOffGround(pixels, width, height) : null);
  if (!lifted) return null;
  const { groups } = lifted;
  const alone = { width, height, spanX: width, spanY: height, groups, grid, oneWay: true, crisp: false };
  return writeSvg(alone).length <= bytesMax * shadowShare ? lifted : null;
}

/** Most of the byte budget a shadow may take. */
const shadowShare = 0.2;
const evenness = 20;
/** Most areas the merge begins with, to the pixels traced: finer ones cost time and are merged all the same. */
const areasShare = 0.015;

function draw(stage: Stage, merges: number, image: Raster, settings: Settings, deadlineMs: number): Trace {
  const { margin, pixels, lifted: soft } = stage;
  const picture = relaxBorders(merged(stage, merges), settings.lambda / 2);
  keepTo(deadlineMs);
  const gradients: Map<number, Gradient> = joinRadials(picture, settings.lambda, !settings.gradients);
  joinSmooth(picture, gradients, {
    lambda: settings.lambda,
    mayOverlap: settings.gradients && settings.mode === "stacked",
    mayLieBeneath: mayLieBeneath(settings) && !soft,
    keepsBorders: settings.removeBackground,
    fadesOnly: !settings.gradients,
    deadlineMs,
  });
  keepTo(deadlineMs);
  const inked = evenInk({ ...picture, gradients });
  const areas = describeAreas({ ...picture, clean: inked }, gradients, settings, soft ?? nothingBeneath);
  const chain = contours(areas.map);
  keepTo(deadlineMs);
  const runOf = findTextRuns(areas.map, chain, shapesOf(areas.map, chain, inked));
  const lifted = settings.mode === "stacked" ? liftLines(areas, pixels, runOf, deadlineMs) : null;
  const beneath = lifted ?? { areas, pixels, runOf, lines: null };
  const found = { ...beneath, chain: lifted ? contours(lifted.areas.map) : chain };
  const grouped = settings.objects ? groupObjects(found, inked, deadlineMs) : null;
  const drawn = drawAreas(grouped?.areas ?? found.areas, beneath.pixels, settings, {
    ...found,
    ...grouped,
    deadlineMs,
  });
  const ground = [...gradients.values()].filter(isField).find(({ isGround }) => isGround);
  const field = ground ? [{ id: "field", elements: [...drawGround(ground, areas), ...drawField(ground)] }] : [];
  const groups = [...(soft ? inPalette(soft, areas.palette) : []), ...field, ...drawn.groups];
  keepTo(deadlineMs);
  const drawing = { ...withoutMargin({ ...drawn, groups }, margin), width: image.width, height: image.height };
  const background = settings.removeBackground ? areas.background : null;
  return finish(...inOriginalColours(drawing, background, settings));
}

function inOriginalColours(
  drawing: Drawing,
  background: Background | null,
  { strengthened }: Settings,
): [Drawing, Background | null] {
  if (!strengthened) return [drawing, background];
  const { original } = strengthened;
  const groups = drawing.groups.map((group) => ({
    ...group,
    elements: group.elements.map((element) => repainted(element, original)),
  }));
  return [{ ...drawing, groups }, background && { ...background, colour: original(background.colour) }];
}

function withoutMargin(drawing: Drawing, margin: number): Drawing {
  if (margin === 0) return drawing;
  const [spanX, spanY] = [drawing.spanX - 2 * margin, drawing.spanY - 2 * margin];
  const groups = moved(drawing.groups, -margin, -margin).map((group) => ({
    ...group,
    elements: group.elements.map((element) =>
      !element.fade && covers(element.shape, spanX, spanY) ? { ...element, shape: whole(spanX, spanY) } : element,
    ),
  }));
  return { ...drawing, spanX, spanY, groups };
}

/** The ground, which went on into the margin. */
function covers(shape: Shape, width: number, height: number): boolean {
  if (shape.kind !== "rect" || shape.rx) return false;
  const { x, y } = shape;
  return x <= 0 && y <= 0 && x + shape.width >= width && y + shape.height >= height;
}

const whole = (width: number, height: number): Shape => ({ kind: "rect", x: 0, y: 0, width, height });

/** What is drawn beneath all else is no area of its own that could be taken away or named. */
function mayLieBeneath({ gradients, mode, removeBackground, objects }: Settings): boolean {
  return gradients && mode === "stacked" && !removeBackground && !objects;
}

const nothingBeneath = { shades: [], on: null };

function inPalette({ groups, shades }: Lifted, palette: readonly Colour[] | null): readonly Group[] {
  if (!palette) return groups;
  return groups.map((group, i) => {
    const { r, g, b } = palette[nearestColour(palette, shades[i].r, shades[i].g, shades[i].b)];
    const elements = group.elements.map((element) => repainted(element, ({ opacity }) => ({ r, g, b, opacity })));
    return { ...group, elements };
  });
}

/**
 * The finest trace that keeps to the byte budget: goes on merging from where the run stopped, guided by how bytes have
 * followed outline length so far. Every step of the merge is remembered, so it can also go back.
 */
function withinBudget(stage: Stage, first: Trace | null, image: Raster, settings: Settings, deadlineMs: number): Trace {
  const { merging } = stage;
  const { bytesMax } = settings;
  let finest = merging.merges;
  let perLength = first ? first.bytes / outlineLength(merging, finest) : bytesPerLength;
  merging.run(Number.POSITIVE_INFINITY, 1);
  let coarsest = merging.merges;
  let best: Trace | null = null;
  for (let round = 0; round < roundsMax && finest < coarsest; round++) {
    const merges = firstBelow((bytesMax * aim) / perLength, finest, coarsest, merging);
    const attempt = draw(stage, merges, image, settings, deadlineMs);
    perLength = attempt.bytes / outlineLength(merging, merges);
    if (attempt.bytes > bytesMax) {
      finest = merges + 1;
      continue;
    }
    if (!best || attempt.bytes > best.bytes) best = attempt;
    if (attempt.bytes >= bytesMax * near) break;
    coarsest = merges;
  }
  return best ?? draw(stage, merging.merges, image, settings, deadlineMs);
}

const roundsMax = 6;
/** The share of the budget that is aimed at; and the share from which on the budget counts as met. */
const aim = 0.965;
const near = 0.93;
/** Bytes per unit of `outlineLength` in a picture of many small areas. */
const bytesPerLength = 1.2;

/** The outlines still to be drawn after `merges` merges, px, each area counting eight more. */
function outlineLength({ borders, count }: Merging, merges: number): number {
  return (merges > 0 ? borders[merges - 1] : 0) + 8 * (count - merges);
}

/** The least number of merges, between two, that leaves no more than `length` of outline. */
function firstBelow(length: number, from: number, to: number, merging: Merging): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (outlineLength(merging, middle) <= length) high = middle;
    else low = middle + 1;
  }
  return low;
}
