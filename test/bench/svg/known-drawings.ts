import type { Colour, Element, Shape, Stroke } from "../../../marketplace/tracer/drawing.ts";
import { withRoundCorners } from "../../../marketplace/tracer/lines/round-corners.ts";

/** A drawing whose elements are known, on white. */
export interface KnownDrawing {
  readonly width: number;
  readonly height: number;
  readonly elements: readonly Element[];
}

function colour(text: string): Colour {
  const value = Number.parseInt(text.slice(1), 16);
  return { r: value >> 16, g: (value >> 8) & 255, b: value & 255, opacity: 1 };
}

interface Look {
  readonly fill?: string;
  readonly stroke?: string;
  readonly width?: number;
  readonly cap?: Stroke["cap"];
  readonly dashes?: readonly number[];
}

function drawn(shape: Shape, { fill, stroke, width = 1, cap = "butt", dashes }: Look): Element {
  return {
    shape,
    fill: fill ? { kind: "flat", colour: colour(fill) } : { kind: "none" },
    ...(stroke && { stroke: { colour: colour(stroke), width, cap, ...(dashes && { dashes }) } }),
  };
}

const line = (x1: number, y1: number, x2: number, y2: number, look: Look) =>
  drawn({ kind: "line", x1, y1, x2, y2 }, look);
const rect = (x: number, y: number, width: number, height: number, look: Look, rx = 0) =>
  drawn({ kind: "rect", x, y, width, height, ...(rx > 0 && { rx }) }, look);
const circle = (cx: number, cy: number, r: number, look: Look) => drawn({ kind: "circle", cx, cy, r }, look);
const ellipse = (cx: number, cy: number, rx: number, ry: number, look: Look) =>
  drawn({ kind: "ellipse", cx, cy, rx, ry }, look);
const polyline = (points: readonly number[], look: Look) => drawn({ kind: "polyline", points }, look);
const polygon = (points: readonly number[], look: Look) => drawn({ kind: "polygon", points }, look);
/** A half circle, open, from (x, y) over (mx, my). */
const arc = (x: number, y: number, mx: number, my: number, toX: number, toY: number, look: Look) =>
  drawn({ kind: "path", outlines: [{ x, y, kinds: [2], points: [mx, my, toX, toY], open: true }] }, look);

const range = (n: number) => Array.from({ length: n }, (_, i) => i);

/** Axes, a grid, bars and two lines. */
const chart: KnownDrawing = {
  width: 480,
  height: 320,
  elements: [
    ...range(5).map((i) => line(50, 40.5 + i * 48, 450, 40.5 + i * 48, { stroke: "#d9dde3" })),
    ...[90, 150, 120, 60, 170, 135].map((height, i) =>
      rect(72 + i * 64, 280 - height, 32, height, { fill: "#7aa6e8" }),
    ),
    polyline([50.5, 30, 50.5, 280.5, 450, 280.5], { stroke: "#333a45" }),
    polyline([88, 160, 152, 96, 216, 130, 280, 190, 344, 70, 408, 190], { stroke: "#d0342c", width: 2.5 }),
    polyline([88, 230, 152, 210, 216, 236, 280, 226, 344, 250, 408, 150], { stroke: "#2a8a4a", width: 2 }),
  ],
};

/** Frames, fields, buttons, an image box and lines of a page's sketch. */
const wireframe: KnownDrawing = {
  width: 480,
  height: 360,
  elements: [
    rect(12.5, 12.5, 455, 335, { stroke: "#555555" }),
    line(12, 52.5, 468, 52.5, { stroke: "#555555" }),
    circle(32, 32.5, 9, { fill: "#bbbbbb" }),
    ...range(3).map((i) => rect(300 + i * 54, 26, 40, 13, { fill: "#dddddd" }, 3)),
    rect(32.5, 72.5, 180, 120, { fill: "#f0f0f0", stroke: "#888888" }),
    line(33, 73, 212, 192, { stroke: "#888888" }),
    line(33, 192, 212, 73, { stroke: "#888888" }),
    rect(240.5, 76.5, 200, 28, { stroke: "#888888" }, 6),
    rect(240.5, 116.5, 200, 28, { stroke: "#888888" }, 6),
    rect(240, 158, 90, 32, { fill: "#2f6fde" }, 8),
    rect(346.5, 158.5, 90, 31, { stroke: "#2f6fde", width: 2 }, 8),
    ...range(3).map((i) => rect(32.5 + i * 144, 220.5, 124, 108, { fill: "#fafafa", stroke: "#aaaaaa" }, 4)),
    ...range(3).map((i) => ellipse(94.5 + i * 144, 256, 30, 18, { fill: "#cfd8e6" })),
    ...range(3).map((i) => line(50 + i * 144, 298, 140 + i * 144, 298, { stroke: "#999999", width: 3 })),
    ...range(3).map((i) => line(50 + i * 144, 312, 110 + i * 144, 312, { stroke: "#999999", width: 3 })),
  ],
};

const icon: Look = { stroke: "#1f2937", width: 4, cap: "round" };

/** Eight icons of even strokes with round ends. */
const icons: KnownDrawing = {
  width: 400,
  height: 208,
  elements: [
    circle(44, 44, 24, icon),
    line(61, 61, 82, 82, icon),
    ...[32, 50, 68].map((y) => line(120, y, 180, y, icon)),
    line(220, 24, 276, 80, icon),
    line(276, 24, 220, 80, icon),
    rect(320, 24, 56, 56, icon, 10),
    polyline([334, 53, 345, 64, 364, 42], icon),
    polyline([24, 160, 50, 130, 76, 160], icon),
    rect(32, 160, 36, 28, icon),
    polygon([150, 124, 180, 184, 120, 184], icon),
    line(150, 146, 150, 164, icon),
    arc(228, 160, 248, 140, 268, 160, icon),
    rect(216, 160, 64, 28, { ...icon, fill: "#f5b942" }, 5),
    ellipse(348, 156, 32, 22, icon),
    circle(348, 156, 9, { fill: "#1f2937" }),
  ],
};

const thin: Look = { stroke: "#222222", width: 1 };
const thick: Look = { stroke: "#222222", width: 2 };
const middle: Look = { stroke: "#c03030", width: 1, dashes: [12, 4] };

/** A plate with holes, its section and dimension lines. */
const technical: KnownDrawing = {
  width: 460,
  height: 300,
  elements: [
    rect(40, 50, 240, 160, thick, 24),
    ...[
      [72, 82],
      [248, 82],
      [72, 178],
      [248, 178],
    ].map(([x, y]) => circle(x!, y!, 12, thick)),
    circle(160, 130, 44, thick),
    circle(160, 130, 30.5, thin),
    line(20, 130.5, 300, 130.5, middle),
    line(160.5, 30, 160.5, 230, middle),
    polygon([330, 50, 420, 50, 420, 210, 390, 210, 390, 80, 330, 80], thick),
    line(330, 66, 390, 66, thin),
    line(40.5, 220, 40.5, 264, thin),
    line(279.5, 220, 279.5, 264, thin),
    line(40, 256.5, 280, 256.5, thin),
    line(330.5, 220, 330.5, 264, thin),
    line(420.5, 220, 420.5, 264, thin),
    line(330, 256.5, 420, 256.5, thin),
    arc(300, 90, 312, 110, 300, 130, thin),
  ],
};

const days = range(7).map((i) => 76 + i * 58);
const sales = [160, 150, 112, 166, 204, 110, 64];
const visits = [214, 198, 218, 202, 250, 216, 196];

/** A curve with markers in its colour, one with open markers, and a line of marks over bars. */
const series: KnownDrawing = {
  width: 480,
  height: 320,
  elements: [
    ...range(5).map((i) => line(50, 40.5 + i * 48, 450, 40.5 + i * 48, { stroke: "#d9dde3" })),
    polyline([50.5, 30, 50.5, 280.5, 450, 280.5], { stroke: "#333a45" }),
    polyline(
      days.flatMap((x, i) => [x, sales[i]!]),
      { stroke: "#2f6fde", width: 2.5 },
    ),
    ...days.map((x, i) => circle(x, sales[i]!, 5, { fill: "#2f6fde" })),
    polyline(
      days.flatMap((x, i) => [x, visits[i]!]),
      { stroke: "#c2185b", width: 2 },
    ),
    ...days.map((x, i) => circle(x, visits[i]!, 6, { fill: "#ffffff", stroke: "#c2185b", width: 2 })),
  ],
};

const edge: Look = { stroke: "#333a45", width: 2 };

/** Boxes with borders, arrows between them, nodes with edges, and a gauge. */
const flow: KnownDrawing = {
  width: 460,
  height: 300,
  elements: [
    rect(20.5, 30.5, 100, 50, { fill: "#dfe7fd", stroke: "#333a45" }, 6),
    rect(180, 40, 100, 50, { fill: "#f5b942", ...edge }, 10),
    rect(340.5, 30.5, 90, 60, { fill: "#bde0c4", stroke: "#333a45" }),
    line(124, 56, 160, 62, edge),
    polygon([174, 64.3, 159.2, 68.1, 161.3, 55.9], { fill: "#333a45" }),
    line(284, 64, 320, 60, edge),
    polygon([334, 58.4, 320.8, 66.2, 319.2, 53.8], { fill: "#333a45" }),
    polyline([70, 84, 70, 130, 226, 130, 226, 94], edge),
    line(80, 190, 190, 170, { stroke: "#64748b", width: 2 }),
    line(190, 170, 170, 260, { stroke: "#64748b", width: 2 }),
    circle(80, 190, 16, { fill: "#0fa3a3" }),
    circle(190, 170, 18, { fill: "#d0342c" }),
    circle(170, 260, 14, { fill: "#7b3fbf" }),
    arc(290, 260, 350, 200, 410, 260, { stroke: "#d9dde3", width: 10 }),
    line(350, 258, 376, 222, { stroke: "#333a45", width: 3, cap: "round" }),
  ],
};

/** Straight lines with corners as round as the line is wide. */
const bent = (points: readonly number[], look: Look, kind: "polyline" | "polygon" = "polyline") =>
  drawn(withRoundCorners({ kind, points }, look.width!)!, look);

/** Eight icons with bends as wide as their lines, short stretches and strokes that meet, so many times as large and at (dx, dy). */
function glyphsAt(by: number, dx = 0, dy = 0): Element[] {
  const look: Look = { stroke: "#1f2937", width: 5 * by, cap: "round" };
  const [atX, atY] = [(x: number) => x * by + dx, (y: number) => y * by + dy];
  const at = (points: readonly number[]) => points.map((value, i) => (i % 2 === 0 ? atX(value) : atY(value)));
  const through = (...points: number[]) => polyline(at(points), look);
  const straight = (x1: number, y1: number, x2: number, y2: number) => line(atX(x1), atY(y1), atX(x2), atY(y2), look);
  const ring = (x: number, y: number, r: number) => circle(atX(x), atY(y), r * by, look);
  const round = (...points: number[]) => bent(at(points), look);
  const closed = (...points: number[]) => bent(at(points), look, "polygon");
  return [
    round(20, 42, 20, 20, 42, 20),
    round(58, 20, 80, 20, 80, 42),
    round(80, 58, 80, 80, 58, 80),
    round(42, 80, 20, 80, 20, 58),
    straight(36, 50, 64, 50),
    round(150, 20, 124, 20, 124, 80, 176, 80, 176, 46),
    through(150, 20, 150, 46, 176, 46),
    straight(150, 20, 176, 46),
    straight(220, 34, 280, 34),
    straight(220, 64, 280, 64),
    straight(236, 20, 236, 80),
    straight(264, 20, 264, 80),
    round(320, 80, 320, 34, 376, 34),
    through(362, 20, 376, 34, 362, 48),
    ring(44, 164, 15),
    straight(59, 164, 59, 120),
    closed(130, 124, 176, 150, 130, 176),
    closed(220, 140, 232, 140, 238, 128, 262, 128, 268, 140, 280, 140, 280, 176, 220, 176),
    ring(250, 156, 9),
    straight(348, 124, 348, 136),
    rect(atX(324), atY(136), 48 * by, 40 * by, look, 5 * by),
    straight(340, 156, 356, 156),
  ];
}

/** Icons at the size of a toolbar's. */
const glyphs: KnownDrawing = { width: 400, height: 200, elements: glyphsAt(1) };

/** As many as on a page of a set, with strokes as wide as borders. */
const sheet: KnownDrawing = {
  width: 1200,
  height: 600,
  elements: range(4).flatMap((i) => glyphsAt(1.5, 600 * (i % 2), 300 * Math.floor(i / 2))),
};

export const knownDrawings: Readonly<Record<string, KnownDrawing>> = {
  chart,
  wireframe,
  icons,
  technical,
  series,
  flow,
  glyphs,
  sheet,
};
