import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Raster } from "../../marketplace/tracer/image/raster.ts";
import { decodeImage } from "../../marketplace/tracer/pool/decode.ts";
import { renderRaster } from "../../marketplace/tracer/pool/render.ts";

export interface BenchImage {
  readonly name: string;
  readonly raster: Raster;
}

/** Every PNG, JPEG and WebP of a folder, by name. */
export async function readImages(folder: string): Promise<BenchImage[]> {
  const names = (await readdir(folder)).filter((name) => /\.(?:png|jpe?g|webp)$/i.test(name)).sort();
  return Promise.all(
    names.map(async (name) => ({ name, raster: await decodeImage(await readFile(join(folder, name))) })),
  );
}

/** Pictures this bench draws itself, one of each kind a tracer meets, so that it needs no files. */
export function drawnImages(): BenchImage[] {
  const drawn = Object.entries(drawings).map(([name, [width, height, body]]) => ({
    name,
    raster: renderRaster(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${body}</svg>`,
      width,
      height,
    ),
  }));
  return [...drawn, { name: "pixel", raster: pixelArt() }, { name: "texture", raster: texture(512, 384) }];
}

const petals = Array.from(
  { length: 12 },
  (_, i) =>
    `<path transform="rotate(${i * 30} 300 300)" d="M300 300C240 200 260 90 300 60C340 90 360 200 300 300z" fill="hsl(${i * 30} 70% 55%)"/>`,
).join("");

/** Outlines of letters, as paths: the bench has no font. */
const letters =
  "M10 60V10H22L34 44L46 10H58V60H49V22L37 60H31L19 22V60zM76 60L92 10H102L118 60H108L104 48H90L86 60zM92 40H102L97 22zM130 10H160V18H140V31H157V39H140V52H161V60H130z";

const drawings: Readonly<Record<string, readonly [number, number, string]>> = {
  logo: [
    800,
    600,
    `<rect width="800" height="600" fill="#fff"/><circle cx="300" cy="300" r="180.5" fill="#c8102e"/><circle cx="300" cy="300" r="110" fill="#fff"/>` +
      `<path d="M420 120L700 300L420 480z" fill="#012169"/><rect x="80.4" y="520.3" width="640" height="30" fill="#222"/>`,
  ],
  flower: [
    600,
    600,
    `<rect width="600" height="600" fill="#f7f3e8"/>${petals}<circle cx="300" cy="300" r="40" fill="#fc0"/>`,
  ],
  icon: [
    256,
    256,
    `<path d="M32 120L128 30L224 120V226H32z" fill="#e8b04a" stroke="#7a4b00" stroke-width="8"/><rect x="104" y="150" width="48" height="76" fill="#7a4b00"/>` +
      `<ellipse cx="128" cy="236" rx="110" ry="14" fill="#000" fill-opacity=".25"/>`,
  ],
  gradient: [
    900,
    600,
    `<defs><linearGradient id="a" x2="0" y2="1"><stop stop-color="#1b2a6b"/><stop offset="1" stop-color="#f3a76b"/></linearGradient>` +
      `<radialGradient id="b"><stop stop-color="#fff6c8"/><stop offset="1" stop-color="#f6c33b"/></radialGradient></defs>` +
      `<rect width="900" height="600" fill="url(#a)"/><circle cx="620" cy="230" r="90" fill="url(#b)"/>` +
      `<path d="M0 430Q200 330 420 440T900 400V600H0z" fill="#24344d"/><path d="M0 500Q300 420 560 510T900 480V600H0z" fill="#131c2b"/>`,
  ],
  lines: [
    700,
    700,
    `<rect width="700" height="700" fill="#fff"/><g fill="none" stroke="#111">${Array.from(
      { length: 24 },
      (_, i) =>
        `<path stroke-width="${1 + (i % 4) * 0.6}" d="M${20 + i * 12} ${40 + i * 8}C${300 - i * 9} ${80 + i * 30} ${500 - i * 4} ${90 + i * 10} ${660 - i * 3} ${100 + i * 24}"/>`,
    ).join("")}</g>`,
  ],
  text: [
    640,
    360,
    `<rect width="640" height="360" fill="#fff"/>${[1, 0.5, 0.34, 0.25]
      .map(
        (size, row) =>
          `<g fill="#1a1a1a">${Array.from({ length: 3 * 2 ** row }, (_, i) => `<path transform="translate(${20 + i * 190 * size} ${20 + row * 85}) scale(${size})" d="${letters}"/>`).join("")}</g>`,
      )
      .join("")}`,
  ],
  glass: [
    400,
    400,
    `<circle cx="160" cy="180" r="120" fill="#36c" fill-opacity=".6"/><circle cx="250" cy="230" r="120" fill="#e33" fill-opacity=".6"/>`,
  ],
};

function pixelArt(): Raster {
  const cell = 16;
  const side = 24;
  const colours = [0x1d2b53, 0x7e2553, 0x008751, 0xab5236, 0xffa300, 0xffec27, 0xfff1e8];
  const rgba = new Uint8Array((side * cell) ** 2 * 4);
  for (let y = 0, i = 0; y < side * cell; y++) {
    for (let x = 0; x < side * cell; x++, i += 4) {
      const [cx, cy] = [Math.floor(x / cell), Math.floor(y / cell)];
      const colour = colours[(cx * cx + cy * 3 + ((cx * cy) >> 2)) % colours.length] ?? 0;
      rgba.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], i);
    }
  }
  return { width: side * cell, height: side * cell, rgba };
}

/** Something like a photograph: smooth shapes under grain, from a fixed seed. */
export function texture(width: number, height: number): Raster {
  const rgba = new Uint8Array(width * height * 4);
  let seed = 42;
  const grain = () => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return ((seed >>> 0) / 2 ** 32 - 0.5) * 30;
  };
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 4) {
      const wave = 60 * Math.sin(x / 40 + Math.sin(y / 30)) + 40 * Math.cos(y / 25);
      const g = grain();
      const level = (base: number, share: number) => Math.max(0, Math.min(255, base + wave * share + g));
      rgba.set([level(130, 1), level(110, 0.7), level(90, 0.4), 255], i);
    }
  }
  return { width, height, rgba };
}
