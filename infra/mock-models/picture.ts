import { createHash } from "node:crypto";
import { encodePng } from "./png.ts";

/** What stands for a prompt: the same seed gives the same picture. */
export function seedOf(text: string) {
  return createHash("sha256").update(text).digest("hex");
}

/** Draws flat shapes chosen by the seed (64 hex digits) over a strip that says STAND-IN, as a PNG. */
export function drawPicture(seed: string, width: number, height: number): Buffer {
  const bytes = Buffer.from(seed, "hex");
  const pixels = new Uint8Array(width * height * 3);
  const background = colorOf(bytes, 0);
  const shapes = Array.from({ length: 5 }, (_, index) => shapeOf(bytes, index));
  const dot = Math.max(1, Math.floor(width / (letters.length * 6 + 4)));
  const stripTop = height - dot * 9;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const shape = shapes.findLast((candidate) => candidate.covers(x / width, y / height));
      const color = y >= stripTop ? labelColor(x, y - stripTop, dot) : (shape?.color ?? background);
      pixels.set(color, (y * width + x) * 3);
    }
  }
  return encodePng(pixels, width, height, "drawn by the model stand-in, without a model");
}

/** The shapes of drawPicture as SVG, with a gradient behind them and outlines round them. */
export function drawSvg(seed: string, width: number, height: number): string {
  const bytes = Buffer.from(seed, "hex");
  const hex = (at: number) => `#${Buffer.from(colorOf(bytes, at)).toString("hex")}`;
  const shapes = Array.from({ length: 5 }, (_, index) => {
    const at = 3 + index * 5;
    const [x, y, r] = [width * fractionOf(bytes, at), height * fractionOf(bytes, at + 1), radiusOf(bytes, at)];
    const [rx, ry] = [width * r, height * r].map(Math.round) as [number, number];
    const style = `fill="${hex(at + 2)}" stroke="${hex(at + 4)}" stroke-width="6"`;
    const [cx, cy] = [Math.round(x), Math.round(y)];
    const shape = isRound(bytes, at)
      ? `<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" ${style}/>`
      : `<rect x="${cx - rx}" y="${cy - ry}" width="${2 * rx}" height="${2 * ry}" ${style}/>`;
    return `<g>${shape}</g>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><!-- drawn by the stand-in, without a model -->` +
    `<defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="${hex(0)}"/><stop offset="1" stop-color="${hex(5)}"/></linearGradient></defs>` +
    `<rect width="${width}" height="${height}" fill="url(#sky)"/>${shapes.join("")}</svg>`
  );
}

type Color = readonly [number, number, number];

interface Shape {
  readonly color: Color;
  /** Coordinates run from 0 to 1. */
  covers(x: number, y: number): boolean;
}

function shapeOf(bytes: Buffer, index: number): Shape {
  const at = 3 + index * 5;
  const [centerX, centerY, radius] = [fractionOf(bytes, at), fractionOf(bytes, at + 1), radiusOf(bytes, at)];
  const round = isRound(bytes, at);
  return {
    color: colorOf(bytes, at + 2),
    covers: (x, y) => {
      const [dx, dy] = [Math.abs(x - centerX), Math.abs(y - centerY)];
      return round ? dx * dx + dy * dy < radius * radius : dx < radius && dy < radius;
    },
  };
}

const fractionOf = (bytes: Buffer, at: number) => (bytes[at % bytes.length] ?? 0) / 255;
const radiusOf = (bytes: Buffer, at: number) => 0.1 + fractionOf(bytes, at + 2) * 0.2;
const isRound = (bytes: Buffer, at: number) => fractionOf(bytes, at + 3) < 0.5;

function colorOf(bytes: Buffer, at: number): Color {
  const channel = (offset: number) => bytes[(at + offset) % bytes.length] ?? 0;
  return [channel(0), channel(1), channel(2)];
}

/** Five columns of seven dots each, lowest bit on top. */
const letters: ReadonlyArray<readonly number[]> = [
  [0x26, 0x49, 0x49, 0x49, 0x32],
  [0x01, 0x01, 0x7f, 0x01, 0x01],
  [0x7e, 0x11, 0x11, 0x11, 0x7e],
  [0x7f, 0x02, 0x0c, 0x10, 0x7f],
  [0x7f, 0x41, 0x41, 0x22, 0x1c],
  [0x08, 0x08, 0x08, 0x08, 0x08],
  [0x00, 0x41, 0x7f, 0x41, 0x00],
  [0x7f, 0x02, 0x0c, 0x10, 0x7f],
];

function labelColor(x: number, y: number, dot: number): Color {
  const [column, row] = [Math.floor(x / dot) - 2, Math.floor(y / dot) - 1];
  const bits = letters[Math.floor(column / 6)]?.[column % 6] ?? 0;
  const inked = row >= 0 && row < 7 && ((bits >> row) & 1) === 1;
  return inked ? [255, 255, 255] : [20, 20, 20];
}
