import { execFile, spawnSync } from "node:child_process";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { transform } from "esbuild";
import { lexer, type Tokens } from "marked";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { connectors } from "../../marketplace/connectors/registry.ts";
import { marketplaceEndpoints } from "../../marketplace/endpoints.ts";
import { docsPages } from "../../marketplace/web/docs/chapters.ts";
import { referenceOf } from "../../marketplace/web/docs/reference.ts";
import { statusNotes } from "../../marketplace/web/docs/statuses.ts";
import { docsMarkdown, docsText } from "../../marketplace/web/docs/texts.ts";
import { snippetsOf } from "../../shared/reference/call-snippets.ts";
import { fieldRows } from "../../shared/reference/schema-rows.ts";
import { paidTest } from "../support/fixtures.ts";
import { echoAgent } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { encodeHeader, payQuote, post } from "../support/pay-call.ts";
import { oneOf } from "../support/sample.ts";

/**
 * What the documentation shows is done here as it is shown, page after page, in one directory: what an answer tells (a link's token,
 * a wallet's text to sign) the next command finds in its environment.
 */
const project = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const hasPython = spawnSync("python3", ["--version"]).status === 0;
let paid: PaidMarket;
let directory: string;
let env: NodeJS.ProcessEnv;
const wallet = privateKeyToAccount(generatePrivateKey());

const test = paidTest({ env: { MARKETPLACE_PUBLIC_URL: "http://127.0.0.1", SMTP_URL: "", MAIL_FROM: "" } });
test.beforeAll(async ({ paid: started, directory: ownDirectory }) => {
  paid = started;
  directory = ownDirectory;
  const { context } = paid.marketplace;
  const ada = await createAccount(context.db, { handle: "ada" });
  await publishAgent(context, ada, "summarizer", { ...echoAgent, name: "Summarizer", price_credits: 5 });
  const wallets = { "eip155:84532": paid.evmWallet, "hedera:testnet": paid.ledger.accounts.creator.accountId };
  for (const [network, address] of Object.entries(wallets)) {
    await addPayoutWallet(context.db, { accountId: ada.id, network, address, checked: true });
  }
  await symlink(join(project, "node_modules"), join(directory, "node_modules"));
  const privateKey = generatePrivateKey();
  await paid.setting.chain.fund(privateKeyToAccount(privateKey).address, { usdc: 1_000_000n });
  env = { PATH: process.env.PATH, KEY: paid.market.key, PRIVATE_KEY: privateKey, ADDRESS: wallet.address };
});

const facts = () => ({
  config: { ...paid.marketplace.context.config, publicUrl: paid.marketplace.url },
  facilitator: paid.marketplace.context.facilitator,
});
/** The tables that llms.txt alone has. */
const noTables = Object.fromEntries(
  ["fields vectorize", "fields generate", "fields drawing", "drawings", "pages", "addresses"].map((name) => [
    name,
    () => "",
  ]),
);
const written = docsPages.flatMap(({ slug, file }) => (file === undefined ? [] : [{ slug, file }]));

/** A block of code, and what the comment before it says is to be done with it. */
interface Block {
  readonly language: string;
  readonly code: string;
  readonly directive: string | undefined;
}

function blocksIn(text: string): Block[] {
  const tokens = lexer(text).filter(({ type }) => type !== "space");
  return tokens.flatMap((token, index) => {
    if (token.type !== "code") return [];
    const { lang = "", text: code } = token as Tokens.Code;
    const [, directive] = /^<!-- (.+) -->\s*$/.exec(tokens[index - 1]?.raw ?? "") ?? [];
    return [{ language: lang.split(" ")[0] ?? "", code, directive }];
  });
}

async function execute(language: string, code: string): Promise<string> {
  const options = { cwd: directory, env, timeout: 180_000 };
  if (language === "sh") return (await run("bash", ["-c", code], options)).stdout;
  if (language === "python") return (await run("python3", ["-c", code], options)).stdout;
  const file = join(directory, "example.mjs");
  await writeFile(file, (await transform(code, { loader: "ts" })).code);
  return (await run(process.execPath, [file], options)).stdout;
}

/** What a reader would copy out of the answer by hand. */
async function learnFrom(output: string): Promise<void> {
  const [, token] = /[?&]token=([\w.%-]+)/.exec(output) ?? [];
  if (token) env.TOKEN = decodeURIComponent(token);
  const [, id] = /"id":"(wal_\w+)"/.exec(output) ?? [];
  if (id) env.WALLET = id;
  if (output.includes('"challenge":{')) {
    env.SIGNATURE = await wallet.signMessage({ message: JSON.parse(output).challenge.message });
  }
}

describe.sequential("what the documentation shows works as it is shown", () => {
  test.each(written)("/docs/$slug", async ({ file }) => {
    if (file === "per-call.md") {
      const quote = await post(`${paid.marketplace.url}/api/agent/ada/summarizer`, {
        body: { text: "Buyers pay per call." },
      });
      env.PROOF = encodeHeader(await payQuote(paid, "evm", quote));
    }
    for (const { language, code, directive } of blocksIn(await docsText(facts(), file))) {
      const [, expected] = /^run; prints: (.*)$/.exec(directive ?? "") ?? [];
      if (expected === undefined || (language === "python" && !hasPython)) continue;
      const output = await execute(language, code);
      expect(output, code).toContain(expected);
      await learnFrom(output);
    }
  });

  test("each block of code that could be run says what it prints, or is read by another test", async () => {
    for (const { file } of written) {
      const blocks = blocksIn(await docsText(facts(), file));
      for (const { language, code, directive } of blocks) {
        if (["yaml", "json"].includes(language) && directive === undefined) continue;
        expect(directive, `${file}: ${code}`).toMatch(/^(run; prints: .+|mcp: .+)$/);
      }
    }
  });
});

test("what the documentation is made of goes with the compiled code, as it is deployed", async () => {
  const textOf = (root: string, file: string) => readFile(join(root, "marketplace/web/docs/pages", file), "utf8");
  for (const file of [...written.map(({ file }) => file), "../llms.md"]) {
    expect(await textOf(join(project, "dist"), file), file).toBe(await textOf(project, file));
  }
});

test("llms.txt's programs sign and pay on both chains as they are shown, and it names this service's own addresses", async () => {
  const { accountId, privateKey } = paid.ledger.accounts.buyer;
  Object.assign(env, { ACCOUNT_ID: accountId, HEDERA_KEY: privateKey });
  const served = await (await fetch(`${paid.marketplace.url}/llms.txt`)).text();
  expect(served).toContain(`GET ${facts().config.facilitatorPublicUrl}/discovery/resources`);
  expect(served).not.toMatch(/<!--|agents\.example|\{facilitator\}/);
  const blocks = blocksIn(await docsText(facts(), "../llms.md", { ...noTables }));
  const programs = blocks.filter(({ directive }) => directive?.startsWith("run; prints: "));
  expect(programs).toHaveLength(2);
  for (const { language, code } of programs) expect(await execute(language, code), code).toMatch(/^200 true/);
});

describe("the MCP page's settings lead a client to the tools", () => {
  interface Settings {
    readonly url: string;
    readonly authorization: string | undefined;
  }

  /** As the client that the settings are for would read them. */
  function settingsIn({ language, code }: Block): Settings {
    if (language === "sh") {
      const [, url = "", authorization] = /(http\S+) --header "Authorization: (.+)"$/.exec(code) ?? [];
      return { url, authorization };
    }
    if (language === "toml") {
      const [, url = ""] = /^url = "(.+)"$/m.exec(code) ?? [];
      const [, variable] = /^bearer_token_env_var = "(.+)"$/m.exec(code) ?? [];
      return { url, authorization: `Bearer $${variable}` };
    }
    const { mcpServers, servers } = JSON.parse(code);
    const { url, httpUrl, headers } = (mcpServers ?? servers).marketplace;
    return { url: url ?? httpUrl, authorization: headers?.Authorization };
  }

  test("in each way that it shows", async () => {
    const blocks = blocksIn(await docsText(facts(), "mcp.md")).filter(({ directive }) => directive?.startsWith("mcp:"));
    expect(blocks).toHaveLength(6);
    for (const block of blocks) {
      const { url, authorization } = settingsIn(block);
      const filled = authorization?.replace(/\$\{(env:KEY|input:key)\}|\$KEY/, paid.market.key);
      const client = new Client({ name: "documentation", version: "1" });
      const requestInit = filled ? { headers: { authorization: filled } } : {};
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("svg_vectorize");
      await client.close();
    }
  });
});

test("every call that an operation's page shows is answered as the operation says, in every language", async () => {
  const endpoints = marketplaceEndpoints(paid.marketplace.context);
  const operations = referenceOf(() => endpoints, paid.marketplace.url)();
  const shown = operations.filter(({ id, call, tag }) => {
    // Drawing takes seconds, MCP has its own test, and a stranger's wallet cannot sign in.
    const isOthers = /^(Vector graphics|Tool server|Sign-in)$/.test(tag) || id === "transferCredits";
    return call.sends !== "session" && !call.url.includes("{") && !isOthers;
  });
  expect(shown.length).toBeGreaterThan(8);
  for (const { id, call, answers } of shown) {
    const snippets = snippetsOf(call).filter(({ language }) => language !== "python" || hasPython);
    for (const { language, code } of oneOf(snippets, `the language of ${id}`)) {
      const output = await execute(
        language,
        language === "sh" ? code.replace("curl -s", "curl -s -w '%{http_code}'") : code,
      ).catch(
        // Python throws what is not a success.
        (error) => /HTTP Error (\d+)/.exec(error.stderr)?.[1] ?? String(error),
      );
      const status = Number(language === "sh" ? output.slice(-3) : output.slice(0, 3));
      expect(
        answers.map((answer) => answer.status),
        `${id} in ${language}: ${output.slice(0, 300)}`,
      ).toContain(status);
      expect([400, 401, 413, 415, 422, 500], `${id} in ${language}`).not.toContain(status);
    }
  }
});

test("the tables of answers name every status that the operation documents, and no other", async () => {
  const endpoints = marketplaceEndpoints(paid.marketplace.context);
  const operations = referenceOf(() => endpoints, paid.marketplace.url)();
  for (const id of ["runAgent", "payAgent"] as const) {
    const documented = operations.find((operation) => operation.id === id)!.answers.map(({ status }) => status);
    expect(statusNotes[id].map(({ status }) => status).toSorted()).toEqual(documented.toSorted());
  }
});

test("each setting of each connector is explained, and none that there is not", () => {
  for (const { id, guide, settings } of connectors.values()) {
    const names = fieldRows(settings).map(({ name }) => name);
    expect(Object.keys(guide.settings).toSorted(), id).toEqual(names.toSorted());
  }
});

test("programs that pay are shown with a network that can be paid on here, and its USDC", async () => {
  const kinds = [{ x402Version: 2, scheme: "exact", network: "eip155:8453" }];
  const onBase = { ...facts(), facilitator: { supported: async () => ({ kinds }) as never } };
  const text = await docsMarkdown(onBase, "per-call.md");
  expect(text).toContain('const network = "eip155:8453";');
  expect(text).toContain("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
  expect(await docsMarkdown(onBase, "payout-wallets.md")).toContain('"network":"eip155:8453"');
  for (const file of written.map(({ file }) => file)) expect(await docsMarkdown(onBase, file)).not.toContain("84532");
});

test("every page of the documentation has a twin in Markdown, without the comments that are for tests", async () => {
  const names = await readdir(join(project, "marketplace/web/docs/pages"));
  expect(names.toSorted()).toEqual(written.map(({ file }) => file).toSorted());
  for (const { slug, file } of written) {
    const answer = await fetch(`${paid.marketplace.url}/docs${slug ? `/${slug}` : ""}.md`);
    expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const text = await answer.text();
    expect(text).not.toMatch(/<!--|agents\.example| tab=/);
    expect(text.split("\n")[0]).toBe(
      (await readFile(join(project, "marketplace/web/docs/pages", file), "utf8")).split("\n")[0],
    );
  }
  expect(await docsMarkdown(facts(), "networks.md")).toContain("`eip155:84532`");
  const missing = await fetch(`${paid.marketplace.url}/docs/no-such-page.md`);
  expect(missing.status).toBe(404);
});
