import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

const project = fileURLToPath(new URL("../..", import.meta.url));
const client = join(project, "client");
const run = promisify(execFile);
let installed: string;

beforeAll(async () => {
  installed = await mkdtemp(join(tmpdir(), "installed-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", installed], { cwd: client });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as [{ filename: string }];
  await writeFile(join(installed, "package.json"), '{ "type": "module", "private": true }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${filename}`], { cwd: installed });
});
afterAll(() => rm(installed, { recursive: true, force: true }));

test("the packed package, installed into an empty folder, brings nothing else, and runs", async () => {
  const there = await readdir(join(installed, "node_modules"));
  expect(there.filter((name) => !name.startsWith("."))).toEqual(["agent-marketplace-client"]);
  // npm asks a person who installs a package about such scripts.
  const { scripts } = JSON.parse(
    await readFile(join(installed, "node_modules/agent-marketplace-client/package.json"), "utf8"),
  );
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  const { stdout: helped } = await run(join(installed, "node_modules/.bin/agent-marketplace"), ["--help"]);
  expect(helped).toContain("agent-marketplace run");
  const { stdout: version } = await run(join(installed, "node_modules/.bin/agent-marketplace"), ["--version"]);
  expect(version.trim()).toBe(JSON.parse(await readFile(join(client, "package.json"), "utf8")).version);
  const program = 'import { AgentMarketplace } from "agent-marketplace-client";\nconsole.log(typeof AgentMarketplace);';
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: installed });
  expect(stdout).toBe("function\n");
});

test("what a program writes against the installed package is checked by its types", async () => {
  const types = join(installed, "node_modules/@types");
  await symlink(join(project, "node_modules/@types"), types);
  const source = `import { AgentMarketplace, type RunResult } from "agent-marketplace-client";
const market = new AgentMarketplace({ key: "amk_x", baseUrl: "https://a.example" });
const run: RunResult = await market.run({ agent: "ada/summarizer", input: { text: "a" }, max_credits: 5 });
for await (const { agent, price_credits } of market.list({ q: "x", max_price: 3 })) console.log(agent, price_credits + 1);
// @ts-expect-error: it is a number
await market.run({ agent: "ada/summarizer", input: {}, max_credits: "5" });
// @ts-expect-error: there is no such style
await market.svg.vectorize({ image: new Uint8Array(), style: "baroque" });
console.log(run.output, run.credits_used.toFixed());
`;
  await writeFile(join(installed, "program.ts"), source);
  const options = ["--noEmit", "--strict", "--module", "node16", "--target", "es2023", "--types", "node"];
  const tsc = join(project, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, ...options, "program.ts"], { cwd: installed }).catch(
    (error) => error,
  );
  expect(stdout).toBe("");
});

test("its size and what it imports are as its README says", async () => {
  const readme = await readFile(join(client, "README.md"), "utf8");
  const [, said = ""] = /(\d+) kB gzipped/.exec(readme) ?? [];
  const { outputFiles, metafile } = await build({
    entryPoints: [join(client, "dist/agent-marketplace.js")],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    metafile: true,
  });
  const bytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  expect(Math.ceil(bytes / 1_000)).toBe(Number(said));
  const inputs = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  expect(inputs.filter(({ external }) => external)).toEqual([]);
  expect(readme).toContain("imports nothing");
});

test("the command line imports Node's own modules, and a wallet's library only to pay", async () => {
  const { metafile } = await build({
    entryPoints: [join(client, "dist/cli/main.js")],
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    write: false,
    metafile: true,
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.filter(({ external }) => external));
  const own = new Set(builtinModules.map((name) => `node:${name}`));
  const others = imports.filter(({ path }) => !own.has(path));
  expect(others.map(({ kind, path }) => `${kind} ${path}`).toSorted()).toEqual([
    "dynamic-import @hashgraph/sdk",
    "dynamic-import viem/accounts",
  ]);
});
