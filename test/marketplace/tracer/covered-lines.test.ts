import { describe, expect, test } from "vitest";
import type { Element } from "../../../marketplace/tracer/drawing.ts";
import { renderAndScore } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { elementsOf } from "../../bench/svg/structure.ts";
import { picture } from "./pictures.ts";

const width = 400;
const height = 300;

const drawn = (body: string) => picture(width, height, `<rect width="100%" height="100%" fill="#fff"/>${body}`);

const kindsOf = (elements: readonly Element[]): string[] => elements.map(({ shape }) => shape.kind).sort();

/** What comes of a drawing, and that it looks as it did. */
function found(body: string): Element[] {
  const source = drawn(body);
  const result = trace(source);
  expect(renderAndScore(source, result).likeness.score).toBeGreaterThan(0.985);
  return elementsOf(result.svg);
}

/** Of a path that is one arc: its radius, px. */
const arcRadius = (body: string) => Number(/a(\d+) /.exec(trace(drawn(body)).svg)?.[1]) / 4;

describe("a line is one, however it lies and whatever lies over it", () => {
  test.each([3, 5, 8, 12, 20, 45, 70, 85])("at %i degrees", (degrees) => {
    const [dx, dy] = [120 * Math.cos((degrees * Math.PI) / 180), 120 * Math.sin((degrees * Math.PI) / 180)];
    const [line, ...more] = found(
      `<path d="M${200 - dx} ${150 - dy}L${200 + dx} ${150 + dy}" stroke="#123" stroke-width="4"/>`,
    );
    expect(more).toHaveLength(0);
    expect(line!.shape.kind).toBe("line");
    expect(Math.abs(line!.stroke!.width - 4)).toBeLessThan(0.2);
  });

  const arc = `<path d="M60 250A80 80 0 0 1 220 250" fill="none" stroke="#123" stroke-width="4"/>`;

  test.each([
    ["a disc", `<circle cx="140" cy="170" r="25" fill="#fb3"/>`, "circle"],
    ["an ellipse", `<ellipse cx="120" cy="180" rx="50" ry="25" fill="#fb3"/>`, "ellipse"],
    ["a rectangle", `<rect x="110" y="150" width="50" height="50" fill="#fb3"/>`, "rect"],
    ["one with round corners", `<rect x="110" y="150" width="60" height="40" rx="10" fill="#fb3"/>`, "rect"],
  ])("an arc beneath %s: both are what they were", (_name, over, kind) => {
    const elements = found(arc + over);
    expect(elements.filter(({ stroke }) => stroke).map(({ shape }) => shape.kind)).toContain("path");
    expect(elements.filter(({ stroke }) => !stroke).map(({ shape }) => shape.kind)).toEqual([kind]);
  });

  test("an arc beneath a disc is one arc of its circle", () => {
    const body = `${arc}<circle cx="140" cy="170" r="25" fill="#fb3"/>`;
    expect(found(body)).toHaveLength(2);
    expect(Math.abs(arcRadius(body) - 80)).toBeLessThan(0.6);
  });

  test("a circle that a line of dashes crosses is a circle", () => {
    const circle = `<circle cx="150" cy="150" r="40" fill="none" stroke="#222" stroke-width="2"/>`;
    const axis = `<path d="M90 150.5H260" stroke="#c03030" stroke-dasharray="12 4"/>`;
    expect(found(circle + axis).filter(({ shape }) => shape.kind === "circle")).toHaveLength(1);
  });

  test("a cross within a frame stays where it is", () => {
    const frame = `<path d="M150 60L230 140L150 220L70 140z" fill="none" stroke="#1f2937" stroke-width="5" stroke-linejoin="round"/>`;
    const cross = `<path d="M150 110V170M120 140H180" stroke="#1f2937" stroke-width="5" stroke-linecap="round"/>`;
    const lines = found(frame + cross).filter(({ shape }) => shape.kind === "line");
    expect(lines).toHaveLength(2);
  });

  test("a wide line with round bends is lines and arcs", () => {
    const bend = `<path d="M60 220V110A14 14 0 0 1 74 96H200A14 14 0 0 1 214 110V180" fill="none" stroke="#1f2937" stroke-width="5"/>`;
    const [line, ...more] = found(bend);
    expect(more).toHaveLength(0);
    const kinds = line!.shape.kind === "path" ? line!.shape.outlines.flatMap((outline) => outline.kinds) : [];
    expect(kinds).toEqual([1, 2, 1, 2, 1]);
  });

  test("bars that a curve crosses, on an axis, are rectangles", () => {
    const bars = [60, 130, 200, 270].map(
      (x, i) => `<rect x="${x}" y="${100 + i * 25}" width="40" height="${160 - i * 25}" fill="#2f6fde"/>`,
    );
    const curve = `<path d="M40 160L110 90L190 190L280 150L340 220" fill="none" stroke="#222" stroke-width="3"/>`;
    const axis = `<path d="M30 260.5H370" stroke="#333a45"/>`;
    const kinds = kindsOf(found(bars.join("") + axis + curve));
    expect(kinds.filter((kind) => kind === "rect")).toHaveLength(4);
    expect(kinds.filter((kind) => kind === "polyline")).toHaveLength(1);
  });
});

describe("curves of a chart", () => {
  const days = [50, 110, 170, 230, 290, 350];
  const values = [200, 150, 170, 90, 110, 60];
  const curve = (look: string) =>
    `<path d="M${days.map((x, i) => `${x} ${values[i]}`).join("L")}" fill="none" ${look}/>`;
  const marks = (r: number, look: string) =>
    days.map((x, i) => `<circle cx="${x}" cy="${values[i]}" r="${r}" ${look}/>`).join("");

  test.each([
    ["of its colour", curve(`stroke="#2f6fde" stroke-width="2.5"`) + marks(5, `fill="#2f6fde"`)],
    ["small ones", curve(`stroke="#d0342c" stroke-width="1.5"`) + marks(3.5, `fill="#d0342c"`)],
    ["of another", curve(`stroke="#222" stroke-width="3"`) + marks(5, `fill="#f5b942"`)],
    [
      "open ones",
      curve(`stroke="#c2185b" stroke-width="2"`) + marks(6, `fill="#fff" stroke="#c2185b" stroke-width="2"`),
    ],
  ])("with markers, %s, are a polyline through the middles of circles", (_name, body) => {
    const elements = found(body);
    expect(kindsOf(elements)).toEqual([...days.map(() => "circle"), "polyline"]);
    const { shape } = elements.find((element) => element.shape.kind === "polyline")!;
    const points = (shape as { points: readonly number[] }).points;
    expect(points).toHaveLength(2 * days.length);
    const forth = points[0]! < points[points.length - 2]!;
    days.forEach((x, i) => {
      const at = 2 * (forth ? i : days.length - 1 - i);
      expect(Math.hypot(points[at]! - x, points[at + 1]! - values[i]!)).toBeLessThan(1.2);
    });
  });

  test("that turn a little stay polylines", () => {
    const slight = `<path d="M40 100L140 80L240 72L340 76" fill="none" stroke="#0b3d91" stroke-width="2"/>`;
    const [line, ...more] = found(slight);
    expect(more).toHaveLength(0);
    expect(line!.shape.kind).toBe("polyline");
    expect((line!.shape as { points: readonly number[] }).points).toHaveLength(8);
  });

  test("and a bent one is no polyline", () => {
    const bent = `<path d="M40 200C120 60 240 60 340 180" fill="none" stroke="#0b3d91" stroke-width="2"/>`;
    expect(kindsOf(found(bent))).toEqual(["path"]);
  });

  test("edges of a graph end in the middles of its nodes, and are lines of their own", () => {
    const edges = `<path d="M80 80L300 110M300 110L180 240M180 240L80 80" stroke="#64748b" stroke-width="2.5"/>`;
    const nodes = [
      [80, 80, "#0fa3a3"],
      [300, 110, "#d0342c"],
      [180, 240, "#7b3fbf"],
    ].map(([x, y, fill]) => `<circle cx="${x}" cy="${y}" r="18" fill="${fill}"/>`);
    const elements = found(edges + nodes.join(""));
    expect(kindsOf(elements)).toEqual(["circle", "circle", "circle", "line", "line", "line"]);
    for (const { shape } of elements) {
      if (shape.kind !== "line") continue;
      const near = (x: number, y: number) =>
        Math.min(Math.hypot(x - 80, y - 80), Math.hypot(x - 300, y - 110), Math.hypot(x - 180, y - 240));
      expect(Math.max(near(shape.x1, shape.y1), near(shape.x2, shape.y2))).toBeLessThan(1.5);
    }
  });
});

describe("boxes and arrows", () => {
  test.each([
    ["#dfe7fd", "#333a45", 1, 4],
    ["#f5b942", "#0b3d91", 1, 10],
    ["#f7c9c9", "#888888", 1.5, 10],
    ["#bde0c4", "#333a45", 2, 16],
    ["#2f6fde", "#0b3d91", 1, 4],
  ])("a box of %s with a border of %s, %f px wide, and corners of %i px is one rectangle", (fill, stroke, wide, rx) => {
    const off = wide === 2 ? 0 : wide / 2;
    const [box, ...more] = found(
      `<rect x="${60 + off}" y="${50 + off}" width="160" height="90" rx="${rx}" fill="${fill}" stroke="${stroke}" stroke-width="${wide}"/>`,
    );
    expect(more).toHaveLength(0);
    expect(box!.shape.kind).toBe("rect");
    expect(box!.fill.kind).toBe("flat");
    expect(Math.abs(box!.stroke!.width - wide)).toBeLessThan(0.3);
  });

  test("an arrow is a line and a triangle", () => {
    const arrow = `<path d="M60 90L250 150" stroke="#333a45" stroke-width="2"/><path d="M266 155L248.4 155.7L252 144.2z" fill="#333a45"/>`;
    const elements = found(arrow);
    expect(elements).toHaveLength(2);
    expect(kindsOf(elements)).toContain("line");
    const head = elements.flatMap(({ shape }) => (shape.kind === "path" ? shape.outlines : []));
    expect(head).toHaveLength(1);
    expect(head[0]!.kinds.every((kind) => kind === 1)).toBe(true);
    expect(head[0]!.kinds.length).toBeLessThanOrEqual(4);
  });

  test.each([-4, -2, 0, 2, 4])("an arc of 180 %i degrees stays where it was", (more) => {
    const on = (degrees: number) => {
      const angle = (degrees * Math.PI) / 180;
      return `${200 + 103.3 * Math.cos(angle)} ${170 + 103.3 * Math.sin(angle)}`;
    };
    const half = 90 + more / 2;
    const body = `<path d="M${on(-90 - half)}A103.3 103.3 0 ${more > 0 ? 1 : 0} 1 ${on(half - 90)}" fill="none" stroke="#222" stroke-width="4"/>`;
    expect(found(body)).toHaveLength(1);
  });
});
