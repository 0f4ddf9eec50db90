import { fileURLToPath } from "node:url";
import { Resvg } from "@resvg/resvg-js";
import sharp from "sharp";
import { contours } from "../../../marketplace/tracer/curves/contours.ts";
import { markCorners } from "../../../marketplace/tracer/curves/corners.ts";
import { fitClosed } from "../../../marketplace/tracer/curves/fit-curve.ts";
import { Points } from "../../../marketplace/tracer/curves/points.ts";
import { depthMax, snapContour } from "../../../marketplace/tracer/curves/snap.ts";
import type { Outline } from "../../../marketplace/tracer/drawing.ts";
import { strengthenHairlines } from "../../../marketplace/tracer/image/hairlines.ts";
import { premultiply, type Raster } from "../../../marketplace/tracer/image/raster.ts";
import { unblend } from "../../../marketplace/tracer/image/unblend.ts";
import { writeSvg } from "../../../marketplace/tracer/output/write-svg.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { describeAreas } from "../../../marketplace/tracer/regions/areas.ts";
import { Merging } from "../../../marketplace/tracer/regions/merge.ts";
import { relaxBorders } from "../../../marketplace/tracer/regions/relax.ts";
import { segment } from "../../../marketplace/tracer/regions/segment.ts";
import { settingsOf } from "../../../marketplace/tracer/settings.ts";
import { liftShadow } from "../../../marketplace/tracer/shadow/shadow.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";

const [width, height, scale, gap] = [72, 64, 4, 8];

const example = `<defs><linearGradient id="a" x2="0" y2="1"><stop stop-color="#fdd26a"/><stop offset="1" stop-color="#e0662f"/></linearGradient>
  <filter id="b" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="3.4"/></filter></defs>
  <ellipse cx="36" cy="53" rx="25" ry="5" fill-opacity=".55" filter="url(#b)"/>
  <circle cx="36" cy="30" r="23.4" fill="url(#a)"/><path d="M36 12L51 42H21z" fill="#1d3c6a"/><circle cx="36" cy="33" r="5.3" fill="#fff"/>`;

/** Draws `marketplace/tracer/stages.png`, the picture in the tracer's README: one example after each of its stages. */
export async function drawStages(): Promise<void> {
  const image = renderRaster(svg(width, height, example), width, height);
  const source = premultiply(image);
  const lifted = liftShadow(source, width, height);
  if (!lifted) throw new Error("the example has no shadow any more");
  const clean = unblend(lifted.above, width, height);
  strengthenHairlines(clean, width, height);
  const settings = settingsOf({});
  const cut = segment(clean, width, height, 20, width * height * 0.1);
  const merging = new Merging({ ...cut, pixels: clean, width, height, deadlineMs: Number.POSITIVE_INFINITY });
  const { labels } = merging.after(0);
  merging.run(settings.lambda);
  merging.absorb(settings.areaMin, 2 * settings.lambda);
  const merged = { ...merging.after(merging.merges), clean, width, height };
  const picture = relaxBorders(merged, settings.lambda / 2);
  const areas = describeAreas(picture, new Map(), settings, { shades: [], on: null });
  const { points, outlines } = outlined(areas, lifted.above, settings.tolerance);
  const grid = settings.grid;
  const shadow = writeSvg({
    ...{ width, height, spanX: width, spanY: height, grid, oneWay: true, crisp: false },
    groups: lifted.groups,
  });
  const pale = `<g opacity=".35">${pixels(image)}</g>`;
  const panels = [
    pixels(image),
    inner(shadow),
    pixels({ width, height, rgba: clean }),
    named(labels),
    named(picture.labels),
    pale + points,
    pale + outlines,
    inner(trace(image).svg),
  ];
  const [across, down] = [width * scale + gap, height * scale + gap];
  const placed = panels.map((panel, i) => {
    const [x, y] = [gap + (i % 4) * across, gap + Math.floor(i / 4) * down];
    return `<svg x="${x}" y="${y}" width="${width * scale}" height="${height * scale}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="#fff"/>${panel}</svg>`;
  });
  const sheet = svg(
    gap + 4 * across,
    gap + 2 * down,
    `<rect width="100%" height="100%" fill="#ccd"/>${placed.join("")}`,
  );
  const file = fileURLToPath(new URL("../../../marketplace/tracer/stages.png", import.meta.url));
  await sharp(new Resvg(sheet).render().asPng()).png({ palette: true }).toFile(file);
  process.stdout.write(`${file}\n`);
}

function svg(across: number, down: number, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${across}" height="${down}">${body}</svg>`;
}

/** A drawing of ours as a part of another; gradients of two parts must not share a name. */
function inner(drawing: string): string {
  return drawing.replaceAll(/(id="|url\(#)g/g, `$1${drawing.length}g`).replace(/ width="\d+" height="\d+"/, "");
}

function pixels({ rgba }: Raster): string {
  return cells((p) => {
    const [r, g, b, alpha = 0] = rgba.subarray(p * 4, p * 4 + 4);
    return alpha > 0 ? `fill="rgb(${r},${g},${b})" fill-opacity="${alpha / 255}"` : null;
  });
}

/** A colour of its own for each label. */
function named(labels: Int32Array): string {
  return cells((p) => `fill="hsl(${((labels[p] ?? 0) * 137 + 200) % 360},60%,60%)"`);
}

function cells(paint: (p: number) => string | null): string {
  let text = "";
  for (let p = 0; p < width * height; p++) {
    const fill = paint(p);
    if (fill) text += `<rect x="${p % width}" y="${Math.floor(p / width)}" width="1.02" height="1.02" ${fill}/>`;
  }
  return text;
}

/** The snapped points of every outer outline, and the curves through them with their joints. */
function outlined(areas: ReturnType<typeof describeAreas>, source: Uint8Array, tolerance: number) {
  const { map, planes, radials, empty } = areas;
  const chain = contours(map);
  const input = { pixels: source, map, contours: chain, planes, radials, tolerance };
  const scratch = new Points();
  let points = "";
  let outlines = "";
  for (const contour of chain.all) {
    if (empty[contour.area] === 1) continue;
    snapContour({ ...input, hidden: () => false, trapMax: depthMax }, contour, scratch);
    if (scratch.count < 3) continue;
    for (let i = 0; i < scratch.count; i++) points += dot(scratch.x[i] ?? 0, scratch.y[i] ?? 0, 0.25);
    markCorners(scratch);
    outlines += curve(fitClosed(scratch));
  }
  return { points, outlines };
}

function curve({ x, y, kinds, points }: Outline): string {
  let d = `M${x} ${y}`;
  let joints = dot(x, y, 0.6);
  let i = 0;
  for (const kind of kinds) {
    const numbers = points.slice(i, i + kind * 2);
    i += kind * 2;
    d += `${kind === 1 ? "L" : "C"}${numbers.join(" ")}`;
    const [jointX = 0, jointY = 0] = numbers.slice(-2);
    joints += dot(jointX, jointY, 0.6);
  }
  return `<path d="${d}z" fill="none" stroke="#d00060" stroke-width=".35"/>${joints}`;
}

function dot(x: number, y: number, r: number): string {
  return `<circle cx="${x}" cy="${y}" r="${r}" fill="#d00060"/>`;
}
