import { describe, expect, test } from "vitest";
import { contours } from "../../../marketplace/tracer/curves/contours.ts";
import { type Letter, lettersOf } from "../../../marketplace/tracer/objects/letters.ts";
import { shapesOf } from "../../../marketplace/tracer/objects/shapes-of-areas.ts";
import { joinLines } from "../../../marketplace/tracer/objects/text-lines.ts";
import { findTextRuns } from "../../../marketplace/tracer/objects/text-runs.ts";
import { components } from "../../../marketplace/tracer/regions/components.ts";
import { readSvg } from "../../../marketplace/tracer/sanitize/read-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { characters } from "../../bench/svg/layered/characters.ts";
import type { LayeredDrawing } from "../../bench/svg/layered/drawing.ts";
import { groupsAlike } from "../../bench/svg/layered/grouping.ts";
import { pages } from "../../bench/svg/layered/pages.ts";
import { word } from "../../bench/svg/layered/stroke-letters.ts";
import { things } from "../../bench/svg/layered/things.ts";
import { picture } from "./pictures.ts";

/** Some of what `npm run bench svg-layers` measures. */
test.each<[string, LayeredDrawing]>([
  ["a fox: body, tail and book are three", characters["reading fox"]!],
  ["a robot with arms and legs", characters.robot!],
  ["an apple, leaf and worm in one contour", things.outlined!],
  ["sectors, and a legend with its text", pages["pie chart"]!],
])("%s: groups are those it was drawn in", (_name, drawing) => {
  const alike = groupsAlike(drawing, (image) => trace(image, { layers: true }).svg);
  expect(alike.all).toBeGreaterThan(0.95);
  expect(alike.objects).toBeGreaterThan(0.9);
});

test("gaps through which the background is seen are no objects, and nothing is drawn for them", () => {
  const ring = `<rect width="200" height="160" fill="#fff"/><path d="M40 20h120v120h-120zM70 50v60h60v-60z" fill="#36c"/>`;
  const { layers, paths } = trace(picture(200, 160, ring), { layers: true });
  expect(layers.map(({ id }) => id)).toEqual(["background", "object-1"]);
  expect(paths).toBe(2);
});

describe("text", () => {
  const ground = `<rect width="320" height="120" fill="#f4f4f4"/>`;
  const image = picture(
    320,
    120,
    `${ground}<circle cx="40" cy="50" r="24" fill="#c33"/>${word("ROAD BED", 90, 64, 26, "#222", 4)}`,
  );

  test.each([false, true])("a line of letters is a group, each letter with its holes (objects: %s)", (layers) => {
    const { svg, layers: groups } = trace(image, { layers });
    const text = groups.filter(({ name }) => name === "text");
    expect(text).toMatchObject([{ id: "text-1", fill: expect.arrayContaining(["#222"]) }]);
    const group = readSvg(svg).groups.find(({ id }) => id === "text-1")!;
    const ink = group.elements.filter(({ fill }) => fill.kind === "flat" && fill.colour.r === 0x22);
    const outlines = ink.flatMap(({ shape }) => (shape.kind === "path" ? shape.outlines : []));
    // Seven letters; B has two holes, R, O, A, D and D one each.
    expect(outlines).toHaveLength(7 + 2 + 5);
  });

  test.each<[string, string]>([
    ["bars", [40, 70, 55, 90, 30].map((h, i) => `<path d="M${60 + i * 30} 110v-${h}h18v${h}z" fill="#222"/>`).join("")],
    ["dots", [0, 1, 2, 3, 4].map((i) => `<circle cx="${60 + i * 30}" cy="60" r="9" fill="#222"/>`).join("")],
    [
      "stripes that touch",
      [0, 1, 2, 3].map((i) => `<path d="M${60 + i * 20} ${20 + i * 3}h20v80h-20z" fill="#${i}${i}8"/>`).join(""),
    ],
  ])("%s are none", (_name, body) => {
    const { layers } = trace(picture(320, 120, ground + body));
    expect(layers.filter(({ name }) => name === "text")).toEqual([]);
  });

  test("words that are far from each other are each a run with its dots; twice as many are not looked at four times as often", () => {
    const looks = [500, 1000].map((count) => {
      const { map, chain, shapes } = pairsOfLetters(count);
      const boxes = counted(shapes.boxes);
      const runOf = findTextRuns(map, chain, { ...shapes, boxes: boxes.seen })!.filter((run) => run >= 0);
      expect([new Set(runOf).size, runOf.length]).toEqual([count, 3 * count]);

      const letters = lettersOf(map, chain, shapes).map((letter) => counted(letter));
      const pairs = Array.from({ length: count }, () => [] as Letter[]);
      for (const { seen } of letters) pairs[pairAt(seen)]!.push(seen);
      const before = letters.reduce((sum, { reads }) => sum + reads(), 0);
      expect(joinLines(pairs, map.height, shapes)).toHaveLength(count);
      return { boxes: boxes.reads(), letters: letters.reduce((sum, { reads }) => sum + reads(), 0) - before };
    });
    for (const of of ["boxes", "letters"] as const) expect(looks[1]![of] / looks[0]![of]).toBeLessThan(2.7);
  });
});

/** The number of the word a letter is of. */
function pairAt({ left, top }: Letter): number {
  return Math.floor((top - 6) / 13) * 25 + Math.floor((left - 6) / 36);
}

/** Something, and how often what it consists of was read. */
function counted<T extends object>(thing: T): { seen: T; reads: () => number } {
  let reads = 0;
  const seen = new Proxy(thing, {
    get: (target, name) => {
      reads++;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { seen, reads: () => reads };
}

/** Words of an L with a dot above it and a T, 8 px high, two and a half heights apart, as areas of one ground. */
function pairsOfLetters(count: number) {
  const across = 25;
  const [width, height] = [across * 36 + 10, (count / across) * 13 + 10];
  const labels = new Int32Array(width * height);
  const fill = (label: number, x: number, y: number, wide: number, high: number) => {
    for (let row = y; row < y + high; row++) labels.fill(label, row * width + x, row * width + x + wide);
  };
  for (let i = 0; i < count; i++) {
    const [x, y] = [6 + (i % across) * 36, 6 + Math.floor(i / across) * 13];
    fill(1, x + 2, y - 3, 2, 2);
    fill(1, x, y, 2, 8);
    fill(1, x, y + 6, 5, 2);
    fill(2, x + 7, y, 6, 2);
    fill(2, x + 9, y, 2, 8);
  }
  const map = components(labels, width, height, 3);
  const chain = contours(map);
  const clean = new Uint8Array(labels.length * 4).fill(255);
  for (const [p, label] of labels.entries()) if (label > 0) clean.fill(0, p * 4, p * 4 + 3);
  return { map, chain, shapes: shapesOf(map, chain, clean) };
}
