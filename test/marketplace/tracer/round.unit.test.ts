import { expect, test } from "vitest";
import { roundShape } from "../../../marketplace/tracer/lines/round.ts";

const down = Array.from({ length: 12 }, (_, i) => 22 + i);
const toAndFro = [...down, ...down.toReversed()];

test.each([1e-6, 1e-4, 1e-2, 0.2])(
  "points to and fro, %d px from one line, are no circle or ellipse around it",
  (bend) => {
    const upright = toAndFro.map((y) => ({ x: 24.5 + bend * ((y - 27.5) / 5.5) ** 2, y }));
    for (const points of [upright, upright.map(({ x, y }) => ({ x: y, y: x }))])
      expect(roundShape(points, 0.6)).toBeNull();
  },
);

test("points all around a circle or an ellipse are one, though a third of them be hidden", () => {
  const around = (rx: number, ry: number) =>
    Array.from({ length: 60 }, (_, i) => (i / 60) * 2 * Math.PI)
      .filter((angle) => angle > (2 / 3) * Math.PI)
      .map((angle) => ({ x: 40 + rx * Math.cos(angle), y: 30 + ry * Math.sin(angle) }));
  expect(roundShape(around(20, 20), 0.6)).toMatchObject({ kind: "circle", r: expect.closeTo(20, 3) });
  expect(roundShape(around(25, 14), 0.6)).toMatchObject({ kind: "ellipse", rx: expect.closeTo(25, 3) });
});
