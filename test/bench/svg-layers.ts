import { trace } from "../../marketplace/tracer/trace.ts";
import { characters } from "./svg/layered/characters.ts";
import { checkDrawings } from "./svg/layered/check-drawings.ts";
import type { LayeredDrawing } from "./svg/layered/drawing.ts";
import { groupsAlike } from "./svg/layered/grouping.ts";
import { pages } from "./svg/layered/pages.ts";
import { things } from "./svg/layered/things.ts";
import { unseenCharacters } from "./svg/layered/unseen-characters.ts";
import { unseenPages } from "./svg/layered/unseen-pages.ts";

/**
 * Whether object layers are what a person would name: drawings whose groups are known are traced, and each pixel's group is
 * compared with the one it was drawn in, by the adjusted Rand index; wanted: .85 in the mean, also on drawings that the
 * grouping was not made with.
 */
export function benchSvgLayers(): Promise<void> {
  process.stdout.write(
    "\nObject layers of drawings whose groups are known: adjusted Rand index over all pixels, and over objects' alone\n",
  );
  measure("made with", { ...characters, ...things, ...pages });
  measure("not made with, at first", { ...unseenCharacters, ...unseenPages });
  measure("held back", checkDrawings);
  return Promise.resolve();
}

function measure(title: string, drawings: Readonly<Record<string, LayeredDrawing>>): void {
  const rows = Object.entries(drawings).map(([name, drawing]) => {
    const row = groupsAlike(drawing, (picture) => trace(picture, { layers: true }).svg);
    process.stdout.write(
      `${name.padEnd(16)} ${row.known} groups drawn, ${row.found} found: ${row.all.toFixed(3)}, ${row.objects.toFixed(3)}\n`,
    );
    return row;
  });
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  process.stdout.write(
    `${title}, mean: ${mean((row) => row.all).toFixed(3)}, ${mean((row) => row.objects).toFixed(3)}\n`,
  );
}
