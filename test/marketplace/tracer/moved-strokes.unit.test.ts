import { describe, expect, test } from "vitest";
import type { Element } from "../../../marketplace/tracer/drawing.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { elementsOf } from "../../bench/svg/structure.ts";
import { picture } from "./pictures.ts";

const round = `fill="none" stroke="#1f2937" stroke-width="5.33" stroke-linecap="round" stroke-linejoin="round"`;

const found = (body: string, width = 120, height = 100): Element[] =>
  elementsOf(trace(picture(width, height, `<rect width="100%" height="100%" fill="#fff"/>${body}`)).svg);

/** How many of the elements are strokes of the icon's width. */
const strokesOf = (elements: readonly Element[]) =>
  elements.filter(({ stroke }) => stroke && Math.abs(stroke.width - 5.33) < 0.35 && stroke.cap === "round").length;

describe("strokes whose middle cannot be measured everywhere lie where their edges are", () => {
  test.each([
    ["a corner as round as the line is wide", "M18 41V23.3A5.33 5.33 0 0 1 23.3 18H41", 1],
    ["a frame with such corners", "M23 18H77A5.33 5.33 0 0 1 82.3 23.3V60L50 80L18 60V23.3A5.33 5.33 0 0 1 23 18z", 1],
    ["a ring that a line touches", "M44 70A14 14 0 1 1 16 70A14 14 0 1 1 44 70M44 70V18", 1],
    ["lines that meet twice within two widths", "M20 20V80M20 46.5H33M33 20V80", 3],
    ["a line between two others that cross it", "M20 30H90M20 66H90M40 15V80M70 15V80", 4],
    ["a heart", "M50 80L22 52A16 16 0 1 1 50 34A16 16 0 1 1 78 52z", 1],
  ])("%s is strokes", (_name, d, count) => {
    const elements = found(`<path d="${d}" ${round}/>`);
    expect(elements, JSON.stringify(elements)).toHaveLength(count);
    expect(strokesOf(elements), JSON.stringify(elements)).toBe(count);
  });

  test("icons beside each other are no line of letters", () => {
    const bracket = (x: number) => `<path d="M${x} 62V28A8 8 0 0 1 ${x + 8} 20H${x + 34}" ${round}/>`;
    const elements = found([20, 74, 128, 182].map(bracket).join(""), 240, 90);
    expect(strokesOf(elements)).toBe(4);
  });

  test("nor are tall ones that stand as close as words", () => {
    const widths = [40, 28, 46, 32, 24, 36];
    const leftOf = (i: number) => 20 + widths.slice(0, i).reduce((sum, width) => sum + width + 24, 0);
    const icon = (width: number, i: number) =>
      `<path d="M${leftOf(i)} 76V28A8 8 0 0 1 ${leftOf(i) + 8} 20H${leftOf(i) + width}V${40 + 5 * i}" ${round}/>`;
    const elements = found(widths.map(icon).join(""), 400, 200);
    expect(strokesOf(elements), JSON.stringify(elements)).toBe(widths.length);
  });

  test("wide lines are strokes, though hardly anything of the picture is thin", () => {
    const open = "M8 8H136A16 16 0 0 1 152 24V136H8";
    const wide = [20, 200, 380].map(
      (x) => `<path transform="translate(${x} 20)" d="${open}" ${round.replace("5.33", "14")}/>`,
    );
    const elements = found(`${wide.join("")}<path d="M560 30H585" stroke="#1f2937"/>`, 600, 200);
    expect(elements.filter(({ stroke }) => stroke && Math.abs(stroke.width - 14) < 0.5)).toHaveLength(3);
  });

  test("a short line is a stroke where others are as wide", () => {
    const elements = found(`<path d="M15 80V15H105V80M60 48V61" ${round}/>`);
    expect(strokesOf(elements), JSON.stringify(elements)).toBe(2);
    expect(strokesOf(found(`<path d="M60 48V61" ${round}/>`))).toBe(0);
  });

  test("a filled head stays what it is, and its line a line", () => {
    const arrow = `<path d="M14 60L250 44" stroke="#1f2937" stroke-width="3"/><path d="M248 36L272 42.5L249 52z" fill="#1f2937"/>`;
    const elements = found(arrow, 300, 100);
    expect(elements.filter(({ stroke }) => stroke).map(({ shape }) => shape.kind)).toEqual(["line"]);
    expect(elements).toHaveLength(2);
  });
});

test("lines that cross all over a large picture are traced", () => {
  const lines = Array.from({ length: 90 }, (_, i) => `M${(i * 683) % 1600} 0L${(i * 397) % 1600} 1200`).join("");
  const image = picture(
    1600,
    1200,
    `<rect width="100%" height="100%" fill="#fff"/><path d="${lines}" stroke="#123" stroke-width="4"/>`,
  );
  expect(trace(image).bytes).toBeGreaterThan(1000);
});
