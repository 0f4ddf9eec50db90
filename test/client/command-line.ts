import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Resvg } from "@resvg/resvg-js";
import { transform } from "esbuild";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { compiled } from "../support/compiled.ts";
import { echoAgent } from "../support/marketplace.ts";
import { test as base, creditsOf, earnedOn } from "./setting.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const program = compiled(new URL("../../client/cli/main.ts", import.meta.url));

const test = base
  .extend("directory", { scope: "file" }, async () => {
    const made = await mkdtemp(join(tmpdir(), "command-line-"));
    const logo = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><circle cx="12" cy="12" r="9"/></svg>';
    await writeFile(join(made, "logo.png"), new Resvg(logo).render().asPng());
    await symlink(join(project, "node_modules"), join(made, "node_modules"));
    return made;
  })
  .extend("env", ({ paid, proxy, directory }) => ({
    PATH: process.env.PATH ?? "",
    AGENT_MARKETPLACE_URL: proxy.url,
    AGENT_MARKETPLACE_KEY: paid.market.key,
    AGENT_MARKETPLACE_STATE: join(directory, "payments"),
  }))
  .extend("command", ({ env, directory }) => {
    return (args: readonly string[], more: Record<string, string> = {}) =>
      new Promise<{ code: number; out: string; said: string }>((resolve) => {
        const options = { cwd: directory, env: { ...env, ...more } };
        execFile(process.execPath, [program, ...args], options, (error, out, said) =>
          resolve({ code: Number(error?.code ?? 0), out, said }),
        );
      });
  });

describe("with a key", () => {
  test("runs an agent and prints its output as what it is, what it cost beside it", async ({ paid, command }) => {
    const before = await creditsOf(paid);
    const ran = await command(["run", paid.address, "text=hello there", "--max-credits", "5"]);
    expect(ran).toMatchObject({ code: 0, said: `5 credits; ${before - 5} left\n` });
    expect(ran.out).toContain("hello there");
    const whole = await command(["run", paid.address, "--input", '{"text":"whole"}', "--json"]);
    expect(JSON.parse(whole.out)).toMatchObject({ success: true, output: { kind: "text" }, credits_used: 5 });
    expect((await command(["show", paid.address])).out).toContain("text  text, required");
  });

  test("reads files as Windows writes them, with a mark before their text", async ({ paid, command, directory }) => {
    await writeFile(join(directory, "input.json"), '\uFEFF{"text":"from a file"}');
    expect(await command(["run", paid.address, "--input", "@input.json"])).toMatchObject({ code: 0 });
    await writeFile(join(directory, "words.txt"), "\uFEFFwords");
    const ran = await command(["run", paid.address, "text=@words.txt", "--json"]);
    expect(ran.out).toContain("words");
    expect(ran.out).not.toContain("\uFEFF");
  });

  test("waits as many seconds as it is told, also parts of one", async ({ command }) => {
    for (const seconds of ["64.1", "0.5e3"]) {
      expect(await command(["balance", "--timeout", seconds])).toMatchObject({ code: 0, said: "" });
    }
    for (const none of ["0", "soon"]) {
      const refused = await command(["balance", "--timeout", none]);
      expect(refused).toMatchObject({ code: 2, said: expect.stringContaining("--timeout") });
    }
  });

  test("draws a file as SVG", async ({ command }) => {
    const drawn = await command(["svg", "vectorize", "logo.png", "--colors", "2"]);
    expect(drawn).toMatchObject({ code: 0, out: expect.stringMatching(/^<svg.*<\/svg>\n$/s), said: "" });
  });

  test("says what a drawing cost, and of one credit that it is one", async ({ command, directory }) => {
    const file = join(directory, "logo.svg");
    const drawn = await command(["svg", "vectorize", "logo.png", "-o", file]);
    expect(drawn).toMatchObject({ code: 0, out: "", said: expect.stringMatching(/ bytes; 0\.01 USD\n$/) });
    const { out } = await command(["search"]);
    expect(out).not.toMatch(/\t1 credits\t/);
  });

  test("a file that cannot be written is refused before it is paid for; a drawing that was paid for is printed then", async ({
    paid,
    command,
  }) => {
    const before = await creditsOf(paid);
    for (const file of ["no/such/logo.svg", "logo.png/logo.svg", ".", ""]) {
      const refused = await command(["svg", "vectorize", "logo.png", "-o", file]);
      expect(refused, file).toMatchObject({ code: 2, out: "", said: expect.stringContaining("cannot be written") });
    }
    expect(await creditsOf(paid)).toBe(before);
    const drawn = await command(["svg", "vectorize", "logo.png", "-o", "/dev/full"]);
    expect(drawn).toMatchObject({ code: 5, out: expect.stringMatching(/^<svg.*<\/svg>\n$/s) });
    expect(drawn.said).toContain("cannot be written");
  });

  test("says by its exit code what went wrong, and whether money moved", async ({ paid, command }) => {
    const cases: Array<[code: number, said: string, args: string[], env?: Record<string, string>]> = [
      [2, "Nothing was charged.", ["run", paid.address, `text=${"x".repeat(51)}`]],
      [2, "is no input", ["run", paid.address, "text"]],
      [2, "no command", ["fly"]],
      [2, "no command", ["constructor"]],
      [2, "no --max-usd", ["run", paid.address, "text=a", "--max-usd", "0.01"]],
      [2, "no --max-credits", ["svg", "generate", "a", "--max-usd", "0.01", "--max-credits", "1"]],
      [3, "Nothing was charged.", ["run", paid.address, "text=a", "--max-credits", "4"]],
      [4, "Nothing was charged.", ["balance", "--key", "amk_no"]],
      [1, "Nothing was charged.", ["show", "no/agent"]],
      [2, "--max-usd", ["pay", paid.address, "text=a"], { AGENT_MARKETPLACE_EVM_KEY: generatePrivateKey() }],
      [2, "Paying needs a wallet", ["pay", paid.address, "text=a", "--max-usd", "1"]],
    ];
    const results = await Promise.all(cases.map(([, , args, env]) => command(args, env)));
    for (const [at, [code, said, args]] of cases.entries()) {
      expect(results[at], args.join(" ")).toMatchObject({ code, out: "", said: expect.stringContaining(said) });
    }
    expect(await command(["--help"])).toMatchObject({ code: 0, out: expect.stringContaining("Exit codes") });
    const full = promisify(execFile)("bash", ["-c", '"$0" "$1" --help >/dev/full', process.execPath, program]);
    await expect(full).rejects.toMatchObject({ code: 5, stderr: expect.stringContaining("cannot be written") });
  });

  test("a run that is interrupted says how to go on, and is charged once", async ({ paid, proxy, env, command }) => {
    const before = await creditsOf(paid);
    proxy.behave(() => "stall");
    const asked = paid.marketplace.model.asked();
    const child = spawn(process.execPath, [program, "run", paid.address, "text=hello"], { env });
    let said = "";
    child.stderr.on("data", (text) => {
      said += text;
    });
    await expect.poll(() => paid.marketplace.model.asked()).toBeGreaterThan(asked);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([5, null]);
    const [, name = ""] = /--idempotency-key (\S+)/.exec(said) ?? [];
    proxy.behave(() => "pass");
    expect(await command(["run", paid.address, "text=hello", "--idempotency-key", name])).toMatchObject({ code: 0 });
    expect(await creditsOf(paid)).toBe(before - 5);
  });
});

describe("with a wallet", () => {
  test("pays for a run on Hedera", async ({ paid, command }) => {
    const { accountId, privateKey } = paid.ledger.accounts.buyer;
    const wallet = { AGENT_MARKETPLACE_HEDERA_ACCOUNT: accountId, AGENT_MARKETPLACE_HEDERA_KEY: privateKey };
    const ran = await command(["pay", paid.address, "text=paid", "--max-usd", "0.05"], wallet);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("paid") });
    expect(ran.said).toContain("0.05 USDC to");
  });

  test("the same command goes on with a payment whose end is not known, and pays nothing more", async ({
    paid,
    env,
    command,
  }) => {
    const key = generatePrivateKey();
    await paid.setting.chain.fund(privateKeyToAccount(key).address, { usdc: 1_000_000n });
    const before = await earnedOn("evm", paid);
    const args = ["pay", paid.address, "text=once", "--max-usd", "0.05"];
    const wallet = { AGENT_MARKETPLACE_EVM_KEY: key };
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    const stopped = await command([...args, "--retries", "0"], wallet);
    expect(stopped).toMatchObject({ code: 5, out: "", said: expect.stringContaining("the same command again") });
    const [kept = ""] = await readdir(env.AGENT_MARKETPLACE_STATE);
    const payment = await readFile(join(env.AGENT_MARKETPLACE_STATE, kept), "utf8");
    paid.toFacilitator.behave(() => "pass");
    expect(await command(args, wallet)).toMatchObject({ code: 0, out: expect.stringContaining("once") });
    expect(await readdir(env.AGENT_MARKETPLACE_STATE)).toEqual([]);
    // As if the program had died before it forgot the payment.
    await writeFile(join(env.AGENT_MARKETPLACE_STATE, kept), payment);
    expect(await command(args, wallet)).toMatchObject({ code: 5, said: expect.stringContaining("another purchase") });
    expect(await readdir(env.AGENT_MARKETPLACE_STATE)).toEqual([]);
    await expect.poll(() => earnedOn("evm", paid)).toBe(before + 50_000n);
  });
});

test("what the READMEs and docs/api.md show of the client works as it is shown", async ({ paid, env, directory }) => {
  const { context } = paid.marketplace;
  const ada = await createAccount(context.db, { handle: "ada" });
  await publishAgent(context, ada, "summarizer", { ...echoAgent, name: "Summarizer", category: "writing" });
  await addPayoutWallet(context.db, {
    accountId: ada.id,
    network: "eip155:84532",
    address: paid.evmWallet,
    checked: true,
  });
  const key = generatePrivateKey();
  await paid.setting.chain.fund(privateKeyToAccount(key).address, { usdc: 1_000_000n });
  const own = {
    API: env.AGENT_MARKETPLACE_URL,
    KEY: paid.market.key,
    PRIVATE_KEY: key,
    AGENT_MARKETPLACE_EVM_KEY: key,
  };
  // npx would take the same program from there.
  const options = { cwd: directory, env: { ...env, ...own, PATH: `${project}node_modules/.bin:${env.PATH}` } };
  let blocks = 0;
  for (const file of ["README.md", "docs/api.md", "client/README.md"]) {
    const text = await readFile(join(project, file), "utf8");
    for (const [, expected, language, code = ""] of text.matchAll(
      /<!-- run; prints: ([^\n]+) -->\n```(\w+)\n(.*?)\n```/gs,
    )) {
      blocks += 1;
      if (language === "ts")
        await writeFile(join(directory, "program.mjs"), (await transform(code, { loader: "ts" })).code);
      const shell = code.replaceAll(/npx agent-marketplace(-client)?/g, "agent-marketplace");
      const words = language === "ts" ? "node program.mjs" : `set -e\n${shell}`;
      const { stdout } = await promisify(execFile)("bash", ["-c", words], options);
      expect(stdout, `${file}:\n${code}`).toContain(expected);
    }
  }
  expect(blocks).toBe(7);
});
