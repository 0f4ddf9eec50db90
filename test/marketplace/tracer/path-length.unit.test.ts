import { describe, expect, test } from "vitest";
import { closedByLine } from "../../../marketplace/tracer/curves/closed-by-line.ts";
import { fitClosed } from "../../../marketplace/tracer/curves/fit-curve.ts";
import { Points } from "../../../marketplace/tracer/curves/points.ts";
import type { Fill, Shape } from "../../../marketplace/tracer/drawing.ts";
import { linearEnds } from "../../../marketplace/tracer/output/linear-ends.ts";
import { pathData } from "../../../marketplace/tracer/output/path-data.ts";
import { writeSvg } from "../../../marketplace/tracer/output/write-svg.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { readSvg } from "../../../marketplace/tracer/sanitize/read-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

describe("an outline is begun where it takes least to write", () => {
  const outline = { x: 0, y: 0, kinds: [1, 3, 1], points: [100, 37, 120, 60, 120, 80, 100, 90, 0, 0] };

  test("after its longest line, which closing draws", () => {
    const short = { ...outline, points: [...outline.points.slice(0, 8), 99, 91], kinds: [1, 3, 1, 3] };
    short.points.push(80, 60, 20, 40, 0, 0);
    const turned = closedByLine(short);
    expect(turned).toMatchObject({ x: 100, y: 37, kinds: [3, 1, 3, 1] });
    expect(turned.points.slice(-2)).toEqual([100, 37]);
    expect(pathData([turned], 1).length).toBeLessThan(pathData([short], 1).length);
  });

  test("and stays as it is where that line is its last, or there is none", () => {
    const last = { x: 0, y: 0, kinds: [3, 1], points: [0, 40, 60, 90, 100, 90, 0, 0] };
    expect(closedByLine(last)).toBe(last);
    const round = { x: 0, y: 0, kinds: [3, 3], points: [0, 40, 60, 90, 100, 90, 60, 40, 30, 20, 0, 0] };
    expect(closedByLine(round)).toBe(round);
  });
});

test("a small shape is drawn by lines, a large one by curves", () => {
  const blob = (radius: number) => {
    const points = new Points();
    const count = Math.round(2 * Math.PI * radius);
    for (let i = 0; i < count; i++) {
      const angle = (i / count) * 2 * Math.PI;
      const r = radius * (1 + 0.1 * Math.cos(3 * angle));
      points.add(r * Math.cos(angle), r * Math.sin(angle), 0.25);
    }
    return fitClosed(points).kinds;
  };
  expect(blob(3)).toContain(1);
  expect(blob(60)).not.toContain(1);
});

test("a side from corner to corner is one line, though its points are scattered by more than curves may miss", () => {
  const points = new Points();
  const side = (x: number, y: number, dx: number, dy: number) => {
    points.add(x, y, 0.1, 1);
    for (let i = 1; i < 20; i++)
      points.add(x + dx * i + (i % 2 ? 0.12 * dy : 0), y + dy * i + (i % 2 ? 0.12 * dx : 0), 0.1);
  };
  side(0, 0, 1, 0);
  side(20, 0, 0, 1);
  side(20, 20, -1, 0);
  side(0, 20, 0, -1);
  expect(fitClosed(points).kinds).toEqual([1, 1, 1, 1]);
});

test("an edge of much contrast is followed more closely than one of a third of it", () => {
  const blob = (level: number) => `<rect width="200" height="200" fill="#fff"/>
    <path fill="rgb(${level},${level},${level})" d="M30 90q30 -80 60 -20t80 10t-20 60t-60 20t-60 -70z"/>`;
  /** The area between the edge that was drawn and the one that was traced, px². */
  const missed = (level: number) => {
    const enlarged = picture(1600, 1600, `<g transform="scale(8)">${blob(level)}</g>`).rgba;
    const traced = renderRaster(trace(picture(200, 200, blob(level))).svg, 1600, 1600).rgba;
    return enlarged.reduce((sum, value, i) => sum + Math.abs(value - traced[i]!), 0) / (3 * (255 - level) * 64);
  };
  const [much, little] = [missed(0), missed(168)];
  expect(much).toBeLessThan(0.97 * little);
  expect(little).toBeLessThan(40);
});

test("lines on a round edge lie to either side of it, not all within", () => {
  const radius = 4;
  const points = new Points();
  for (let i = 0; i < 24; i++)
    points.add(radius * Math.cos((i / 24) * 2 * Math.PI), radius * Math.sin((i / 24) * 2 * Math.PI), 0.4);
  const outline = fitClosed(points);
  const joints = outline.kinds.map((_, k) => Math.hypot(outline.points[2 * k]!, outline.points[2 * k + 1]!) - radius);
  expect(outline.kinds.every((kind) => kind === 1)).toBe(true);
  expect(joints.filter((off) => off > 0.05).length).toBeGreaterThan(outline.kinds.length / 2);
  expect(Math.max(...joints)).toBeLessThan(0.4);
});

describe("a linear gradient is written in as few characters as draw it", () => {
  const stops = [
    { offset: 0, colour: { r: 20, g: 40, b: 90, opacity: 1 } },
    { offset: 1, colour: { r: 200, g: 220, b: 240, opacity: 1 } },
  ];
  const down: Extract<Fill, { kind: "linear" }> = { kind: "linear", x1: 137, y1: 20, x2: 137, y2: 120, stops };
  const rect: Shape = { kind: "rect", x: 30, y: 20, width: 160, height: 100 };

  test("in shares of its shape's box", () => {
    expect(linearEnds(down, rect, 4)).toBe(' x2="0" y2="1"');
    expect(linearEnds({ ...down, x1: 30, y1: 9, x2: 190, y2: 9 }, rect, 4)).toBe("");
  });

  test("in the file's units where viewers do not agree on the box", () => {
    const points = [30, -60, 190, -60, 190, 120];
    const bowed: Shape = { kind: "path", outlines: [{ x: 30, y: 120, kinds: [3], points }] };
    expect(linearEnds(down, bowed, 4)).toBe(' gradientUnits="userSpaceOnUse" y1="80" x2="0" y2="480"');
  });

  test("and looks as it did, also when it is read again", () => {
    const ends = { x1: 40, y1: 30, x2: 150, y2: 90 };
    const drawing = (fill: Fill, grid: number) => ({
      ...{ width: 200, height: 140, spanX: 200, spanY: 140, grid, oneWay: true, crisp: false },
      groups: [{ id: null, elements: [{ fill, shape: rect }] }],
    });
    const svg = writeSvg(drawing({ ...down, ...ends }, 4));
    const plain = svg.replace(/<linearGradient id="g0"[^>]*>/, (tag) => {
      expect(tag).not.toContain("gradientUnits");
      return '<linearGradient id="g0" gradientUnits="userSpaceOnUse" x1="160" y1="120" x2="600" y2="360">';
    });
    const [short, long] = [svg, plain].map((text) => renderRaster(text, 200, 140).rgba);
    expect(Math.max(...short!.map((level, i) => Math.abs(level - long![i]!)))).toBeLessThanOrEqual(2);
    const read = readSvg(svg);
    expect(writeSvg(read)).toBe(svg);
    const again = read.groups[0]!.elements[0]!.fill as typeof down;
    const ramp = ({ x1, y1, x2, y2 }: typeof ends) => {
      const square = (x2 - x1) ** 2 + (y2 - y1) ** 2;
      return [(x2 - x1) / square, (y2 - y1) / square];
    };
    const inPx = { x1: again.x1 / 4, y1: again.y1 / 4, x2: again.x2 / 4, y2: again.y2 / 4 };
    for (const [i, slope] of ramp(inPx).entries()) expect(slope).toBeCloseTo(ramp(ends)[i]!, 4);
  });
});
