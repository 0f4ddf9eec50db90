import { readFileSync } from "node:fs";
import { figures as grouped } from "../../../shared/page/figures.ts";
import { withoutComments } from "../../../shared/page/markdown.tsx";
import { daysBetweenRenames } from "../../accounts/rename.ts";
import { categories } from "../../agents/category.ts";
import { figuresDays } from "../../agents/count-runs.ts";
import { extraInstructionsLengthMax } from "../../agents/field-limits.ts";
import { creditWorth } from "../../answers/amounts.ts";
import { keysPerAccount } from "../../api-keys/create.ts";
import type { Config } from "../../config.ts";
import { freshMinutes } from "../../fresh-session.ts";
import { historyDays } from "../../history-days.ts";
import { usualCallsPerMinute } from "../../http/calls-per-minute.ts";
import { exampleUrl } from "../../http/examples.ts";
import { accessMinutes } from "../../oauth/grants.ts";
import type { FacilitatorClient } from "../../payments/facilitator/client.ts";
import { payableHere } from "../../payments/facilitator/payable-networks.ts";
import { unquotedGoodForDays } from "../../payments/paid-calls/settled-elsewhere.ts";
import { examplesMax } from "../../runs/agent-examples.ts";
import { outputsKeptHours } from "../../runs/kept-outputs.ts";
import { faucet, stablecoinOn } from "../../stablecoins.ts";
import { svgProducts } from "../../svg/products.ts";
import { drawingWaitSeconds, maxTimeoutSeconds } from "../../time-limits.ts";
import { connectorChapters, networkTable, statusTable } from "./generated.ts";
import { limitTable } from "./limits.ts";

/** What the texts tell of this deployment. */
export interface DocsFacts {
  readonly config: Pick<
    Config,
    "publicUrl" | "anonymousLimits" | "outputBytesPerAccount" | "chains" | "facilitatorPublicUrl"
  >;
  readonly facilitator: Pick<FacilitatorClient, "supported">;
}

/**
 * A page of the documentation as Markdown: what is written in pages/, with this service's own address and the tables that are made
 * from the code in place of the comments that name them. Comments for tests are left in.
 */
export async function docsText(facts: DocsFacts, file: string, own: Tables = {}): Promise<string> {
  const source = sourceOf(file);
  const network = source.includes("{evmNetwork}") ? await evmNetworkHere(facts) : exampleNetwork;
  const evm = { evmNetwork: network, evmUsdc: stablecoinOn(network)?.asset ?? "" };
  const said: Readonly<Record<string, string>> = { ...figures, ...evm, facilitator: facts.config.facilitatorPublicUrl };
  const text = source
    .replaceAll(exampleUrl, facts.config.publicUrl)
    .replaceAll(/\{(\w+)\}/g, (written, name) => said[name] ?? written);
  const parts: string[] = [];
  for (const part of text.split(/^(<!-- generated: .+ -->)$/m)) {
    const [, table] = /^<!-- generated: (.+) -->$/.exec(part) ?? [];
    parts.push(table === undefined ? part : (own[table]?.() ?? (await generated(facts, table))));
  }
  return parts.join("");
}

/** A page of the documentation for programs: plain Markdown, without comments and tabs. */
export async function docsMarkdown(facts: DocsFacts, file: string, own?: Tables): Promise<string> {
  return withoutComments(await docsText(facts, file, own)).replaceAll(/^```(\w+) tab=.*$/gm, "```$1");
}

/** The EVM network that programs are shown with: one that can be paid on here, where that can be learnt. */
async function evmNetworkHere({ facilitator }: Pick<DocsFacts, "facilitator">): Promise<string> {
  const networks = await payableHere(facilitator);
  return networks.find((network) => network.startsWith("eip155:")) ?? exampleNetwork;
}

const exampleNetwork = "eip155:84532";

/** What these texts say that can change while the process runs: the networks, and nothing else. */
export async function changingIn(files: readonly string[], { facilitator }: DocsFacts): Promise<string> {
  const namesNetworks = files.some((file) => /<!-- generated: networks -->|\{evmNetwork\}/.test(sourceOf(file)));
  return namesNetworks ? (await payableHere(facilitator)).join() : "";
}

async function generated({ config, facilitator }: DocsFacts, table: string): Promise<string> {
  const make = Object.hasOwn(tables, table) ? tables[table] : undefined;
  if (make) return make();
  if (table === "networks") return networkTable(await payableHere(facilitator));
  if (table === "limits") return limitTable(config.anonymousLimits, config.outputBytesPerAccount);
  if (table === "connectors") return connectorChapters(config.chains.hedera?.operator?.accountId);
  throw new Error(`no table of the documentation is called "${table}"`);
}

/** What a text names as `{historyDays}`: figures have one home, and it is the code. */
const figures: Readonly<Record<string, string>> = {
  accessMinutes: String(accessMinutes),
  categories: categories.join(", "),
  creditWorth,
  daysBetweenRenames: String(daysBetweenRenames),
  examplesMax: String(examplesMax),
  drawingWaitSeconds: String(drawingWaitSeconds),
  faucet,
  extraInstructionsLengthMax: grouped(extraInstructionsLengthMax),
  figuresDays: String(figuresDays),
  historyDays: String(historyDays),
  outputsKeptHours: String(outputsKeptHours),
  keysPerAccount: String(keysPerAccount),
  runWaitSeconds: String(maxTimeoutSeconds),
  unquotedGoodForDays: String(unquotedGoodForDays),
  freshMinutes: String(freshMinutes),
  usualCallsPerMinute: String(usualCallsPerMinute),
  vectorizeCredits: String(svgProducts["svg-vectorize"].price),
};

/** What a text's comments name, by name. */
type Tables = Readonly<Record<string, () => string>>;

const tables: Tables = {
  "statuses runAgent": () => statusTable("runAgent"),
  "statuses payAgent": () => statusTable("payAgent"),
  "statuses others": () => statusTable("others"),
};

/** Read once: they are part of the program. */
const sources = new Map<string, string>();

function sourceOf(file: string): string {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`pages/${file}`, import.meta.url), "utf8");
  sources.set(file, text);
  return text;
}
