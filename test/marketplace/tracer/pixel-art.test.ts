import fc from "fast-check";
import jsQR from "jsqr";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { DeadlinePassedError } from "../../../marketplace/tracer/deadline.ts";
import { isPixelArt } from "../../../marketplace/tracer/image/own-size.ts";
import { everyPixel } from "../../../marketplace/tracer/image/pixel-grid.ts";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import type { TraceOptions } from "../../../marketplace/tracer/options.ts";
import { drawPixels } from "../../../marketplace/tracer/output/pixel-art.ts";
import { decodeImage } from "../../../marketplace/tracer/pool/decode.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { settingsOf } from "../../../marketplace/tracer/settings.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { noise } from "./pictures.ts";
import { qrCode, qrText } from "./qr-code.ts";

type Rgba = readonly [number, number, number, number];

/** Pixel art before it is enlarged: a colour's number per cell, and how many pixels each column and row then has. */
interface Art {
  readonly cells: readonly number[];
  readonly columns: readonly number[];
  readonly rows: readonly number[];
  readonly colours: readonly Rgba[];
}

function enlarged({ cells, columns, rows, colours }: Art): Raster {
  const across = columns.flatMap((px, x) => Array.from({ length: px }, () => x));
  const down = rows.flatMap((px, y) => Array.from({ length: px }, () => y));
  const rgba = new Uint8Array(across.length * down.length * 4);
  down.forEach((y, py) => {
    across.forEach((x, px) => {
      rgba.set(colours[cells[y * columns.length + x]!]!, (py * across.length + px) * 4);
    });
  });
  return { width: across.length, height: down.length, rgba };
}

/** Channels as they are seen: colour times opacity, so that what a transparent pixel hides does not count. */
const seen = (rgba: Uint8Array, p: number) => {
  const alpha = rgba[p * 4 + 3]!;
  return [0, 1, 2].map((c) => (rgba[p * 4 + c]! * alpha) / 255).concat(alpha);
};

/** A number a pixel. */
const pixelsOf = (rgba: Uint8Array) => new Uint32Array(new Uint8Array(rgba).buffer);

/** Pixels that differ: at all where they are opaque, by more than rounding to whole levels where they are not. */
function wrongPixels(image: Raster, rendering: Raster): number {
  const [whole, wholeRendered] = [pixelsOf(image.rgba), pixelsOf(rendering.rgba)];
  let wrong = 0;
  for (let p = 0; p < image.width * image.height; p++) {
    if (whole[p] === wholeRendered[p]) continue;
    const [a, b] = [seen(image.rgba, p), seen(rendering.rgba, p)];
    const slack = a[3] === 255 ? 0 : 1.01;
    if (a[3] !== b[3] || a.some((level, c) => Math.abs(level - b[c]!) > slack)) wrong++;
  }
  return wrong;
}

function expectExact(image: Raster, options: TraceOptions): void {
  const result = trace(image, options);
  checkSvg(result.svg);
  const rendering = renderRaster(result.svg, image.width, image.height);
  const { removed } = result;
  if (removed) layOn(rendering.rgba, [removed.r, removed.g, removed.b]);
  expect(wrongPixels(image, rendering), JSON.stringify(options)).toBe(0);
}

function layOn(rgba: Uint8Array, ground: readonly number[]): void {
  for (let i = 0; i < rgba.length; i += 4) if (rgba[i + 3] === 0) rgba.set([...ground, 255], i);
}

const level = fc.integer({ min: 0, max: 255 });
const solid = fc.tuple(level, level, level).map(([r, g, b]): Rgba => [r, g, b, 255]);
const seeThrough = fc.tuple(level, level, level, level).map((colour): Rgba => colour);

const cellsOf = (across: number, down: number, colours: number) =>
  fc.array(fc.nat(colours - 1), { minLength: across * down, maxLength: across * down });

/** Cells of one size, with margins and cut edges of any size, or without. */
const evenPlaces = (count: number, cell: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: cell + 5 }), fc.integer({ min: 1, max: cell + 5 }), fc.boolean())
    .map(([first, last, cut]) =>
      Array.from({ length: count }, (_, i) => (!cut ? cell : i === 0 ? first : i === count - 1 ? last : cell)),
    );

const art = (colour: fc.Arbitrary<Rgba>, colours: { min: number; max: number }) =>
  fc
    .record({
      across: fc.integer({ min: 2, max: 29 }),
      down: fc.integer({ min: 2, max: 29 }),
      cell: fc.oneof(fc.integer({ min: 2, max: 6 }), fc.constantFrom(7, 8, 16, 31, 64)),
      count: fc.integer(colours),
    })
    .map((size) => (size.cell > 8 ? { ...size, across: Math.min(9, size.across), down: Math.min(9, size.down) } : size))
    .chain(({ across, down, cell, count }) =>
      fc.record<Art>({
        cells: cellsOf(across, down, count),
        columns: evenPlaces(across, cell),
        rows: evenPlaces(down, cell),
        colours: fc.uniqueArray(colour, { minLength: count, maxLength: count, selector: String }),
      }),
    );

/** Colours that can be told apart by eye: they differ by 24 levels in a channel. */
const toldApart = (colours: readonly Rgba[]) =>
  colours.every((one, i) => colours.slice(0, i).every((other) => one.some((v, c) => Math.abs(v - other[c]!) >= 24)));

/** A pixel a cell: grain all over, or areas with speckles, opaque or with nothing round them. */
const ownSize = drawnIn({
  across: fc.integer({ min: 16, max: 64 }),
  down: fc.integer({ min: 16, max: 64 }),
  colours: fc.array(solid, { minLength: 2, maxLength: 8 }).filter(toldApart),
  speckles: fc.constantFrom(0.02, 0.1, 1),
  onNothing: fc.boolean(),
});

const some = fc.constantFrom(0, 128, 255);
const vivid = fc.tuple(some, some, some, fc.constant(255)).map((colour): Rgba => colour);

/** A scene, or a sheet of many sprites: larger, and hardly a place without detail. */
const scene = drawnIn({
  across: fc.integer({ min: 97, max: 200 }),
  down: fc.integer({ min: 30, max: 140 }),
  colours: fc.uniqueArray(vivid, { minLength: 4, maxLength: 8, selector: String }),
  speckles: fc.constant(0.3),
  onNothing: fc.constant(false),
});

interface Cells {
  readonly across: number;
  readonly down: number;
  readonly colours: readonly Rgba[];
  readonly speckles: number;
  readonly onNothing: boolean;
}

function drawnIn(cells: { readonly [Name in keyof Cells]: fc.Arbitrary<Cells[Name]> }): fc.Arbitrary<Art> {
  return fc
    .record({ ...cells, seed: fc.integer({ min: 1 }) })
    .map(({ across, down, colours, speckles, onNothing, seed }) => {
      const random = seeded(seed);
      const patches = Array.from({ length: 6 }, () => ({
        x: random() * across,
        y: random() * down,
        r: 3 + random() * 9,
      }));
      const cells = Array.from({ length: across * down }, (_, i) => {
        const [x, y] = [i % across, Math.floor(i / across)];
        const patch = patches.findIndex((at) => Math.abs(x - at.x) + Math.abs(y - at.y) < at.r);
        if (onNothing && patch < 0) return colours.length;
        return random() < speckles ? Math.floor(random() * colours.length) : (patch + 1) % colours.length;
      });
      const ones = (length: number) => Array.from({ length }, () => 1);
      return { cells, columns: ones(across), rows: ones(down), colours: [...colours, [0, 0, 0, 0]] };
    });
}

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const hex = ([r, g, b]: Rgba) => `#${[r, g, b].map((value) => value.toString(16).padStart(2, "0")).join("")}`;

const asked = fc.record({
  mode: fc.constantFrom("stacked" as const, "cutout" as const),
  layers: fc.boolean(),
  simplify: fc.constantFrom(0, 0.5, 1),
  style: fc.constantFrom("auto" as const, "pixel" as const, "logo" as const, "icon" as const),
  preset: fc.constantFrom("auto" as const, "hq" as const),
  only: fc.constantFrom("", "colors", "palette"),
});

function optionsFor({ only, ...options }: typeof asked extends fc.Arbitrary<infer T> ? T : never, { colours }: Art) {
  if (only === "colors") return { ...options, colors: Math.max(2, colours.length) };
  return only === "palette" ? { ...options, palette: ["#123456", ...colours.map(hex)] } : options;
}

describe("enlarged pixel art is exact, pixel by pixel", () => {
  test.each([
    ["two opaque colours", solid, { min: 2, max: 2 }, 60],
    ["any number of opaque colours", solid, { min: 1, max: 24 }, 60],
    [
      "colours and holes of any opacity",
      fc.oneof(solid, seeThrough, fc.constant<Rgba>([9, 9, 9, 0])),
      { min: 2, max: 9 },
      60,
    ],
  ])("%s, whatever is asked for", (_what, colour, colours, numRuns) => {
    fc.assert(
      fc.property(art(colour, colours), asked, (drawn, options) => {
        expectExact(enlarged(drawn), optionsFor(options, drawn));
      }),
      { numRuns },
    );
  });
});

describe("pixel art at its own size, a pixel a cell", () => {
  const black: Rgba = [0, 0, 0, 255];
  const drawings: Record<string, { rows: readonly string[]; colours: Record<string, Rgba> }> = {
    invader: {
      rows: [
        "..#.....#..",
        "...#...#...",
        "..#######..",
        ".##.###.##.",
        "###########",
        "#.#######.#",
        "#.#.....#.#",
        "...##.##...",
      ],
      colours: { ".": [0, 0, 0, 0], "#": [40, 220, 60, 255] },
    },
    "a shaded ball": {
      rows: ["..####..", ".#aabb#.", "#aabbcc#", "#abbccd#", "#bbccdd#", "#bccddd#", ".#cddd#.", "..####.."],
      colours: {
        ".": [0, 0, 0, 0],
        "#": black,
        a: [255, 240, 200, 255],
        b: [240, 180, 120, 255],
        c: [200, 110, 90, 255],
        d: [130, 60, 90, 255],
      },
    },
  };

  test.each(Object.entries(drawings))("%s is exact, and no larger than its cells", (_name, { rows, colours }) => {
    const rgba = new Uint8Array([...rows.join("")].flatMap((cell) => [...colours[cell]!]));
    const image = { width: rows[0]!.length, height: rows.length, rgba };
    for (const options of [{}, { mode: "cutout" }, { layers: true }] as const) expectExact(image, options);
    expect(trace(image).svg).toContain(`viewBox="0 0 ${image.width} ${image.height}"`);
  });

  test("a grid of few colours is exact, whether it is grain, a ground with speckles or a sprite on nothing", () => {
    fc.assert(
      fc.property(ownSize, asked, (drawn, options) => {
        const image = enlarged(drawn);
        expectExact(image, { ...optionsFor(options, drawn), style: "auto" });
        expect(trace(image).svg).toContain(`viewBox="0 0 ${image.width} ${image.height}"`);
      }),
      { numRuns: 40 },
    );
  });

  test("a scene or a sheet of sprites is exact at its own size too", () => {
    fc.assert(
      fc.property(scene, (drawn) => {
        const image = enlarged(drawn);
        expectExact(image, {});
        expect(trace(image).svg).toContain(`viewBox="0 0 ${image.width} ${image.height}"`);
      }),
      { numRuns: 10 },
    );
  });

  test.each(Object.entries(inSteps))(
    "%s in few colours, without smooth edges, is drawn in lines and curves",
    (_name, body) => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 180" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h240v180H0z"/>${body}</svg>`;
      const image = renderRaster(svg, 240, 180);
      expect(new Set(pixelsOf(image.rgba)).size).toBe(5);
      expect(trace(image).svg).not.toContain("crispEdges");
    },
  );

  test.each([16, 24, 32, 48, 64])("an icon %d pixels wide with smooth edges is none: its edges stay smooth", (side) => {
    for (const ground of ["", `<path fill="#fff" d="M0 0h24v24H0z"/>`]) {
      for (const body of smoothIcons) {
        const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${ground}${body}</svg>`;
        expect(isPixelArt(renderRaster(svg, side, side)), `${ground}${body}`).toBe(false);
      }
    }
  });
});

/** In four colours on white. */
const inSteps = {
  "a chart": `<path fill="none" stroke="#333" stroke-width="2" d="M20 10v150h210"/>
    <path fill="none" stroke="#c22" stroke-width="2" d="M20 140l40-50 40 30 40-80 40 20 40-30"/>
    <circle cx="60" cy="40" r="25" fill="#27c"/><path fill="#2a4" d="M150 160v-40h20v40zm40 0v-70h20v70z"/>`,
  "a map": `<path fill="#27c" d="M0 60c60-40 90 50 240-10v80c-90 40-160-40-240 0z"/><path fill="#2a4" d="M30 20q60-30 90 10t60 0-30 60-80 20z"/>
    <path fill="none" stroke="#c22" stroke-width="3" d="M10 170C60 60 180 160 230 10"/><circle cx="190" cy="140" r="18" fill="#333"/>`,
};

const smoothIcons = [
  `<circle cx="12" cy="12" r="9" fill="#27c"/>`,
  `<path d="M6 4l14 8-14 8z" fill="#c22"/>`,
  `<path d="M12 2.5l3 6.5 7 .8-5.2 4.8 1.5 7L12 18l-6.3 3.6 1.5-7L2 9.8 9 9z" fill="#e5a50a"/>`,
  `<g fill="none" stroke="#333" stroke-width="2"><circle cx="10" cy="10" r="6"/><path d="M14.5 14.5L21 21"/></g>`,
  `<rect x="3.3" y="5.3" width="17.4" height="13.4" rx="2" fill="#3584e4"/><path d="M4 7l8 6 8-6" fill="none" stroke="#fff"/>`,
  `<radialGradient id="g"><stop stop-color="#fff"/><stop offset="1" stop-color="#c40"/></radialGradient><circle cx="12" cy="12" r="10" fill="url(#g)"/>`,
];

test("a cell that hangs on by its corner is drawn", () => {
  const rows = ["...#", ".#.#", "..##", "##.."];
  const cells = rows.flatMap((row) => [...row].map((cell) => (cell === "#" ? 1 : 0)));
  const places = [16, 16, 16, 16];
  const colours: Rgba[] = [
    [255, 255, 255, 255],
    [0, 0, 0, 255],
  ];
  const image = enlarged({ cells, columns: places, rows: places, colours });
  for (const options of [{}, { mode: "cutout" }, { layers: true }, { style: "photo" }] as const)
    expectExact(image, options);
});

test("cells of three and of four pixels, as an enlargement by no whole number leaves them, are exact too", () => {
  const widths = fc.array(fc.integer({ min: 3, max: 4 }), { minLength: 8, maxLength: 20 });
  const uneven = fc.tuple(widths, widths).chain(([columns, rows]) =>
    cellsOf(columns.length, rows.length, 3).map((cells): Art => {
      const colours: Rgba[] = [
        [250, 250, 240, 255],
        [200, 16, 46, 255],
        [0, 40, 90, 255],
      ];
      return { cells, columns, rows, colours };
    }),
  );
  fc.assert(
    fc.property(uneven, asked, (drawn, options) => expectExact(enlarged(drawn), optionsFor(options, drawn))),
    { numRuns: 30 },
  );
});

test("a background of one colour goes where it reaches the border, and no cell of another colour with it", () => {
  const framed = art(solid, { min: 3, max: 6 }).map((drawn): Art => {
    const [across, down] = [drawn.columns.length, drawn.rows.length];
    const inside = (i: number) => i % across > 0 && i % across < across - 1 && i >= across && i < across * (down - 1);
    return { ...drawn, cells: drawn.cells.map((cell, i) => (inside(i) ? cell : 0)) };
  });
  fc.assert(
    fc.property(framed, asked, (drawn, options) => {
      const image = enlarged(drawn);
      const all = { ...optionsFor(options, drawn), removeBackground: true };
      expectExact(image, all);
      const { rgba } = renderRaster(trace(image, all).svg, image.width, image.height);
      expect(rgba[3]).toBe(0);
      const [ground] = pixelsOf(Uint8Array.from(drawn.colours[0]!));
      const holes = pixelsOf(image.rgba).filter((pixel, p) => pixel !== ground && rgba[p * 4 + 3] !== 255);
      expect(holes).toHaveLength(0);
    }),
    { numRuns: 30 },
  );
});

test("fewer colours than it has leave every cell whole", () => {
  fc.assert(
    fc.property(art(solid, { min: 6, max: 20 }), fc.integer({ min: 2, max: 5 }), (drawn, colors) => {
      const image = enlarged(drawn);
      const result = trace(image, { colors });
      expect(result.colors).toBeLessThanOrEqual(colors);
      const drawnAs = pixelsOf(renderRaster(result.svg, image.width, image.height).rgba);
      const shown = new Map<number, number>();
      pixelsOf(image.rgba).forEach((source, p) => {
        if (!shown.has(source)) shown.set(source, drawnAs[p]!);
        if (shown.get(source) !== drawnAs[p]) throw new Error(`a cell is drawn in two colours, at pixel ${p}`);
      });
    }),
    { numRuns: 20 },
  );
});

test("the bands of a gradient are no cells: it stays a gradient", () => {
  const rgba = new Uint8Array(200 * 600 * 4);
  for (let p = 0; p < 200 * 600; p++) rgba.set([40, 90, Math.floor(p / 200 / 2.5), 255], p * 4);
  expect(trace({ width: 200, height: 600, rgba }).svg).toContain("linearGradient");
});

describe("a QR code can be scanned", () => {
  const quiet = 4;
  const modules = qrCode.length + 2 * quiet;
  const isDark = (x: number, y: number) => qrCode[y - quiet]?.[x - quiet] === "#";
  const paper: Rgba = [255, 255, 255, 255];
  const ink: Rgba = [17, 34, 51, 255];
  const code = (px: number): Raster => {
    const places = Array.from({ length: modules }, () => px);
    const cells = Array.from({ length: modules ** 2 }, (_, i) =>
      isDark(i % modules, Math.floor(i / modules)) ? 1 : 0,
    );
    return enlarged({ cells, columns: places, rows: places, colours: [paper, ink] });
  };
  const scan = ({ width, height, rgba }: Raster) => jsQR(new Uint8ClampedArray(rgba), width, height)?.data;
  const rendered = (image: Raster, options: TraceOptions) => {
    const scale = Math.max(1, Math.ceil(300 / image.width));
    const drawing = renderRaster(trace(image, options).svg, image.width * scale, image.height * scale);
    layOn(drawing.rgba, paper.slice(0, 3));
    return drawing;
  };
  const options: TraceOptions[] = [
    {},
    { mode: "cutout" },
    { layers: true },
    { colors: 2 },
    { style: "lineart" },
    { removeBackground: true },
    { palette: ["#000000", "#ffffff"], simplify: 0.5 },
  ];

  test.each([2, 3, 8, 16])("%d pixels a module", (px) => {
    for (const asked of options) expect(scan(rendered(code(px), asked)), JSON.stringify(asked)).toBe(qrText);
  });

  const asSharp = (image: Raster) =>
    sharp(image.rgba, { raw: { width: image.width, height: image.height, channels: 4 } });
  test.each<[string, (image: Raster) => Promise<Buffer>]>([
    ["as a JPEG", (image) => asSharp(image).flatten().jpeg({ quality: 75 }).toBuffer()],
    ["as a poor JPEG", (image) => asSharp(image).flatten().jpeg({ quality: 35 }).toBuffer()],
    ["a little blurred", (image) => asSharp(image).blur(0.8).png().toBuffer()],
    [
      "reduced to no whole number of pixels",
      (image) =>
        asSharp(image)
          .resize(Math.round(image.width * 0.83))
          .png()
          .toBuffer(),
    ],
  ])("a QR code that came %s can be scanned once it is traced", async (_how, made) => {
    for (const px of [5, 8, 16]) {
      const image = await decodeImage(await made(code(px)));
      for (const asked of options) expect(scan(rendered(image, asked)), `${px} ${JSON.stringify(asked)}`).toBe(qrText);
    }
  });
});

describe("noise that is asked for as pixel art", () => {
  const drawn = (side: number, deadlineMs: number) => {
    const image = noise(side, side);
    return drawPixels(image, everyPixel(image), settingsOf({ style: "pixel", layers: true }), deadlineMs);
  };

  test("is not drawn cell by cell where that is sure to be over the byte budget", () => {
    expect(drawn(400, Number.POSITIVE_INFINITY)).toBeNull();
  });

  test("keeps to the time there is", () => {
    expect(() => drawn(100, performance.now() - 1)).toThrow(DeadlinePassedError);
  });
});
