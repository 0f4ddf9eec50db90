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
