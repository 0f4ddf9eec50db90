import { describe, expect, test } from "vitest";
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
});
