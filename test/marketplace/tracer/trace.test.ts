import { describe, expect, test, vi } from "vitest";
import { DeadlinePassedError } from "../../../marketplace/tracer/deadline.ts";
import type { TraceOptions } from "../../../marketplace/tracer/options.ts";
import { pathData } from "../../../marketplace/tracer/output/path-data.ts";
import { likeness } from "../../../marketplace/tracer/output/score.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { trace, traceInTime } from "../../../marketplace/tracer/trace.ts";
import { texture } from "../../bench/svg-images.ts";
import { landscape, lettering, logo, mosaic, noise, picture } from "./pictures.ts";

describe("the same picture and options give the same bytes", () => {
  const pictures = { logo: picture(400, 300, logo), landscape: picture(600, 400, landscape), noise: noise(90, 70) };
  const options: TraceOptions[] = [{}, { mode: "cutout" }, { preset: "hq" }, { colors: 4 }, { layers: true }];
  test.each(Object.entries(pictures))(
    "a %s that is traced twice is the same SVG, whatever was traced in between",
    (_, image) => {
      for (const option of options) {
        const first = trace(image, option);
        trace(noise(40, 40), { simplify: 0.5 });
        expect(trace({ ...image, rgba: image.rgba.slice() }, option).svg).toBe(first.svg);
      }
    },
  );

  test.each(Object.entries(pictures))("a %s is left as it was by every kind of trace", (_, image) => {
    const before = image.rgba.slice();
    const kinds: TraceOptions[] = [
      ...options,
      { style: "photo" },
      { style: "lineart" },
      { style: "pixel" },
      { removeBackground: true },
    ];
    for (const kind of kinds) trace(image, kind);
    expect(Buffer.compare(image.rgba, before)).toBe(0);
  });
});

describe("what is drawn is what was drawn", () => {
  test("flat art keeps its look in a few hundred bytes", () => {
    const image = picture(400, 300, logo);
    const result = trace(image);
    const { ssim, psnr, score } = scoreTrace(image, result);
    expect(ssim).toBeGreaterThan(0.995);
    expect(psnr).toBeGreaterThan(38);
    expect(score).toBeGreaterThan(0.97);
    expect(result.bytes).toBeLessThan(1000);
  });

  test("a smooth gradient is one element with stops, not bands", () => {
    const image = picture(600, 400, landscape);
    const result = trace(image);
    expect(result.svg).toContain("<linearGradient");
    expect(result.paths).toBeLessThan(12);
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(34);
  });

  test("an even texture of little contrast is not one flat area, unless fewer details are asked for", () => {
    const blots = Array.from({ length: 900 }, (_, i) => {
      const [x, y, shade] = [(i * 7919) % 160, (i * 104729) % 96, 158 + ((i * 31) % 5) * 5];
      return `<circle cx="${x}" cy="${y}" r="${2 + (i % 3)}" fill="rgb(${shade},${shade},${shade + 8})"/>`;
    });
    const image = picture(160, 96, `<rect width="160" height="96" fill="#a4a4ac"/>${blots.join("")}`);
    expect(scoreTrace(image, trace(image)).ssim).toBeGreaterThan(0.85);
    expect(trace(image, { preset: "small" }).bytes).toBeLessThan(1_000);
  });

  test("an even texture of small grains of more contrast keeps them", () => {
    const grains = Array.from({ length: 2000 }, (_, i) => {
      const [x, y, shade] = [(i * 7919) % 160, (i * 104729) % 96, 128 + ((i * 31) % 5) * 9];
      return `<circle cx="${x}" cy="${y}" r="${1.2 + (i % 3) * 0.6}" fill="rgb(${shade},${shade},${shade + 8})"/>`;
    });
    const image = picture(160, 96, `<rect width="160" height="96" fill="#a4a4ac"/>${grains.join("")}`);
    expect(scoreTrace(image, trace(image)).ssim).toBeGreaterThan(0.9);
  });

  test("few flat shapes are drawn more exactly", () => {
    const blob = (x: number, y: number, k: number, fill: string) =>
      `<path transform="translate(${x} ${y}) scale(${k})" d="M0 0C-20 -55 25 -80 60 -62S130 -50 110 -5S20 18 0 0z" fill="${fill}"/>`;
    const blobs = [blob(20, 120, 0.5, "#c31"), blob(120, 100, 0.6, "#147"), blob(70, 180, 0.5, "#2a2")];
    const body = `<rect width="300" height="200" fill="#fff"/>${blobs.join("")}${blob(200, 180, 0.4, "#93c")}`;
    const image = picture(300, 200, body);
    expect(scoreTrace(image, trace(image)).psnr).toBeGreaterThan(44);
  });

  test("bars a pixel wide end square", () => {
    const bars = [12, 40, 68, 96].map(
      (
        y,
      ) => `<g transform="translate(0 ${y})"><rect x="10" y="1" width="8" height="1.15"/><rect x="24" y="-3" width="1.1" height="9"/>
        <circle cx="50.3" cy="2.2" r="7.3" fill="#c33"/><rect x="66" width="12" height="1"/><rect x="66" y="4" width="12" height="1.2"/></g>`,
    );
    const image = picture(90, 120, `<rect width="90" height="120" fill="#fff"/>${bars.join("")}`);
    expect(scoreTrace(image, trace(image)).psnr).toBeGreaterThan(42);
  });

  test("a pale shape beside a dark one is no gap between letters", () => {
    const image = picture(
      200,
      100,
      `<rect width="200" height="100" fill="#fff"/><path d="M20 40L60 37L100 42V46L60 43L20 44z"/>
        <path d="M100 42L140 51L180 50V53L140 55L100 46z" fill="#888"/>`,
    );
    expect(scoreTrace(image, trace(image)).ssim).toBeGreaterThan(0.99);
  });

  test("a radial gradient is one, with its centre where it was", () => {
    const image = picture(
      400,
      300,
      `<defs><radialGradient id="a" gradientUnits="userSpaceOnUse" cx="176" cy="114" r="144"><stop stop-color="#fff"/>
        <stop offset="1" stop-color="#c22"/></radialGradient></defs><rect width="400" height="300" fill="#eef"/>
        <circle cx="200" cy="150" r="120" fill="url(#a)"/>`,
    );
    const result = trace(image);
    expect(result.paths).toBe(2);
    const [, cx, cy] = /<radialGradient[^>]* cx="(\d+)" cy="(\d+)"/.exec(result.svg)!.map(Number);
    expect(Math.abs(cx! / 4 - 176)).toBeLessThan(4);
    expect(Math.abs(cy! / 4 - 114)).toBeLessThan(4);
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(42);
    expect(trace(image).svg).toBe(result.svg);
    expect(trace(image, { colors: 8 }).svg).not.toContain("Gradient");
  });

  test.each([
    ["an arc", "M60 250A80 80 0 0 1 220 250", [140, 170, 25]],
    ["an arc at its side", "M60 250A80 80 0 0 1 220 250", [83.4, 193.4, 20]],
    ["a line at a slant", "M40 50L340 75", [180, 61.7, 25]],
    ["a steeper line", "M40 50L340 150", [180, 96.7, 25]],
  ] as const)("a disc that covers %s is a circle", (_name, line, [cx, cy, r]) => {
    for (const [ink, fill] of [
      ["#123", "#fb3"],
      ["#06c", "#c33"],
    ]) {
      const image = picture(
        400,
        300,
        `<rect width="400" height="300" fill="#fff"/><path d="${line}" fill="none" stroke="${ink}" stroke-width="4"/>
         <circle cx="${cx}" cy="${cy}" r="${r}" fill="${fill}"/>`,
      );
      const { svg } = trace(image);
      const [, ...found] = svg.match(/<circle[^>]* cx="(\d+)" cy="(\d+)" r="(\d+)"/) ?? [];
      const missed = [cx, cy, r].map((value, i) => Math.abs(Number(found[i]) / 4 - value));
      expect(Math.max(...missed), svg).toBeLessThan(0.3);
      expect(likeness(image, renderRaster(svg, 400, 300)).ssim).toBeGreaterThan(0.998);
    }
  });

  test.each([1, 2, 4])("a disc that lacks %i px at one side is no circle", (depth) => {
    const [r, half] = [52, Math.sqrt(2 * 52 * depth - depth * depth)];
    const [left, right, top] = [100 - half, 100 + half, 100 - r + depth];
    const flat = picture(
      200,
      200,
      `<rect width="200" height="200" fill="#fff"/><path d="M${left} ${top}H${right}A${r} ${r} 0 1 1 ${left} ${top}z" fill="#06c"/>`,
    );
    expect(trace(flat).svg).not.toContain("<circle");
  });

  test("circles are circles and upright rectangles rectangles, to a fifth of a pixel", () => {
    const { svg } = trace(picture(400, 300, logo));
    const unit = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]) / 400;
    const circles = [...svg.matchAll(/<circle[^>]* cx="(\d+)" cy="(\d+)" r="(\d+)"/g)].map((m) =>
      m.slice(1).map((v) => Number(v) / unit),
    );
    const inner = circles.find(([, , r]) => Math.abs(r! - 40) < 0.2);
    expect(inner?.[0]).toBeCloseTo(130.3, 0);
    expect(inner?.[1]).toBeCloseTo(150.6, 0);
    const [, x, y, width, height] = /<rect[^>]* x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/
      .exec(svg)!
      .map(Number);
    for (const [found, drawn] of [
      [x, 20.5],
      [y, 262.2],
      [width, 180],
      [height, 20],
    ])
      expect(Math.abs(found! / unit - drawn!)).toBeLessThan(0.25);
  });

  test("corners are sharp: a triangle is three lines", () => {
    const { svg } = trace(
      picture(300, 300, `<rect width="300" height="300" fill="#fff"/><path d="M40 30L270 110L90 260z"/>`),
    );
    const data = /<path[^>]* d="([^"]+)"/.exec(svg)![1]!;
    expect(data).not.toMatch(/[cs]/);
    expect(data.match(/-?\d+/g)!.length).toBeLessThanOrEqual(8);
  });

  test("a wave is as few curves as draw it", () => {
    const top = Array.from({ length: 6 }, (_, i) => `q40 ${i % 2 ? 60 : -60} 80 0`).join("");
    const image = picture(
      520,
      300,
      `<rect width="520" height="300" fill="#fff"/><path d="M20 100${top}v120h-480z" fill="#123"/>`,
    );
    const result = trace(image);
    const shapes = result.drawing.groups.flatMap(({ elements }) => elements.map(({ shape }) => shape));
    const curves = shapes.flatMap((shape) => (shape.kind === "path" ? shape.outlines : [])).flatMap((o) => o.kinds);
    expect(curves.filter((kind) => kind === 3).length).toBeLessThanOrEqual(20);
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(46);
  });

  test("curves are written with the fewest numbers that draw them, and a line back to the start is not", () => {
    const hill = [20, 40, 40, 40, 60, 0];
    const valley = [80, -40, 100, -40, 120, 0];
    const quadratics = { x: 0, y: 0, kinds: [3, 3, 1, 1], points: [...hill, ...valley, 120, 90, 0, 0] };
    expect(pathData([quadratics], 1)).toBe("M0 0q30 60 60 0t60 0v90z");
    const lopsided = [0, 60, 10, 60, 60, 0];
    expect(pathData([{ x: 0, y: 0, kinds: [3], points: lopsided, open: true }], 1)).toBe("M0 0c0 60 10 60 60 0");
  });

  test.each([
    [14, 14],
    [14, 14.5],
    [14.5, 14.5],
    [14, 14.4],
    [14.4, 14.6],
  ])("a plus of bars 4 px wide at %f, %f has right corners and square ends", (x, y) => {
    const plus = `<path fill="#ddd" d="M${x} ${y - 6}h4v6h6v4h-6v6h-4v-6h-6v-4h6z"/>`;
    const { svg } = trace(picture(32, 32, `<rect width="32" height="32" fill="#222"/>${plus}`));
    expect(svg).not.toContain("round");
    const outlines = Array.from(svg.matchAll(/ d="([^"]*)"/g), ([, d = ""]) => d);
    for (const d of outlines) expect(d).toMatch(/^M[\d ]+[hvz\d-]+$/);
  });

  test("the end of a narrow stroke is square where it was square and round where it was round", () => {
    const bar = (more: string) =>
      trace(
        picture(
          60,
          80,
          `<rect width="60" height="80" fill="#fff"/><path d="M22.3 15V60" stroke="#123" stroke-width="4" ${more}/>`,
        ),
      ).svg;
    expect(bar("")).toMatch(/<line [^>]*stroke="#123" stroke-width="16" x1="89" y1="60" x2="89" y2="240"/);
    expect(bar('stroke-linecap="round"')).toMatch(
      /<line [^>]*stroke-linecap="round"[^>]* x1="89" y1="60" x2="89" y2="240"/,
    );
  });

  test.each([0.8, 1, 1.5, 2])("a slanted line %d px wide stays whole", (width) => {
    const image = picture(
      240,
      160,
      `<rect width="240" height="160" fill="#fff"/><path d="M12 20L228 131" stroke="#000" stroke-width="${width}"/>`,
    );
    const rendering = renderRaster(trace(image).svg, 960, 640);
    for (let x = 20; x < 220; x++) {
      // Along the line at four times the size, the darkest pixel across it is never paper.
      const y = 20 + ((x - 12) * 111) / 216;
      let darkest = 255;
      for (let d = -8; d <= 8; d++)
        darkest = Math.min(darkest, rendering.rgba[(Math.round(y * 4 + d) * 960 + x * 4) * 4]!);
      expect(darkest).toBeLessThan(170);
    }
  });

  test("soft shadows stay soft and what is transparent stays transparent", () => {
    const image = picture(
      200,
      200,
      `<defs><linearGradient id="f"><stop stop-opacity=".8"/><stop offset="1" stop-opacity="0"/></linearGradient></defs>
       <rect x="20" y="20" width="160" height="100" fill="url(#f)"/><circle cx="100" cy="150" r="30" fill="#06c"/>`,
    );
    const result = trace(image);
    expect(result.svg).toContain("stop-opacity");
    const rendering = renderRaster(result.svg, 200, 200);
    expect(rendering.rgba[3]).toBe(0);
    expect(scoreTrace(image, result).score).toBeGreaterThan(0.9);
  });

  test("a ring over nothing keeps its hole", () => {
    const image = picture(200, 200, `<circle cx="100" cy="100" r="60" fill="none" stroke="#c00" stroke-width="30"/>`);
    expect(renderRaster(trace(image).svg, 200, 200).rgba[(100 * 200 + 100) * 4 + 3]).toBe(0);
  });
});

describe("small lettering", () => {
  test.each([
    ["#333333", "#f6f7f9"],
    ["#777777", "#ffffff"],
    ["#cdd6f4", "#1e1e2e"],
    ["#ffffff", "#22aa77"],
  ])("%s on %s comes out in one tone, its own", (ink, ground) => {
    const image = picture(240, 90, lettering(ink, ground));
    const { rgba } = renderRaster(trace(image).svg, 960, 360);
    const words = new Uint32Array(rgba.buffer, rgba.byteOffset, 960 * 360);
    let written = 0;
    let even = 0;
    // Within shapes only, where the rendering's own anti-aliasing does not reach.
    for (let p = 961; p < words.length - 961; p++) {
      if ([-961, -960, -959, -1, 1, 959, 960, 961].some((step) => words[p + step] !== words[p])) continue;
      if (distance(rgba, p, ground) < 10) continue;
      written++;
      if (distance(rgba, p, ink) < 16) even++;
    }
    expect(written).toBeGreaterThan(10_000);
    expect(even / written).toBeGreaterThan(0.99);
  });

  test("a stroke between two rows of pixels is as long as one on a row", () => {
    const image = picture(
      60,
      50,
      `<rect width="60" height="50" fill="#fff"/><path d="M20.5 15V35M24 15V35M27.5 15V35" stroke="#222"/>`,
    );
    const { rgba } = renderRaster(trace(image).svg, 240, 200);
    const lengths = [20.5, 24, 27.5].map((x) => {
      let dark = 0;
      for (let y = 0; y < 200; y++) if (rgba[(y * 240 + Math.floor(x * 4)) * 4]! < 128) dark++;
      return dark / 4;
    });
    for (const length of lengths) expect(Math.abs(length - 20)).toBeLessThan(0.6);
  });

  test("pale strokes by themselves stay pale", () => {
    const ground = `<rect width="60" height="50" fill="#fff"/>`;
    const { svg } = trace(
      picture(
        60,
        50,
        `${ground}<path d="M10 15V35M16 15V35" stroke="#aaa" stroke-width="2"/>
        <path d="M40 15V35M46 15V35" stroke="#000" stroke-width="2"/>`,
      ),
    );
    expect(svg).toContain("#aaa");
  });

  test("the ground shows in the counters, also where the ink's colour covers more than the ground does", () => {
    const centres = Array.from({ length: 45 }, (_, i) => [12.2 + (i % 9) * 20.23, 12.1 + Math.floor(i / 9) * 13.37]);
    const rings = centres.map(([x, y]) => `<ellipse cx="${x}" cy="${y}" rx="2.6" ry="3.2"/>`).join("");
    const image = picture(
      400,
      160,
      `<rect width="400" height="160" fill="#fff"/><rect width="190" height="80" fill="#2a7"/>
        <g fill="none" stroke="#fff" stroke-width="1.15">${rings}</g>`,
    );
    const { rgba } = renderRaster(trace(image).svg, 1600, 640);
    for (const [x, y] of centres)
      expect(distance(rgba, Math.round(y! * 4) * 1600 + Math.round(x! * 4), "#22aa77")).toBeLessThan(90);
  });
});

/** The largest difference in a channel between pixel `p` and a colour `#rrggbb`. */
function distance(rgba: Uint8Array, p: number, colour: string): number {
  return Math.max(
    ...[0, 1, 2].map((c) => Math.abs(rgba[p * 4 + c]! - Number.parseInt(colour.slice(1 + 2 * c, 3 + 2 * c), 16))),
  );
}

describe("no hairline gaps", () => {
  test("stacked shapes drawn at four times the size show nothing of what lies behind", () => {
    const image = picture(300, 300, mosaic);
    const { rgba } = renderRaster(trace(image).svg, 1200, 1200);
    for (let i = 0; i < rgba.length; i += 4) {
      // No tile has much red and blue with little green; the ground is just that.
      const magenta = Math.min(rgba[i]!, rgba[i + 2]!) - rgba[i + 1]!;
      if (magenta > 20 || rgba[i + 3] !== 255) expect.fail(`gap at ${(i / 4) % 1200}, ${Math.floor(i / 4800)}`);
    }
  });

  test("an opaque picture is opaque at any size", () => {
    for (const image of [picture(400, 300, logo), picture(600, 400, landscape), noise(64, 64)]) {
      const { rgba } = renderRaster(trace(image).svg, image.width * 3, image.height * 3);
      for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 255) expect.fail(`transparent at byte ${i}`);
    }
  });

  test("cutout: no lines show between neighbours, at its own size and at four times", () => {
    for (const image of [picture(300, 300, mosaic), picture(240, 90, lettering("#333333", "#f6f7f9"))]) {
      const { svg } = trace(image, { mode: "cutout" });
      for (const times of [1, 4]) {
        const { rgba } = renderRaster(svg, image.width * times, image.height * times);
        const gaps = rgba.filter((level, i) => i % 4 === 3 && level < 200).length;
        expect(gaps, `at ${times}×`).toBeLessThan(rgba.length / 4 / 5_000);
      }
    }
  });

  test("cutout: where a shape is taken away nothing lies beneath, but for a hair along its edge", () => {
    const disc = `<rect width="100" height="100" fill="#fff"/><circle cx="50" cy="50" r="30" fill="#06c"/>`;
    const { svg } = trace(picture(100, 100, disc), { mode: "cutout" });
    const { rgba } = renderRaster(svg.replace(/<circle[^>]*>/, ""), 100, 100);
    const alphaAt = (x: number) => rgba[(50 * 100 + x) * 4 + 3];
    expect([alphaAt(50), alphaAt(23), alphaAt(20), alphaAt(10)]).toEqual([0, 0, 255, 255]);
  });
});

describe("options", () => {
  const image = picture(600, 400, landscape);
  test("colors is the most that is used", () => {
    for (const colors of [2, 5, 16]) {
      const result = trace(image, { colors });
      expect(result.colors).toBeLessThanOrEqual(colors);
      expect(new Set(result.layers.flatMap(({ fill }) => fill)).size).toBe(result.colors);
    }
  });

  test("palette is all that is used", () => {
    const palette = ["#101820", "#f2aa4c", "#3355aa"];
    const { svg } = trace(image, { palette });
    const used = [...svg.matchAll(/fill="(#[0-9a-f]+)"/g)].map(([, colour]) => colour);
    expect(used.length).toBeGreaterThan(0);
    for (const colour of used) expect(palette.concat("#35a")).toContain(colour);
  });

  test("lineart is two colours", () => {
    expect(trace(image, { style: "lineart" }).colors).toBeLessThanOrEqual(2);
  });

  test("simplify gives fewer bytes", () => {
    const textured = noise(120, 120);
    const sizes = [0, 0.5, 1].map((simplify) => trace(textured, { simplify }).bytes);
    expect(sizes[1]).toBeLessThan(sizes[0]!);
    expect(sizes[2]).toBeLessThanOrEqual(sizes[1]!);
  });

  test("remove_background leaves the ground transparent and scores what is left", () => {
    const art = picture(400, 300, logo);
    const result = trace(art, { removeBackground: true });
    const { rgba } = renderRaster(result.svg, 400, 300);
    expect(rgba[3]).toBe(0);
    expect(rgba[(150 * 400 + 130) * 4 + 3]).toBe(255);
    expect(scoreTrace(art, result).score).toBeGreaterThan(0.95);
  });

  test("remove_background opens the counters of letters, and keeps what is written on a button or filled in a figure", () => {
    const page = picture(
      300,
      200,
      `<rect width="300" height="200" fill="#fff"/>
      <circle cx="50" cy="50" r="24" fill="none" stroke="#123" stroke-width="12"/>
      <path d="M110 80L135 20L160 80zM127 62h16l-8 -20z" fill="#123" fill-rule="evenodd"/>
      <rect x="20" y="120" width="110" height="50" rx="8" fill="#06c"/><path d="M60 145h30M75 130v30" stroke="#fff" stroke-width="8"/>
      <circle cx="230" cy="100" r="60" fill="#fc9"/><path d="M190 60h80v25h-80z" fill="#421"/><path d="M210 130h40v14h-40z" fill="#c22"/>
      <path d="M180 100h20v20h-20z" fill="#2a6"/><path d="M258 98h24v22h-24z" fill="#83c"/><circle cx="230" cy="105" r="12" fill="#fff"/>`,
    );
    const { rgba } = renderRaster(trace(page, { removeBackground: true }).svg, 300, 200);
    const alphaAt = (x: number, y: number) => rgba[(y * 300 + x) * 4 + 3];
    expect([alphaAt(5, 5), alphaAt(50, 50), alphaAt(135, 54)]).toEqual([0, 0, 0]);
    expect([alphaAt(75, 145), alphaAt(230, 105)]).toEqual([255, 255]);
  });

  test.each([
    ["a blueprint", "#2050a0", "#fff"],
    ["a blackboard", "#222", "#fff"],
    ["yellow on green", "#285", "#ff0"],
  ])("lineart: light lines on a dark ground stay as they are: %s", (_name, ground, line) => {
    const drawn = picture(
      300,
      300,
      `<rect width="300" height="300" fill="${ground}"/><path d="M60 150L150 60L240 150V240H60ZM120 240V180H180V240M40 270H260" fill="none" stroke="${line}" stroke-width="4"/>
       <circle cx="250" cy="50" r="24" fill="none" stroke="${line}" stroke-width="4"/>`,
    );
    expect(scoreTrace(drawn, trace(drawn, { style: "lineart" })).score).toBeGreaterThan(0.95);
  });

  test("lineart: a page whose left third is dark is as readable as without the shadow, and its paper is white", () => {
    const page = picture(300, 120, `<rect width="300" height="120" fill="#fff"/>${lettering("#222222", "#ffffff")}`);
    const shaded = {
      ...page,
      rgba: page.rgba.map((level, i) => ((i >> 2) % 300 < 100 && i % 4 < 3 ? level * 0.3 : level)),
    };
    const { svg, layers } = trace(shaded, { style: "lineart" });
    expect(layers[0]?.fill).toContain("#fff");
    const drawn = renderRaster(svg, 300, 120).rgba;
    const clear = renderRaster(trace(page, { style: "lineart" }).svg, 300, 120).rgba;
    const unlike = drawn.filter((level, i) => i % 4 === 0 && Math.abs(level - clear[i]!) > 96).length;
    expect(unlike / (300 * 120)).toBeLessThan(0.005);
  });

  test("photo gives a poster of few bytes, with the edges where they were", () => {
    const photo = texture(320, 240);
    const [poster, whole] = [trace(photo, { style: "photo" }), trace(photo)];
    expect(poster.bytes).toBeLessThan(whole.bytes / 2);
    expect(scoreTrace(photo, poster).psnr).toBeGreaterThan(scoreTrace(photo, whole).psnr - 2);
    expect(trace(noise(300, 200), { style: "photo" }).bytes).toBeLessThan(120_000);
  });

  test("layers gives one named group per object", () => {
    const { svg, layers } = trace(picture(400, 300, logo), { layers: true });
    expect(layers.map(({ id }) => id)).toEqual(["background", "circle-1", "triangle-1", "rectangle-1"]);
    expect(layers.map(({ name }) => name)).toEqual(["background", "circle", "triangle", "rectangle"]);
    for (const { id } of layers) expect(svg).toContain(`<g id="${id}">`);
  });

  test("without layers, groups go by depth", () => {
    const { layers } = trace(picture(400, 300, logo));
    expect(layers.map(({ id }) => id)).toEqual(["layer-0", "layer-1", "layer-2"]);
  });

  test("pixel art is exact on its own grid", () => {
    const small = noise(12, 9);
    const rgba = new Uint8Array(12 * 8 * 9 * 8 * 4);
    for (let y = 0, i = 0; y < 72; y++)
      for (let x = 0; x < 96; x++, i += 4)
        rgba.set(small.rgba.subarray(((y >> 3) * 12 + (x >> 3)) * 4).subarray(0, 4), i);
    const image = { width: 96, height: 72, rgba };
    const result = trace(image);
    expect(result.svg).toContain(`viewBox="0 0 12 9"`);
    expect(renderRaster(result.svg, 96, 72).rgba).toEqual(rgba);
  });

  test.each<[TraceOptions, string]>([
    [{ colors: 1 }, "colors"],
    [{ colors: 300 }, "colors"],
    [{ simplify: 2 }, "simplify"],
    [{ simplify: Number.NaN }, "simplify"],
    [{ palette: ["red"] }, "palette"],
    [{ palette: [] }, "palette"],
  ])("%j is refused by name", (options, field) => {
    expect(() => trace(image, options)).toThrow(new RegExp(`^${field}`));
  });
});

describe("limits", () => {
  test.each([
    [1, 1],
    [1, 50],
    [50, 1],
    [7, 3],
    [2, 2],
  ])("a picture of %d × %d pixels is traced, whatever the options", (width, height) => {
    for (const options of [
      {},
      { mode: "cutout" },
      { colors: 2 },
      { layers: true },
      { style: "pixel" },
    ] as TraceOptions[]) {
      const result = trace(noise(width, height), options);
      checkSvg(result.svg);
      expect(result).toMatchObject({ width, height });
    }
  });

  test("a picture of nothing at all is traced", () => {
    const result = trace({ width: 30, height: 20, rgba: new Uint8Array(2400) });
    checkSvg(result.svg);
    expect(result.paths).toBe(0);
  });

  test("pure noise at 2 megapixels: no more work to a pixel than at half of one, within the byte budget and using it", () => {
    const workOf = (image: ReturnType<typeof noise>) => {
      const before = process.cpuUsage();
      const result = trace(image);
      return { result, work: process.cpuUsage(before).user };
    };
    const { work: quarter } = workOf(noise(1000, 500));
    const { result, work } = workOf(noise(2000, 1000));
    expect(work).toBeLessThan(4 * quarter);
    expect(result.bytes).toBeLessThanOrEqual(500_000);
    expect(result.bytes).toBeGreaterThan(400_000);
    checkSvg(result.svg);
  });

  test("hq keeps to a megabyte, small to 200 kB", () => {
    const image = noise(500, 400);
    expect(trace(image, { preset: "hq" }).bytes).toBeLessThanOrEqual(1_000_000);
    expect(trace(image, { preset: "small" }).bytes).toBeLessThanOrEqual(200_000);
  });

  test("a byte budget is met closely from below", () => {
    const image = noise(400, 300);
    for (const bytesMax of [40_000, 150_000]) {
      const { bytes } = trace(image, { bytesMax });
      expect(bytes).toBeLessThanOrEqual(bytesMax);
      expect(bytes).toBeGreaterThan(bytesMax * 0.85);
    }
  });

  test("a deadline that has passed ends the trace", () => {
    expect(() => trace(noise(400, 300), {}, { deadlineMs: performance.now() })).toThrow(DeadlinePassedError);
  });

  test("a deadline that passes at any moment ends the trace, also while it is drawn", () => {
    const image = picture(200, 160, logo);
    let looks = 0;
    let passesAt = Number.POSITIVE_INFINITY;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (++looks > passesAt ? 1 : 0));
    try {
      const { paths } = trace(image, { layers: true }, { deadlineMs: 0 });
      const all = looks;
      // Before the merge, between the stages of the drawing, and at each element.
      expect(all).toBeGreaterThan(3 + paths);
      for (passesAt = 0; passesAt < all; passesAt++) {
        looks = 0;
        expect(() => trace(image, { layers: true }, { deadlineMs: 0 })).toThrow(DeadlinePassedError);
        expect(looks).toBe(passesAt + 1);
      }
    } finally {
      clock.mockRestore();
    }
  });

  test("what there is no time for is traced from fewer pixels, at its own size still", () => {
    const image = picture(900, 600, landscape);
    const hurried = traceInTime(image, {}, 0);
    expect(hurried).toEqual(trace(image, {}, { share: 1 / 16 }));
    expect(hurried.svg).not.toBe(trace(image).svg);
    expect(hurried).toMatchObject({ width: 900, height: 600 });
    checkSvg(hurried.svg);
    expect(scoreTrace(image, hurried).score).toBeGreaterThan(0.75);
    expect(traceInTime(image, {}, 60_000)).toEqual(trace(image));
  });
});

describe("what comes out is nothing but drawing", () => {
  test("counts are those of the text", () => {
    const result = trace(picture(400, 300, logo));
    expect(result.bytes).toBe(Buffer.byteLength(result.svg));
    expect(result.paths).toBe(result.svg.match(/<(path|circle|ellipse|rect|line|polyline|polygon)\b/g)!.length);
  });

  test.each([
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"><script>alert(1)</script></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"><path d="M0 0z" onload="x()"/></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"><path fill="url(http://x/#a)" d="M0 0z"/></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"><image href="http://x/a.png"/></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"><use href="#a"/></svg>`,
    `<!DOCTYPE svg><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"><g>text</g></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"><g></svg>`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 5 5"></svg><svg/>`,
    `<svg xmlns="http://www.w3.org/2000/svg" style="x" width="1" height="1" viewBox="0 0 5 5"></svg>`,
    "",
  ])("the last check refuses %s", (svg) => {
    expect(() => checkSvg(svg)).toThrow();
  });

  test("the last check passes every kind of trace", () => {
    for (const image of [picture(400, 300, logo), picture(600, 400, landscape), noise(60, 40)])
      for (const options of [{}, { mode: "cutout" }, { style: "pixel" }, { layers: true }] as TraceOptions[])
        checkSvg(trace(image, options).svg);
  });
});

test.each(["#000", "#fff"])("a star of faint hairlines in %s on nothing keeps its lines", (colour) => {
  const turn = (k: number) => (k * 11 * 2 * Math.PI) / 26;
  const corners = Array.from({ length: 26 }, (_, k) => `${50 + 38 * Math.cos(turn(k))} ${50 + 38 * Math.sin(turn(k))}`);
  const look = `fill="none" stroke="${colour}" stroke-width=".3" stroke-opacity=".35"`;
  const image = picture(100, 100, `<path d="M${corners.join("L")}z" ${look}/>`);
  expect(scoreTrace(image, trace(image)).ssim).toBeGreaterThan(0.85);
});
