import { trace } from "../../marketplace/tracer/trace.ts";
import { knownDrawings } from "./svg/known-drawings.ts";
import { compare, elementsOf, rendered } from "./svg/structure.ts";

/**
 * Whether drawings come back as they were drawn: pictures of known elements are traced, and what is found is compared with
 * them one by one, by kind, place, colours and width. Wanted: as many elements, ± 10 %. `--missed` lists what was not kept.
 */
export function benchSvgStructure(): Promise<void> {
  process.stdout.write("\nElements of drawings that are known: drawn, traced, and how many came back as they were\n");
  for (const [name, drawing] of Object.entries(knownDrawings)) {
    const { known, found, kept, missed } = compare(drawing.elements, elementsOf(trace(rendered(drawing)).svg));
    process.stdout.write(
      `${name.padEnd(12)} ${known} drawn, ${found} traced (${(found / known).toFixed(2)}×), ${kept} kept (${Math.round((100 * kept) / known)} %)\n`,
    );
    if (process.argv.includes("--missed")) for (const miss of missed) process.stdout.write(`  ${miss}\n`);
  }
  return Promise.resolve();
}
