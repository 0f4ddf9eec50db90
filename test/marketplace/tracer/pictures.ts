import sharp from "sharp";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";

/** The body of an SVG as a bitmap. */
export function picture(width: number, height: number, body: string): Raster {
  return renderRaster(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${body}</svg>`,
    width,
    height,
  );
}

export function png({ width, height, rgba }: Raster): Promise<Buffer> {
  return sharp(rgba, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

/** Every channel random, from a fixed seed. */
export function noise(width: number, height: number, seed = 1): Raster {
  const rgba = new Uint8Array(width * height * 4);
  let state = seed;
  for (let i = 0; i < rgba.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    rgba[i] = i % 4 === 3 ? 255 : state & 255;
  }
  return { width, height, rgba };
}

export const logo = `<rect width="400" height="300" fill="#fff"/><circle cx="130.3" cy="150.6" r="80.4" fill="#c8102e"/>
  <path d="M200 40L380 120L240 270z" fill="#012169"/><circle cx="130.3" cy="150.6" r="40" fill="#fc0"/>
  <rect x="20.5" y="262.2" width="180" height="20" fill="#222"/>`;

export const landscape = `<defs><linearGradient id="a" x2="0" y2="1"><stop stop-color="#1b2a6b"/><stop offset="1" stop-color="#f3a76b"/></linearGradient></defs>
  <rect width="600" height="400" fill="url(#a)"/><path d="M0 300Q150 200 300 290T600 260V400H0z" fill="#24344d"/>
  <path d="M0 350Q200 300 380 350T600 340V400H0z" fill="#131c2b"/>`;

/** Overlapping tiles with slanted edges that cover a magenta ground: none of it may ever show. */
export const mosaic = `<rect width="300" height="300" fill="#f0f"/><path d="M-5 -5H305V305H-5z" fill="#2a6"/>
  <path d="M160 -5H305V170L140 150z" fill="#26a"/><path d="M138 150L305 168V305H118z" fill="#a62"/>`;

/** Lines of small words in thin strokes, so that no font is needed; each letter lies otherwise on the pixel grid. */
export function lettering(ink: string, ground: string): string {
  const letters: [string, number][] = [
    ["M1 -9V0", 3.1],
    ["M1 -6V0M1 -8.8V-7.6", 3.1],
    ["M1 0V-6M1 -3.5Q2 -6 4 -5.8", 4.9],
    ["M1 -3a2.3 2.8 0 1 0 4.6 0a2.3 2.8 0 1 0 -4.6 0", 7.1],
    ["M1 0V-6M1 -3.5C2 -6.4 5 -6.4 5 -3.5V0", 6.9],
  ];
  const paths: string[] = [];
  for (let row = 0; row < 5; row++) {
    for (let i = 0, x = 8; x < 225; i++) {
      const [d, advance] = letters[(i * 7 + row + (i >> 2)) % 5]!;
      paths.push(`<path transform="translate(${x.toFixed(2)} ${(18 + row * 15.23).toFixed(2)})" d="${d}"/>`);
      x += advance + (i % 6 === 5 ? 3.8 : 0);
    }
  }
  return `<rect width="240" height="90" fill="${ground}"/>
    <g fill="none" stroke="${ink}" stroke-width="1.2">${paths.join("")}</g>`;
}
