import { describe, expect, test } from "vitest";
import type { Element } from "../../../marketplace/tracer/drawing.ts";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { renderAndScore, renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { writePdf } from "../../../marketplace/tracer/pool/write-pdf.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { type KnownDrawing, knownDrawings } from "../../bench/svg/known-drawings.ts";
import { compare, elementsOf, rendered } from "../../bench/svg/structure.ts";
import { lettering, picture } from "./pictures.ts";

const onWhite = (width: number, height: number, body: string) =>
  picture(width, height, `<rect width="100%" height="100%" fill="#fff"/>${body}`);

const likenessOf = (source: Raster): number => renderAndScore(source, trace(source)).likeness.score;

const found = (body: string, width = 120, height = 90): Element[] =>
  elementsOf(trace(onWhite(width, height, body)).svg);

describe("drawings come back as the elements they were drawn with", () => {
  test.each(Object.entries(knownDrawings))("%s: as many, ± 10 %, and most of them what they were", (_name, drawing) => {
    const { svg } = trace(rendered(drawing));
    checkSvg(svg);
    const { known, found, kept, missed } = compare(drawing.elements, elementsOf(svg));
    expect(Math.abs(found - known) / known, missed.join("\n")).toBeLessThanOrEqual(0.1);
    expect(kept / known, missed.join("\n")).toBeGreaterThanOrEqual(0.75);
  });

  test("and look as before when they are drawn anew", () => {
    const { width, height } = knownDrawings.icons as KnownDrawing;
    const source = rendered(knownDrawings.icons as KnownDrawing).rgba;
    const { rgba } = renderRaster(trace(rendered(knownDrawings.icons as KnownDrawing)).svg, width, height);
    let squares = 0;
    for (let i = 0; i < rgba.length; i++) squares += (rgba[i]! - source[i]!) ** 2;
    expect(10 * Math.log10((255 ** 2 * rgba.length) / squares)).toBeGreaterThan(32);
  });
});

describe("strokes", () => {
  test.each([0.8, 1, 1.5, 2.5, 5])(
    "a slanted line %d px wide is a line with that width, to a fifth of a pixel",
    (width) => {
      const [{ shape, stroke } = { shape: undefined, stroke: undefined }, ...more] = found(
        `<path d="M10.3 14.2L108.6 71.9" stroke="#036" stroke-width="${width}"/>`,
      );
      expect(more).toHaveLength(0);
      expect(shape?.kind).toBe("line");
      expect(Math.abs((stroke?.width ?? 0) - width)).toBeLessThan(0.2);
    },
  );

  test("where lines cross each is whole", () => {
    const lines = found(`<path d="M10 12L110 78M14 80L104 10" stroke="#222" stroke-width="3"/>`);
    expect(lines.map(({ shape }) => shape.kind)).toEqual(["line", "line"]);
  });

  test("an arc is an arc, in a path that ends where it ended", () => {
    const { svg } = trace(
      picture(
        120,
        90,
        `<rect width="120" height="90" fill="#fff"/><path d="M20 70A40 40 0 0 1 100 70" fill="none" stroke="#a20" stroke-width="3"/>`,
      ),
    );
    const [, r, dx, dy] = /d="M[\d ]+a(\d+) \d+ 0 [01] [01] ?(-?\d+) ?(-?\d+)"/.exec(svg)!.map(Number);
    expect(Math.abs(r! / 4 - 40)).toBeLessThan(0.6);
    expect(Math.abs(Math.abs(dx! / 4) - 80)).toBeLessThan(0.8);
    expect(Math.abs(dy! / 4)).toBeLessThan(0.8);
  });

  test.each([
    [40, 20, 5],
    [70, 22, 3],
  ])("a ring of radius %d that is nearly closed stays in its place", (r, gap, width) => {
    const middle = r + 30.3;
    const on = (degrees: number) => {
      const angle = (degrees * Math.PI) / 180;
      return `${middle + r * Math.cos(angle)} ${middle + r * Math.sin(angle)}`;
    };
    const [start, end] = [on(gap / 2 - 73), on(287 - gap / 2)];
    const ring = `<path d="M${start}A${r} ${r} 0 1 1 ${end}" fill="none" stroke="#06c" stroke-width="${width}"/>`;
    expect(likenessOf(onWhite(2 * r + 60, 2 * r + 60, ring))).toBeGreaterThan(0.955);
  });

  test("a frame and what fills it are one element", () => {
    const [frame, ...more] = found(
      `<rect x="20.5" y="15.5" width="80" height="50" rx="8" fill="#fc6" stroke="#420" stroke-width="2"/>`,
    );
    expect(more).toHaveLength(0);
    expect(frame).toMatchObject({
      fill: { kind: "flat" },
      shape: { kind: "rect" },
      stroke: { cap: expect.any(String) },
    });
    expect(Math.abs((frame!.shape as { rx: number }).rx - 8)).toBeLessThan(0.6);
  });

  test("dashes are one line", () => {
    const [line, ...more] = found(
      `<path d="M10 20L106.6 68.3" stroke="#222" stroke-width="2" stroke-dasharray="8 4"/>`,
    );
    expect(more).toHaveLength(0);
    expect(line!.stroke!.dashes!.map(Math.round)).toEqual([8, 4]);
  });

  test("dashes of a line that bends, round a circle too, are one line", () => {
    for (const shape of [`<path d="M8 100C40 -20 100 -10 116 90"/>`, `<circle cx="60" cy="60" r="44"/>`]) {
      const [line, ...more] = found(
        `<g fill="none" stroke="#222" stroke-width="3" stroke-dasharray="9 5">${shape}</g>`,
        120,
        120,
      );
      expect(more).toHaveLength(0);
      expect(line!.stroke!.width).toBeCloseTo(3, 0);
      expect(line!.stroke!.dashes!.map(Math.round)).toEqual([9, 5]);
    }
  });

  test("what the picture's edge cuts off has no number missing", () => {
    const angle = `<path d="M137.8 152L139 134.9L75.3 90.7" fill="none" stroke="#000" stroke-width="5.6"/>`;
    const source = onWhite(120, 120, angle);
    const drawn = trace(source, { style: "lineart" });
    checkSvg(drawn.svg);
    expect(renderAndScore(source, drawn).likeness.score).toBeGreaterThan(0.97);
  });

  test("a dash cut short at the end of a line changes nothing of the others", () => {
    const line = `<path d="M20 40.4H221" stroke="#222" stroke-width="5.7" stroke-dasharray="18 9"/>`;
    const [{ stroke } = { stroke: undefined }, ...more] = found(line, 240, 80);
    expect(more).toHaveLength(0);
    expect(stroke!.dashes!.map(Math.round)).toEqual([18, 9]);
  });

  test("a line of dashes that others cross keeps their distance", () => {
    expect(likenessOf(rendered(knownDrawings.technical!))).toBeGreaterThan(0.98);
  });

  test("a dash is added only where something hides one", () => {
    const bars = [20.3, 40.3, 60.3, 80.3, 120.3, 140.3, 160.3, 180.3];
    const dashes = bars.map((x) => `<rect x="${x}" y="58" width="12" height="4" fill="#06c"/>`).join("");
    expect(likenessOf(onWhite(220, 120, dashes))).toBeGreaterThan(0.98);
    const beneath = found(`${dashes}<circle cx="106.3" cy="60" r="9" fill="#fc0"/>`, 220, 120);
    expect(beneath.map(({ shape }) => shape.kind)).toEqual(["line", "circle"]);
  });

  test("what is seen of the ground between two things that others cross is no line of dashes", () => {
    const posts = Array.from({ length: 6 }, (_, i) => {
      return `<rect x="${25 + i * 45}" y="70" width="8" height="20" fill="${i % 2 ? "#b0b0b0" : "#000"}"/>`;
    });
    const body = `<path d="M20 60L290 62V76H20z" fill="#b0b0b0"/><path d="M20 80H290V96L20 90z"/>${posts.join("")}
      <path d="M20 20H250M20 30H250" stroke="#06c" stroke-width="3"/>`;
    expect(likenessOf(onWhite(310, 110, body))).toBeGreaterThan(0.99);
  });

  test("dots between dashes are kept", () => {
    const line = `<path d="M20 40L280 20" stroke="#000" stroke-width="4" stroke-dasharray="16 6 4 6"/>`;
    const source = onWhite(300, 60, line);
    expect(likenessOf(source)).toBeGreaterThan(0.92);
    const { rgba } = renderRaster(trace(source).svg, 300, 60);
    // Each dot of 4 px has its middle 24 px after a dash's beginning.
    const dots = Array.from({ length: 8 }, (_, i) => (24 + 32 * i) / Math.hypot(260, 20));
    const darkness = dots.map((share) => {
      const [x, y] = [Math.floor(20 + 260 * share), Math.floor(40 - 20 * share)];
      return rgba[4 * (y * 300 + x)]!;
    });
    expect(Math.max(...darkness)).toBeLessThan(64);
  });

  test("a framed shape keeps its fill where a line of that colour meets it on both sides", () => {
    const body = `<path d="M201.1 70.5L127.2 168.7L137.2 186.5" fill="none" stroke="#000" stroke-width="5.8"/>
      <path d="M225.7 144L116.1 149L210.8 129.3" fill="none" stroke="#fc0" stroke-width="2.3"/>
      <rect x="100" y="120" width="104" height="32" fill="#000" stroke="#555" stroke-width="2"/>
      <path d="M64.3 98.3L207.3 107.5L34.4 101.6" fill="none" stroke="#2a2" stroke-width="2.7"/>
      <circle cx="80" cy="100" r="2.26" fill="#2a2"/>`;
    expect(likenessOf(onWhite(240, 240, body))).toBeGreaterThan(0.99);
  });

  test("a line does not take the tone of a piece that lies along another ground", () => {
    const body = `<rect width="300" height="90" fill="#f0c800"/>
      <g fill="none" stroke="#000" stroke-width="2"><path d="M30 20L150 26L170 50L40 66M150 26V90"/>
      <path d="M150 90H380" stroke="#6b5500"/><path d="M20 95H380M20 110H380" stroke-width="3"/></g>`;
    expect(likenessOf(onWhite(400, 120, body))).toBeGreaterThan(0.99);
  });

  test("touching thin pieces of many tones and widths, which are no lines, keep their tones", () => {
    let seed = 11;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const tones = ["#302820", "#605040", "#806c58", "#48392c"];
    const pieces = Array.from({ length: 9 }, (_, i) => {
      let [x, y] = [10 + 42 * i, 10 + random() * 20];
      return Array.from({ length: 5 }, () => {
        const [fromX, fromY] = [x, y];
        [x, y] = [x + (random() - 0.4) * 30, y + 6 + random() * 8];
        const tone = tones[Math.floor(random() * 4)];
        return `<path d="M${fromX} ${fromY}L${x} ${y}" stroke="${tone}" stroke-width="${1.6 + random() * 3}"/>`;
      }).join("");
    });
    const body = `<rect width="400" height="120" fill="#c8b8a0"/>${pieces.join("")}
      <path d="M20 95H380M20 110H380" stroke="#06c" stroke-width="3"/>`;
    expect(likenessOf(onWhite(400, 120, body))).toBeGreaterThan(0.98);
  });

  const rail = (colour: string) => `<path d="M20 60H280" stroke="${colour}" stroke-width="4"/>`;
  const cards = [20, 170].map((x) => `<rect x="${x}" y="10" width="110" height="100" fill="#333"/>`).join("");
  test.each([
    [
      "over a box of the ground's colour",
      `${rail("#2a2")}<rect x="110" y="40" width="80" height="40" fill="#fff" stroke="#555" stroke-width="2.5"/>`,
    ],
    [
      "over what is drawn before all it lies on",
      `<rect x="60" y="40" width="21" height="50" fill="#c22"/>${rail("#fc0")}<circle cx="150" cy="60" r="29"/>`,
    ],
    ["from one card to the next", `${cards}<path d="M20 60H130M170 60H280" stroke="#999" stroke-width="3"/>`],
  ])("a line goes on beneath what hides it, never %s", (_where, body) => {
    expect(likenessOf(onWhite(300, 120, body))).toBeGreaterThan(0.98);
  });

  test("letters keep their outlines", () => {
    const { svg } = trace(picture(240, 90, lettering("#123", "#fff")));
    expect(svg).not.toContain("stroke=");
  });

  test("in a PDF they are stroked", () => {
    const { drawing } = trace(rendered(knownDrawings.icons as KnownDrawing));
    expect(writePdf(drawing).length).toBeGreaterThan(500);
    for (const { elements } of drawing.groups) for (const { shape } of elements) expect(shape.kind).toMatch(/^[a-z]+$/);
  });
});
