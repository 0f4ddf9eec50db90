import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { compiled } from "../support/compiled.ts";
import { marketTest } from "../support/fixtures.ts";
import { balanceOf, call, proveLedger, run, type TestMarketplace } from "../support/marketplace.ts";

const cli = compiled(new URL("../../marketplace/cli.ts", import.meta.url));
const test = marketTest();
let directory: string;
test.beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "accounts-"));
});
test.afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function accounts(
  market: TestMarketplace,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { MARKETPLACE_DATABASE_URL, MARKETPLACE_SEALING_KEY } = market.environment;
  const env = { PATH: process.env.PATH, MARKETPLACE_DATABASE_URL, MARKETPLACE_SEALING_KEY };
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

async function json(market: TestMarketplace, ...args: string[]) {
  return JSON.parse(await runCommand([...args, "--json"], market.environment));
}

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const agentYaml = `
agent: cli-creator/echo
name: Echo
description: Says what it is told.
connector: llm
price_credits: 3
fields:
  - { name: text, type: text, required: true }
settings:
  prompt: "{{text}}"
secrets:
  word: hush
`;

test("an operator opens accounts, makes a key, grants credits, publishes an agent; the key then runs it", async ({
  market,
}) => {
  expect(await json(market, "account", "create", "--handle", "cli-creator")).toMatchObject({
    handle: "cli-creator",
    created: true,
  });
  expect(await json(market, "account", "create", "--handle", "CLI-creator", "--if-missing")).toMatchObject({
    created: false,
  });
  await json(market, "account", "create", "--handle", "cli-buyer");
  const key = await json(
    market,
    "key",
    "create",
    "--account",
    "cli-buyer",
    "--name",
    "one",
    "--rate-limit",
    "7",
    "--scope",
    "rest_only",
  );
  expect(key).toEqual({
    id: expect.stringMatching(/^key_/),
    name: "one",
    token: expect.stringMatching(/^amk_/),
    created: true,
  });
  const again = await json(market, "key", "create", "--account", "cli-buyer", "--name", "one", "--if-missing");
  expect(again).toEqual({ id: key.id, name: "one", start: key.token.slice(0, 8), created: false });
  const grant = [
    "credits",
    "grant",
    "--account",
    "cli-buyer",
    "--credits",
    "10",
    "--note",
    "hello",
    "--reference",
    "r1",
  ];
  expect(await json(market, ...grant)).toMatchObject({ granted: true, already_granted: false });
  expect(await json(market, ...grant)).toMatchObject({ granted: false, already_granted: true });
  const path = await file("agent.yaml", agentYaml);
  expect(await json(market, "agent", "publish", "--file", path)).toMatchObject({
    address: "cli-creator/echo",
    version: 1,
  });
  const bound = [
    "key",
    "create",
    "--account",
    "cli-buyer",
    "--name",
    "bound",
    "--if-missing",
    "--scope",
    "chosen_agents",
  ];
  expect(await json(market, ...bound, "--agents", "cli-creator/echo")).toMatchObject({ created: true });
  expect(await json(market, ...bound, "--agents", "CLI-creator/echo,cli-creator/echo")).toMatchObject({
    created: false,
  });
  expect(
    await json(
      market,
      "wallet",
      "add",
      "--account",
      "cli-creator",
      "--network",
      "hedera:testnet",
      "--address",
      "0.0.77",
    ),
  ).toMatchObject({ address: "0.0.77" });

  expect(await balanceOf(market, key.token)).toMatchObject({
    credits: 10,
    key: { scope: "rest_only", rate_limit_per_minute: 7 },
  });
  expect((await run(market, key.token, "cli-creator/echo")).body).toMatchObject({
    success: true,
    credits_remaining: 7,
  });
  const detail = await call(market.url, "/api/v1/agents/cli-creator/echo", { key: key.token });
  expect(detail.body.per_call.networks).toEqual(["hedera:testnet"]);
  expect(await json(market, "account", "show", "--account", "cli-creator")).toMatchObject({ credits: 0, earned: 3 });

  const budget = (...credits: string[]) => json(market, "agent", "budget", "--agent", "cli-creator/echo", ...credits);
  expect(await budget("--credits", "30")).toEqual({ agent: "cli-creator/echo", model_credits_per_day: 30 });
  expect(await budget()).toMatchObject({ model_credits_per_day: "default" });
  await json(market, "account", "ceiling", "--account", "cli-buyer", "--rate-limit", "5");
  const held = await call(market.url, "/api/v1/balance", { key: key.token });
  expect(held.headers.get("x-ratelimit-limit")).toBe("5");
  expect(await json(market, "account", "show", "--account", "cli-buyer")).toMatchObject({ calls_per_minute_max: 5 });
  await json(market, "account", "ceiling", "--account", "cli-buyer", "--rate-limit", "600");

  await json(market, "agent", "unpublish", "--agent", "cli-creator/echo");
  expect((await run(market, key.token, "cli-creator/echo")).status).toBe(404);
  await json(market, "key", "revoke", "--account", "cli-buyer", "--id", key.id);
  expect((await call(market.url, "/api/v1/balance", { key: key.token })).status).toBe(401);
  const { stdout } = await accounts(market, "key", "list", "--account", "cli-buyer");
  expect(stdout).toContain("revoked_at: 20");
  expect(stdout).not.toContain(key.token);
});

test("a reference that was used for another grant, and a key that is there and another one, are errors that name the difference", async ({
  market,
}) => {
  for (const handle of ["first-granted", "then-granted"]) await json(market, "account", "create", "--handle", handle);
  const grant = (account: string, amount: string, reference = "invoice-1") =>
    accounts(market, "credits", "grant", "--account", account, "--credits", amount, "--reference", reference);
  expect(await grant("first-granted", "10")).toMatchObject({ code: 0 });
  expect(await grant("first-granted", "10")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("already_granted: true"),
  });
  const before = expect.stringMatching(
    /"invoice-1" was used before for 10 credits to "first-granted"; nothing was granted/,
  );
  expect(await grant("first-granted", "11")).toMatchObject({ code: 1, stdout: "", stderr: before });
  expect(await grant("then-granted", "10")).toMatchObject({ code: 1, stdout: "", stderr: before });
  expect(await json(market, "account", "show", "--account", "then-granted")).toMatchObject({ credits: 0 });

  const key = (...more: string[]) =>
    accounts(market, "key", "create", "--account", "first-granted", "--name", "ci", "--if-missing", ...more);
  expect(await key("--scope", "rest_only", "--rate-limit", "7", "--max-credits-per-day", "5")).toMatchObject({
    code: 0,
  });
  expect(await key("--scope", "rest_only", "--rate-limit", "7", "--max-credits-per-day", "5")).toMatchObject({
    code: 0,
  });
  expect(await key("--rate-limit", "8", "--max-credits-per-month", "9")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--rate-limit is 7, --max-credits-per-month is not set"),
  });
});

test("a client that calls itself as a key is to be called is no such key", async ({ market }) => {
  const { id: accountId } = await json(market, "account", "create", "--handle", "cli-clients");
  const client = "https://client.example/ci.json";
  await createKey(market.context.db, { accountId, name: "ci", client, maxCreditsPerDay: 5 });
  const args = ["key", "create", "--account", "cli-clients", "--name", "ci", "--if-missing"];
  const made = await json(market, ...args);
  expect(made).toMatchObject({ created: true, token: expect.stringMatching(/^amk_/) });
  expect(await json(market, ...args)).toMatchObject({ created: false, id: made.id });
  await json(market, "key", "revoke", "--account", "cli-clients", "--id", made.id);
  const path = await file("client-seed.yaml", "accounts:\n  - handle: cli-clients\n    keys: [{ name: ci }]\n");
  expect((await json(market, "seed", "--file", path)).accounts[0].keys).toMatchObject([{ created: true }]);
});

test("an account that is closed is granted nothing", async ({ market }) => {
  await json(market, "account", "create", "--handle", "cli-gone");
  await json(market, "account", "close", "--account", "cli-gone");
  const grant = runCommand(["credits", "grant", "--account", "cli-gone", "--credits", "500"], market.environment);
  await expect(grant).rejects.toThrow('"cli-gone" is closed');
  expect(await json(market, "account", "show", "--account", "cli-gone")).toMatchObject({ state: "closed", credits: 0 });
});

test("a seed makes everything it says, and applying it again changes nothing", async ({ market }) => {
  const path = await file(
    "seed.yaml",
    `
accounts:
  - handle: seed-creator
    wallets:
      - { network: "eip155:84532", address: "0x${"b".repeat(40)}", checked: true }
    agents:
      - slug: free-echo
        name: Echo
        description: Says what it is told.
        connector: llm
        price_credits: 0
        fields: [{ name: text, type: text, required: true }]
        settings: { prompt: "{{text}}" }
  - handle: seed-buyer
    credits: 1000
    keys: [{ name: demo, scope: rest_only, rate_limit_per_minute: 600 }]
`,
  );
  const first = await json(market, "seed", "--file", path);
  const [creator, buyer] = first.accounts;
  expect(creator).toMatchObject({
    handle: "seed-creator",
    wallets: [{ created: true }],
    agents: [{ agent: "seed-creator/free-echo", version: 1, changed: true }],
  });
  expect(buyer).toMatchObject({
    credits_granted: 1000,
    keys: [{ name: "demo", created: true, token: expect.stringMatching(/^amk_/) }],
  });
  expect(await balanceOf(market, buyer.keys[0].token)).toMatchObject({ credits: 1000 });

  const second = await json(market, "seed", "--file", path);
  expect(second.accounts[0]).toMatchObject({
    id: creator.id,
    wallets: [{ id: creator.wallets[0].id, created: false }],
    agents: [{ version: 1, changed: false }],
  });
  expect(second.accounts[1]).toMatchObject({
    credits_granted: 0,
    credits_granted_before: 1000,
    keys: [{ id: buyer.keys[0].id, created: false }],
  });
  expect(JSON.stringify(second)).not.toContain(buyer.keys[0].token);
  // The chain refuses the wallet meanwhile: a seed does not know better.
  const { db } = market.context;
  await db.query("update payout_wallets set state = 'unpayable', problem = 'frozen' where id = $1", [
    creator.wallets[0].id,
  ]);
  expect((await json(market, "seed", "--file", path)).accounts[0].wallets).toMatchObject([
    { id: creator.wallets[0].id, created: false },
  ]);
  expect(await balanceOf(market, buyer.keys[0].token)).toMatchObject({ credits: 1000 });
  await proveLedger(market.context);
});

test("--help names every command", async ({ market }) => {
  const { code, stdout } = await accounts(market, "--help");
  expect(code).toBe(0);
  for (const command of ["account create", "key create", "credits grant", "wallet add", "agent publish", "seed"]) {
    expect(stdout).toContain(command);
  }
});

test.for([
  ["account make", 'there is no command "account make"'],
  ["account create", "--handle is required"],
  ["account create --handle admin", "reserved"],
  ["account create --handle x-", '"handle" must be'],
  ["account show --account nobody", 'no account "nobody"'],
  ["key create --account cli-creator --name x --rate-limit many", "--rate-limit must be"],
  ["key create --account cli-creator --name x --rate-limit 601", "between 1 and 600"],
  ["account ceiling --account cli-creator --rate-limit 100001", "must be a whole number"],
  ["key create --account cli-creator --name x --rate-limit 0", '"rate_limit_per_minute" must be'],
  ["key create --account cli-creator --name x --scope all", "--scope must be one of"],
  ["credits grant --account cli-creator --credits 0", "--credits must be"],
  ["credits grant --account cli-creator --credits 1 --reference=", "--reference is empty"],
  ["wallet add --account cli-creator --network solana:x --address y", '"network" must be'],
  ["wallet add --account cli-creator --network hedera:testnet --address 0x1", '"address" must be'],
  [
    "wallet add --account cli-creator --network eip155:84532 --address 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD",
    '"address" has a wrong checksum',
  ],
  [
    "wallet add --account cli-creator --network eip155:84532 --address 0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    '"address" has a wrong checksum',
  ],
  ["agent publish --file /nowhere.yaml", "cannot be read"],
  ["agent suspend --agent no/agent", 'no agent "no/agent"'],
  ["account create --colour red", "Unknown option '--colour'"],
] as const)("%s is refused in plain words", async ([line, words], { market }) => {
  await expect(runCommand(line.split(" "), market.environment)).rejects.toThrow(words);
});

test.for<[string, () => string, string]>([
  ["bad YAML", () => "{", ":1:2: "],
  ["a list", () => "- a", ":1:1: an agent's file must hold a mapping"],
  ["of a wrong type", () => agentYaml.replace("price_credits: 3", "price_credits: three"), '"price_credits" must be'],
  ["using an unknown slot", () => agentYaml.replace("{{text}}", "{{txt}}"), "{{txt}}"],
  [
    "declaring an unknown type",
    () => agentYaml.replace("type: text", "type: colour"),
    '"fields.0.type" must be one of',
  ],
  ["without a slug", () => agentYaml.replace("cli-creator/echo", "cli-creator"), "must be handle/slug"],
])("an agent file %s is refused in plain words", async ([_name, text, words], { market }) => {
  const path = await file("bad.yaml", text());
  await expect(runCommand(["agent", "publish", "--file", path], market.environment)).rejects.toThrow(words);
});

test("a refusal is one line on stderr and exit code 1; without a database it names the variable", async ({
  market,
}) => {
  expect(await accounts(market, "account", "create")).toEqual({
    code: 1,
    stdout: "",
    stderr: "--handle is required\n",
  });
  await expect(runCommand(["account", "create"], {})).rejects.toThrow("MARKETPLACE_DATABASE_URL");
});
