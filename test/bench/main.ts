import { benchAttacks } from "./attacks.ts";
import { benchBytes } from "./bytes.ts";
import { benchFacilitatorEvm } from "./facilitator-evm.ts";
import { benchFacilitatorHedera } from "./facilitator-hedera.ts";
import { benchFacilitatorRecord } from "./facilitator-record.ts";
import { benchFacilitatorSoak } from "./facilitator-soak.ts";
import { benchFacilitatorWeb } from "./facilitator-web.ts";
import { benchMarketplace } from "./marketplace.ts";
import { benchMcp } from "./mcp.ts";
import { benchPerCall } from "./per-call.ts";
import { drawStages } from "./svg/stages.ts";
import { benchSvg } from "./svg.ts";
import { benchSvgLarge } from "./svg-large.ts";
import { benchSvgLayers } from "./svg-layers.ts";
import { benchSvgQueue } from "./svg-queue.ts";
import { benchSvgRenderers } from "./svg-renderers.ts";
import { benchSvgStructure } from "./svg-structure.ts";
import { benchWeb } from "./web.ts";

const benches: Readonly<Record<string, readonly (() => Promise<void>)[]>> = {
  attacks: [benchAttacks],
  bytes: [benchBytes],
  facilitator: [benchFacilitatorEvm, benchFacilitatorHedera],
  "facilitator-record": [benchFacilitatorRecord],
  "facilitator-soak": [benchFacilitatorSoak],
  marketplace: [benchMarketplace],
  mcp: [benchMcp],
  "per-call": [benchPerCall],
  svg: [benchSvg],
  "svg-large": [benchSvgLarge],
  "svg-layers": [benchSvgLayers],
  "svg-queue": [benchSvgQueue],
  "svg-renderers": [benchSvgRenderers],
  "svg-structure": [benchSvgStructure],
  "svg-stages": [drawStages],
  web: [benchWeb, benchFacilitatorWeb],
};

/** Half an hour and no figure beside a peer's, or no figure at all: it draws a picture of the documents. */
const onlyWhenAsked = ["bytes", "facilitator-soak", "svg-stages"];

const options: Readonly<Record<string, string>> = {
  "only=TEXT": "attacks, facilitator, per-call: rows whose title holds it",
  "images=FOLDER": "svg, svg-large, svg-renderers: the pictures to trace",
  report: "svg: a page with every picture beside its traces",
  missed: "svg-structure: what was not found",
  "agents=N": "web: how many there are on the market",
  large: "facilitator-record: ten million payments too",
  "data=FOLDER": "facilitator-record: where its database is kept for the next time",
  "verifications=N": "facilitator-soak",
  "settlements=N": "facilitator-soak",
  "minutes=N": "facilitator-soak",
  "seed=N": "facilitator-soak: as another run had it that told its seed",
};

const help = `npm run bench -- [name…] [--option…]   without a name all but ${onlyWhenAsked.join(", ")}

  ${Object.keys(benches).join(" ")}

${Object.entries(options)
  .map(([option, text]) => `  --${option.padEnd(16)}${text}\n`)
  .join("")}`;
const known = new Set(Object.keys(options).map((option) => option.split("=")[0]));
const strange = process.argv.slice(2).find((word) => word.startsWith("-") && !known.has(word.slice(2).split("=")[0]));
if (strange === "--help") process.stdout.write(help);
else if (strange) process.stderr.write(`${strange} is no option\n\n${help}`);
if (strange) process.exit(strange === "--help" ? 0 : 2);

const asked = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(`no bench called ${unknown.join(", ")}; there are: ${Object.keys(benches).join(", ")}\n`);
  process.exit(2);
}
const usual = Object.keys(benches).filter((name) => !onlyWhenAsked.includes(name));
for (const name of asked.length > 0 ? asked : usual) {
  for (const bench of benches[name] ?? []) await bench();
}
process.exit(0);
