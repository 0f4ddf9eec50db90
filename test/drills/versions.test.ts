import { execFile } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { type EvmSetting, evmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { callsTo, startFacilitator } from "../support/facilitator.ts";
import { call, seedMarket, startMarketplace, type TestMarketplace } from "../support/marketplace.ts";
import { Service } from "../support/service.ts";
import { packageMissingFor, sourcesOf } from "./versions.ts";

const folders = ["facilitator/migrations", "marketplace/migrations"];
const git = async (...args: string[]) =>
  (await promisify(execFile)("git", ["-C", projectDirectory, ...args])).stdout.trim();

/** The newest commit before the newest migration came that is whole; undefined where the history does not reach so far. */
async function commitBeforeNewestMigration(): Promise<string | undefined> {
  try {
    const newest = await git("log", "-1", "--format=%H", "--diff-filter=A", "--", ...folders);
    for (const commit of (await git("rev-list", "-n", "200", `${newest}^`)).split("\n")) {
      if (await hasShippedMigrations(commit)) return commit;
    }
  } catch {}
  return undefined;
}

/** Whether a commit has each migration that it imports, and this version has it too: one that has shipped stays, and keeps its name. */
async function hasShippedMigrations(commit: string): Promise<boolean> {
  for (const folder of folders) {
    const imported = (await git("show", `${commit}:${folder}/all.ts`)).matchAll(/from "\.\/(.+?)"/g);
    const there = new Set((await git("ls-tree", "--name-only", `${commit}:${folder}`)).split("\n"));
    const here = new Set(await readdir(join(projectDirectory, folder)));
    for (const [, file = ""] of imported) if (!there.has(file) || !here.has(file)) return false;
  }
  return true;
}

const found = await commitBeforeNewestMigration();
const missing = found && (await packageMissingFor(found));
const commit = missing ? undefined : found;
if (commit === undefined) {
  const why = missing
    ? `the version before needs ${missing}, which is not installed`
    : "there is no history of the project";
  console.warn(`versions.test.ts is skipped: ${why} here`);
}

let directory: string;
let setting: EvmSetting;
let ours: Awaited<ReturnType<typeof startFacilitator>>;
let market: TestMarketplace;
const old: Service[] = [];
beforeAll(async () => {
  if (commit === undefined) return;
  [directory, setting] = await Promise.all([sourcesOf(commit), evmSetting()]);
  ours = await startFacilitator(setting.variables);
  market = await startMarketplace();
  // From its sources: compiling them would take longer than the test.
  const NODE_OPTIONS = `--import ${import.meta.resolve("tsx")}`;
  const mainOf = (service: string) => join(directory, service, "main.ts");
  old.push(
    ...(await Promise.all([
      Service.start("facilitator", { ...setting.variables, NODE_OPTIONS }, mainOf("facilitator")),
      Service.start("marketplace", { ...market.environment, NODE_OPTIONS }, mainOf("marketplace")),
    ])),
  );
});
afterAll(async () => {
  await Promise.all(old.map((service) => service.kill()));
  await market?.stop();
  await ours?.stop();
  await setting?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

test.runIf(commit)("the version before the newest migration works on the new schema, beside this version", async () => {
  const [facilitator, marketplace] = old as [Service, Service];
  const payer = await setting.fundedBuyer();
  for (const url of [facilitator.url, ours.url]) {
    const payment = await paymentBody(payer, setting.terms);
    expect((await callsTo(url).verify(payment)).body).toMatchObject({ isValid: true });
    expect((await callsTo(url).settle(payment)).body).toMatchObject({ success: true });
    // The other version knows of it.
    for (const other of [facilitator.url, ours.url]) {
      expect((await callsTo(other).settle(payment)).body).toMatchObject({ errorReason: "already_settled" });
    }
  }
  const { key, agent } = await seedMarket(market.context);
  for (const url of [marketplace.url, market.url]) {
    const body = { agent: agent.address, input: { text: "hello" } };
    expect(await call(url, "/api/v1/run", { key, body })).toMatchObject({ status: 200, body: { success: true } });
    expect((await call(url, "/api/v1/runs", { key })).status).toBe(200);
  }
});
