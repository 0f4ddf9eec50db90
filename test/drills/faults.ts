import { choiceOf, tableOf } from "./report.ts";

const faults = {
  clock: () => import("./clocks-apart.ts"),
  disk: () => import("./disk-full.ts"),
};
const names = Object.keys(faults) as Array<keyof typeof faults>;

/** What a fault did, and whether that is as promised. */
export interface Seen {
  readonly found: Readonly<Record<string, string | number>>;
  readonly problems: readonly string[];
}

/** Clocks five seconds apart, and a primary whose disk is full, each while payments are made. `--fault=clock|disk` for one of them. */
export async function drill(): Promise<boolean> {
  const wanted = choiceOf("fault", names);
  let held = true;
  for (const name of names.filter((one) => wanted === undefined || one === wanted)) {
    const { hold } = await faults[name]();
    const { found, problems } = await hold();
    process.stdout.write(`\n${name}\n${tableOf(Object.keys(found), [Object.values(found).map(String)])}`);
    for (const problem of problems.slice(0, 20)) process.stdout.write(`${problem}\n`);
    held &&= problems.length === 0;
  }
  return held;
}
