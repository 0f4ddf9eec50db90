import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { expect } from "vitest";
import { evmWallets } from "../../infra/dev/wallets.ts";
import { open } from "./browser.ts";
import { type PaidSite, test } from "./paid-site.ts";

let site: PaidSite;
let directory: string;
test.beforeAll(async ({ site: paidSite }) => {
  site = paidSite;
  // In the project, whose packages the programs import.
  const place = fileURLToPath(new URL("../../.artefacts/", import.meta.url));
  await mkdir(place, { recursive: true });
  directory = await mkdtemp(join(place, "snippets-"));
}, 120_000);
test.afterAll(() => rm(directory, { recursive: true, force: true }));

/** Whatever a shell, a quote or an encoding could take for its own. */
const text = `It's "$HOME" \`id\` \\n ${"$"}{x} 😀 %s`;

/** Runs a program as it stands on the page. */
async function execute(program: string, title: string, env: Record<string, string>): Promise<string> {
  // What npx fetches from the page's own service is kept in no other place.
  const own = {
    PATH: process.env.PATH ?? "",
    npm_config_cache: join(directory, "cache"),
    AGENT_MARKETPLACE_STATE: join(directory, "payments"),
  };
  const options = { env: { ...own, ...env }, cwd: directory, timeout: 180_000 };
  const run = promisify(execFile);
  if (title.startsWith("curl") || title === "Command line") return (await run("bash", ["-c", program], options)).stdout;
  if (title.startsWith("Python")) return (await run("python3", ["-c", program], options)).stdout;
  const file = join(directory, `${title.replaceAll(/\W/g, "")}.mjs`);
  await writeFile(file, (await transform(program, { loader: "ts" })).code);
  return (await run(process.execPath, [file], options)).stdout;
}

/** Every program of one place of the page, by its title. */
async function programsOf(path: string, id: string): Promise<Array<[title: string, program: string]>> {
  const agent = `/${site.market.agent.address}`;
  const { page, complaints, close } = await open(site, agent);
  await page.locator("#in-text").fill(text);
  if (path !== "") await page.goto(`${site.url}${agent}${path}`);
  const titles = await page.locator(`[data-code=${id}] .code-langs label`).allTextContents();
  const programs = await page.locator(`[data-code=${id}] pre`).allTextContents();
  expect(complaints).toEqual([]);
  await close();
  return titles.map((title, at) => [title.trim(), programs[at] as string]);
}

/** What a Python program posts, read from its syntax: the address and the JSON. */
async function postedBy(program: string): Promise<unknown> {
  const reader = `import ast, json, sys
for node in ast.walk(ast.parse(sys.argv[1])):
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "post":
        print(json.dumps([node.args[0].value, ast.literal_eval(node.keywords[0].value)]))`;
  const { stdout } = await promisify(execFile)("python3", ["-c", reader, program]);
  return JSON.parse(stdout);
}

/** What the agent was asked last. */
const asked = () => JSON.stringify(site.model.requests.at(-1)?.body);

test("every program that is shown with a key runs the agent with the input that was last tried", {
  timeout: 600_000,
}, async () => {
  const programs = await programsOf("/api", "key");
  expect(programs.map(([title]) => title)).toEqual(["curl", "TypeScript", "Command line", "Python"]);
  for (const [title, program] of programs) {
    const before = site.model.asked();
    const said = await execute(program, title, { KEY: site.market.key });
    expect(said, title).toContain("Fingerprint:");
    expect(site.model.asked(), title).toBe(before + 1);
    expect(asked(), title).toContain(JSON.stringify(text).slice(1, -1));
  }
});

test("every program that is shown without a key pays for a run; the one whose client is not here is read", {
  timeout: 600_000,
}, async () => {
  const programs = await programsOf("", "terminal");
  expect(programs.map(([title]) => title)).toEqual([
    "TypeScript",
    "TypeScript, Hedera",
    "curl",
    "Python",
    "Python, x402",
  ]);
  const { accountId, privateKey } = site.paid.ledger.accounts.buyer;
  for (const [title, program] of programs) {
    if (title === "Python, x402") {
      // Its client is on PyPI alone: what can be held here is that it is Python, and what it posts where.
      const posted = await postedBy(program);
      expect(posted).toEqual([`${site.url}/api/agent/${site.market.agent.address}`, { text }]);
      continue;
    }
    const before = [await site.usdcOf("evm"), await site.usdcOf("hedera")];
    const chain = title.endsWith("Hedera") ? 1 : 0;
    const key = chain === 1 ? privateKey : evmWallets({}).buyer.privateKey;
    const said = await execute(program, title, { PRIVATE_KEY: key, ACCOUNT_ID: accountId });
    const spent = [await site.usdcOf("evm"), await site.usdcOf("hedera")].map((now, at) => (before[at] ?? 0n) - now);
    // The answer to curl is the price; the command after it pays that.
    const ends = {
      curl: /HTTP\/1.1 402.*"accepts".*Fingerprint:/s,
      Python: /'kind': 'text'.*Fingerprint:/s,
      "TypeScript, Hedera": /kind: 'text'.*0\.0\.\d+@/s,
    };
    expect(said, title).toMatch(ends[title as keyof typeof ends] ?? /kind: 'text'.*0x[0-9a-f]{64}/s);
    expect(spent[chain], title).toBe(50_000n);
    expect(asked(), title).toContain(JSON.stringify(text).slice(1, -1));
  }
});

test("the programs of a free agent run it, and no link or line of an MCP client carries a key", {
  timeout: 600_000,
}, async () => {
  const { page, close } = await open(site, site.greeter);
  await page.locator("#in-name").fill("O'Neil");
  const titles = await page.locator("[data-code=terminal] .code-langs label").allTextContents();
  const programs = await page.locator("[data-code=terminal] pre").allTextContents();
  for (const [at, title] of titles.entries()) {
    await execute(programs[at] as string, title.trim(), {});
    expect(asked(), title).toContain("O'Neil");
  }
  await page.goto(`${site.url}${site.greeter}/mcp`);
  const links = await page
    .locator("a[href^='cursor:'], a[href^='vscode:']")
    .evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
  expect(links).toHaveLength(2);
  const config = JSON.parse(
    Buffer.from(new URL(links[0] as string).searchParams.get("config") ?? "", "base64").toString(),
  );
  expect(config).toEqual({ url: `${site.url}/api/mcp`, headers: { Authorization: `Bearer \${env:KEY}` } });
  const settings = JSON.parse(decodeURIComponent((links[1] as string).split("?")[1] as string));
  expect(settings).toMatchObject({ type: "http", inputs: [{ type: "promptString", password: true }] });
  await close();
});
