import { describe, expect, test } from "vitest";
import { drawPicture, seedOf } from "../../../infra/mock-models/picture.ts";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import type { TraceOptions } from "../../../marketplace/tracer/options.ts";
import { decodeImage } from "../../../marketplace/tracer/pool/decode.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

const blurred = (body: string, deviation: number) =>
  `<defs><filter id="b" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="${deviation}"/></filter></defs>
   <g filter="url(#b)">${body}</g>`;

/** What may be painted with, gradients' stops included. */
const coloursIn = (svg: string) => [
  ...new Set([...svg.matchAll(/(?:fill|stop-color)="(#[0-9a-f]{3,6})"/g)].map(([, colour]) => colour)),
];

const near = {
  "a light page": ["#ffffff", "#f3f4f6", "#f0f0f0", "#ee3333"],
  "a dark page": ["#121212", "#191919", "#1e1e1e", "#2196f3"],
};

test.each(Object.entries(near))("no colours are joined where no more are there than may be: %s", (_name, colours) => {
  const [ground, ...shapes] = colours;
  const circles = shapes.map((colour, i) => `<circle cx="${80 + i * 120}" cy="100" r="50" fill="${colour}"/>`);
  const page = picture(400, 200, `<rect width="400" height="200" fill="${ground}"/>${circles.join("")}`);
  const exact = trace(page, { style: "logo" });
  for (const colors of [4, 16, 256]) {
    expect(coloursIn(trace(page, { colors }).svg).sort()).toEqual(coloursIn(exact.svg).sort());
  }
});

test("where colours are joined, paper that is white stays white", () => {
  const greys = ["#f3f4f6", "#f0f0f0"].map(
    (colour, i) => `<circle cx="${80 + i * 120}" cy="100" r="50" fill="${colour}"/>`,
  );
  const page = `<rect width="400" height="200" fill="#fff"/>${greys.join("")}<circle cx="320" cy="100" r="50" fill="#e33"/>`;
  expect(coloursIn(trace(picture(400, 200, page), { colors: 2 }).svg).sort()).toEqual(["#e33", "#fff"]);
});

test("of many greys as many are used as may be", () => {
  const bars = Array.from(
    { length: 64 },
    (_, i) => `<rect x="${i * 8}" width="8" height="60" fill="rgb(${i * 4},${i * 4},${i * 4})"/>`,
  );
  const { colors } = trace(picture(512, 60, bars.join("")), { colors: 32 });
  expect(colors).toBeGreaterThan(28);
});

const seeThrough = {
  "a soft shadow by itself": picture(200, 200, blurred(`<circle cx="100" cy="100" r="55" opacity=".45"/>`, 10)),
  "a card over its shadow": picture(
    240,
    200,
    `${blurred(`<rect x="50" y="56" width="140" height="100" rx="12" opacity=".45"/>`, 8)}
     <rect x="46" y="46" width="140" height="100" rx="12" fill="#c8102e"/><circle cx="110" cy="96" r="30" fill="#fc0"/>`,
  ),
  "coloured glass": picture(
    240,
    180,
    `<rect x="20" y="20" width="120" height="120" fill="#06c" opacity=".35"/>
     <circle cx="150" cy="100" r="60" fill="#fc0" opacity=".3"/><rect x="90" y="70" width="20" height="80" fill="#333"/>`,
  ),
  "a glow": picture(
    220,
    220,
    `<defs><radialGradient id="g"><stop stop-color="#fe6" stop-opacity=".9"/><stop offset="1" stop-color="#fe6" stop-opacity="0"/></radialGradient></defs>
     <circle cx="110" cy="110" r="100" fill="url(#g)"/><circle cx="110" cy="110" r="24" fill="#c30"/>`,
  ),
  "an edge that fades away": picture(
    260,
    160,
    `<defs><linearGradient id="f"><stop stop-color="#2a7"/><stop offset="1" stop-color="#2a7" stop-opacity="0"/></linearGradient></defs>
     <rect x="10" y="20" width="240" height="120" fill="url(#f)"/>`,
  ),
  "see-through strokes": picture(
    240,
    160,
    `<g fill="none" stroke="#123" stroke-width="3" opacity=".4"><path d="M10 20L220 140M10 140Q120 -40 230 140"/><circle cx="120" cy="80" r="50"/></g>`,
  ),
};

const scores = new Map<Raster, Map<string, number>>();

/** Each drawing is scored once: most are measured against the one without any option. */
function score(image: Raster, options: TraceOptions): number {
  const known = scores.get(image) ?? new Map<string, number>();
  scores.set(image, known);
  const key = JSON.stringify(options);
  const found = known.get(key) ?? scoreTrace(image, trace(image, options)).score;
  known.set(key, found);
  return found;
}

describe("what is see-through stays, as see-through as it was, in a few colours", () => {
  describe.each(Object.entries(seeThrough))("%s drawn in few colours", (_name, image) => {
    test.each<TraceOptions>([
      { colors: 4 },
      { colors: 8 },
      { colors: 32 },
      { colors: 8, mode: "cutout" },
      { colors: 8, layers: true },
      { style: "lineart", colors: 4 },
      { style: "logo" },
    ])("is as like its source, but for a little, as with no limit of colours: %j", (options) => {
      const { colors: _colours, style: _style, ...rest } = options;
      expect(score(image, options)).toBeGreaterThan(score(image, rest) - 0.07);
    });

    test("has no more colours than were asked for", () => {
      for (const colors of [2, 3, 4]) {
        const result = trace(image, { colors });
        expect(result.colors).toBeLessThanOrEqual(colors);
        expect(coloursIn(result.svg).length).toBeLessThanOrEqual(colors);
      }
    });

    test("has none but the palette's colours, though in any opacity", () => {
      const palette = ["#000000", "#c8102e", "#ffcc00", "#22aa77", "#0066cc", "#112233"];
      const result = trace(image, { palette });
      const short = palette.map((colour) => colour.replace(/^#(.)\1(.)\2(.)\3$/, "#$1$2$3"));
      for (const colour of coloursIn(result.svg)) expect(short).toContain(colour);
      expect(scoreTrace(image, result).score).toBeGreaterThan(0.5);
    });
  });

  test.each(["a soft shadow by itself", "see-through strokes"] as const)("%s is drawn as line art, too", (name) => {
    expect(score(seeThrough[name], { style: "lineart" })).toBeGreaterThan(0.95);
  });

  test("a coloured fade keeps its colour to the end without any option", () => {
    expect(score(seeThrough["an edge that fades away"], {})).toBeGreaterThan(0.95);
  });
});

describe("a background taken away takes nothing else with it, whatever the palette makes of it", () => {
  const palettes: TraceOptions[] = [
    { palette: ["#000000", "#ffffff"] },
    { palette: ["#1a2b3c", "#ff8800", "#ffffff"] },
    { colors: 2 },
    { colors: 4 },
  ];

  test.each(palettes)("a dark panel at the edge of a dark ground stays: %j", (options) => {
    const image = picture(
      200,
      200,
      `<rect width="200" height="200" fill="#303848"/><circle cx="100" cy="70" r="40" fill="#fa0"/>
       <rect y="150" width="200" height="50" fill="#050608"/><rect x="30" y="165" width="90" height="20" fill="#fff"/>`,
    );
    const { rgba } = renderRaster(trace(image, { ...options, removeBackground: true }).svg, 200, 200);
    const alphaAt = (x: number, y: number) => rgba[(y * 200 + x) * 4 + 3];
    expect([alphaAt(5, 5), alphaAt(190, 100)]).toEqual([0, 0]);
    expect([alphaAt(100, 70), alphaAt(10, 175), alphaAt(60, 175), alphaAt(190, 195)]).toEqual([255, 255, 255, 255]);
  });

  test.each(["A red fox", "A blue boat", "Three leaves"])(
    "the label of the stand-in's picture for %j stays",
    async (prompt) => {
      const image = await decodeImage(drawPicture(seedOf(prompt), 384, 384));
      const whole = renderRaster(trace(image, { removeBackground: true }).svg, 384, 384);
      for (const options of palettes) {
        const { rgba } = renderRaster(trace(image, { ...options, removeBackground: true }).svg, 384, 384);
        let lost = 0;
        let kept = 0;
        for (let p = 0; p < 384 * 384; p++) {
          if (whole.rgba[p * 4 + 3] === 255) kept++;
          if (whole.rgba[p * 4 + 3] === 255 && rgba[p * 4 + 3] === 0) lost++;
        }
        expect(lost, JSON.stringify(options)).toBeLessThan(0.01 * kept);
      }
    },
  );
});
