import { expect, test } from "vitest";
import {
  type CellShape,
  free,
  needed,
  optional,
  shortestShape,
} from "../../../marketplace/tracer/output/cell-shape.ts";
import { pathData } from "../../../marketplace/tracer/output/path-data.ts";

/** Cells from rows of `#` needed, `+` optional and `.` free, in their frame. */
function cellsOf(rows: readonly string[]) {
  const width = rows[0]!.length + 2;
  const framed = [".".repeat(width), ...rows.map((row) => `.${row}.`), ".".repeat(width)];
  const at = Uint8Array.from(framed.join(""), (cell) => ({ "#": needed, "+": optional })[cell] ?? free);
  return { width, height: framed.length, at };
}

/** How often the outlines wind around the middle of each cell: +1 for each that is passed downwards to the right. */
function windings({ outlines }: CellShape, { width, height }: { width: number; height: number }): number[] {
  const sums = new Array<number>(width * height).fill(0);
  for (const { x, y, points } of outlines) {
    const corners = [x, y, ...points, x, y];
    for (let i = 0; i + 3 < corners.length; i += 2) {
      const [fromX, fromY, toX, toY] = corners.slice(i, i + 4) as [number, number, number, number];
      expect(Number(fromX !== toX) + Number(fromY !== toY), "lines along the grid").toBe(1);
      const way = Math.sign(toY - fromY);
      for (let row = Math.min(fromY, toY); row < Math.max(fromY, toY); row++)
        for (let column = 0; column < fromX; column++) sums[row * width + column]! += way;
    }
  }
  return sums;
}

const shapeOf = (rows: readonly string[]) => shortestShape(cellsOf(rows), Number.POSITIVE_INFINITY);
const drawn = (rows: readonly string[]) => pathData(shapeOf(rows).outlines, 1);

function seeded(seed: number) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

test("every needed cell is covered and no free one, whatever lies around", () => {
  const random = seeded(20);
  for (let round = 0; round < 600; round++) {
    const [width, height] = [1 + Math.floor(random() * 9), 1 + Math.floor(random() * 9)];
    const [share, spare] = [random(), random()];
    const cell = () => (random() < share ? "#" : random() < spare ? "+" : ".");
    const rows = Array.from({ length: height }, () => Array.from({ length: width }, cell).join(""));
    const cells = cellsOf(rows);
    const shape = shapeOf(rows);
    const inside = windings(shape, cells).map((n) => (shape.evenOdd ? n % 2 !== 0 : n !== 0));
    cells.at.forEach((kind, i) => {
      if (kind !== optional) expect(inside[i], `${rows.join("\n")}\n${JSON.stringify(shape)}`).toBe(kind === needed);
    });
  }
});

test("what is drawn over it later takes steps, notches and holes out of a shape", () => {
  expect(drawn(["#+++", "##++", "###+", "####"])).toBe(drawn(["####", "####", "####", "####"]));
  expect(drawn(["#+#", "#+#", "###"])).toBe(drawn(["###", "###", "###"]));
  expect(drawn(["###", "#+#", "###"])).toBe(drawn(["###", "###", "###"]));
  expect(drawn(["##..", "#+++", "###+"]).length).toBeLessThan(drawn(["##..", "#...", "###."]).length);
});

test("cells that touch at corners only are one outline, where that is shorter", () => {
  const board = Array.from({ length: 8 }, (_, row) => (row % 2 === 0 ? "#.#.#.#." : ".#.#.#.#"));
  const { outlines, evenOdd } = shapeOf(board);
  expect(evenOdd).toBe(true);
  expect(pathData(outlines, 1).length).toBeLessThan(110);
  expect(shapeOf(["#.", ".#"])).toMatchObject({ evenOdd: false, outlines: [{ points: { length: 6 } }, {}] });
});
