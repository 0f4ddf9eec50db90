import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { StackFile } from "../../infra/dev/stack-file.ts";
import { freePort } from "../../infra/free-port.ts";
import { elapse } from "../support/elapse.ts";

/**
 * The real command, as a newcomer who has just cloned the repository runs it, on other ports and in another place. The
 * tests follow each other as starts do: each goes on with what the one before left.
 */
const project = fileURLToPath(new URL("../..", import.meta.url));
let directory: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stack-"));
  const ledgerPorts = ["LOCAL_HEDERA_MIRROR_PORT", "LOCAL_HEDERA_ADMIN_PORT"];
  const names = [
    "POSTGRES_PORT",
    "EVM_CHAIN_PORT",
    "MODEL_STAND_IN_PORT",
    "X_STAND_IN_PORT",
    "MCP_STAND_IN_PORT",
    "FACILITATOR_PORT",
    "MARKETPLACE_PORT",
  ];
  const named = [...names, ...ledgerPorts];
  // A port asked for after another one was given back can be the same one.
  const free = new Set<number>();
  while (free.size < named.length + 3) free.add(await freePort());
  const ports = [...free].map(String);
  const nodePorts = ports.splice(0, 3).join(",");
  const portOf = Object.fromEntries(named.map((name, index) => [name, ports[index]]));
  env = { ...process.env, ...portOf, LOCAL_HEDERA_NODE_PORTS: nodePorts, STACK_DATA_DIR: directory };
});

afterEach(async () => {
  const [main] = await recordedProcesses();
  if (!main || !exists(main)) return;
  process.kill(main, "SIGTERM");
  await expect.poll(() => exists(main)).toBe(false);
});

afterAll(async () => {
  for (const pid of await recordedProcesses()) if (exists(pid)) process.kill(pid, "SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

test("npm start comes up, everything it prints works, and Ctrl-C leaves nothing behind", async () => {
  const stack = await startStack();
  expect(await readStack()).toEqual(shape);

  const commands = stack.output().match(/^ {2}curl .*$/gm) ?? [];
  const answers = [];
  for (const command of commands) answers.push(JSON.parse(await shell(command)) as object);
  expect(answers).toMatchObject([
    { success: true, credits_used: 5, output: { kind: "text" } },
    { credits: 995 },
    {
      accepts: [
        { scheme: "exact", amount: "50000" },
        { scheme: "exact", amount: "50000" },
      ],
    },
    { total: 8 },
    { kinds: expect.any(Array) },
    { tokens: [{ token_id: "0.0.429274" }] },
  ]);

  const [byClient = ""] = stack.output().match(/^ {2}AGENT_MARKETPLACE_URL=.*$/m) ?? [];
  expect(await shell(byClient)).not.toBe("");

  const { byKey, payments, others } = JSON.parse(await shell("npm run -s demo -- --json")) as Demo;
  expect(byKey).toMatchObject({ creditsBefore: 990, creditsAfter: 985 });
  expect(payments.map(({ network }) => network)).toEqual(["hedera:testnet", "eip155:84532"]);
  for (const { amount, creatorBefore, creatorAfter, again, see, page } of payments) {
    expect(BigInt(creatorAfter) - BigInt(creatorBefore)).toBe(BigInt(amount));
    expect(again.status).toBe(402);
    expect(await shell(see)).toMatch(/"result": ?("SUCCESS"|\{)/);
    expect((await fetch(page)).status).toBe(200);
  }
  expect(others.map(({ agent }) => agent)).toEqual(shape.demo.agents.slice(1));

  expect(await npmStart().ended).toMatchObject({ code: 1, output: expect.stringMatching(/runs already: process \d+/) });

  const processes = await recordedProcesses();
  expect(processes).toHaveLength(6);
  process.kill(-stack.pid, "SIGINT");
  await stack.ended;
  await expect.poll(() => processes.filter(exists), { interval: 20 }).toEqual([]);
  expect(existsSync(join(directory, "stack.json"))).toBe(false);
  await expect(shell("npm run -s demo")).rejects.toThrow("Start one with: npm start");
});

test("damaged state does not keep it from starting; after a kill -9 the next start cleans up and goes on", async () => {
  await writeFile(join(directory, "processes.json"), '{"main"');
  await writeFile(join(directory, "hedera.json"), '{"half');
  const damaged = await startStack();
  expect(damaged.output()).toContain("hedera.json was damaged");
  const before = await readStack();
  expect(await creditsIn(before)).toBe(966);

  const [main = 0, ...parts] = await recordedProcesses();
  process.kill(main, "SIGKILL");
  await damaged.ended;
  expect(parts.every(exists)).toBe(true);

  const next = await startStack();
  expect(next.output()).toMatch(/Stopped what a killed start had left behind: .*Facilitator \(\d+\)/);
  expect(parts.filter(exists)).toEqual([]);
  expect(await readStack()).toEqual(before);
  expect(await creditsIn(before)).toBe(966);

  const facilitator = (await recorded()).parts.find(({ name }) => name === "Facilitator");
  const processes = await recordedProcesses();
  process.kill(facilitator!.pid, "SIGKILL");
  expect(await next.ended).toMatchObject({
    code: 1,
    output: expect.stringContaining("Facilitator was ended by SIGKILL"),
  });
  expect(next.output()).toContain("facilitator.log");
  await expect.poll(() => processes.filter(exists)).toEqual([]);
});

test("a start that is killed before its database answers does not keep the next one from starting", async () => {
  const early = npmStart("--fresh");
  // The cluster's making has a server of its own.
  const isLaunched = () => ["ready", "postmaster.pid"].every((name) => existsSync(join(directory, "postgres", name)));
  while (!isLaunched()) await elapse(2, "until the database server is launched");
  const [main = 0] = await recordedProcesses();
  process.kill(main, "SIGKILL");
  await early.ended;
  expect(early.output()).not.toMatch(/^ {2}PostgreSQL/m);
  const next = await startStack();
  expect(next.output()).toMatch(/Stopped what a killed start had left behind: .*PostgreSQL \(\d+\)/);
});

test("--fresh forgets everything, and the stack goes down with the npm that ran it", async () => {
  const stack = await startStack("--fresh");
  expect(await creditsIn(await readStack())).toBe(1000);
  const processes = await recordedProcesses();
  process.kill(stack.pid, "SIGKILL");
  await expect.poll(() => processes.filter(exists)).toEqual([]);
});

test("a taken port is named with its variable and its holder, before anything is started", async () => {
  const server = createServer().listen(Number(env.EVM_CHAIN_PORT), "127.0.0.1");
  await once(server, "listening");
  const { code, output } = await npmStart().ended;
  server.close();
  expect(code).toBe(1);
  expect(output).toContain(`port ${env.EVM_CHAIN_PORT} (EVM_CHAIN_PORT) is taken by process ${process.pid}`);
  expect(output).not.toContain("Starting");
});

test("a folder that cannot be written is told with what to do about it", async () => {
  const file = join(directory, "a-file");
  await writeFile(file, "");
  for (const folder of [file, join(file, "within")]) {
    const { code, output } = await npmStart([], { ...env, STACK_DATA_DIR: folder }).ended;
    expect(code).toBe(1);
    expect(output).toContain(`'${folder}'\nSet STACK_DATA_DIR to a folder in which you may write.`);
    expect(output).not.toMatch(/^ {4}at /m);
  }
});

test("an unknown option is refused, and every wrong port is named", async () => {
  expect(await npmStart("--frsh").ended).toMatchObject({ code: 1, output: expect.stringContaining("--frsh") });
  const wrong = { ...env, MARKETPLACE_PORT: "eighty", FACILITATOR_PORT: env.EVM_CHAIN_PORT };
  const { code, output } = await npmStart([], wrong).ended;
  expect(code).toBe(1);
  expect(output).toContain("MARKETPLACE_PORT must be");
  expect(output).toContain("FACILITATOR_PORT uses port");
});

// --- parts -------------------------------------------------------------------------------------------------------

const address = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/);
const accountId = expect.stringMatching(/^0\.0\.\d+$/);
const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
const usdc = { hedera: "0.0.429274", evm: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" };
const shape = {
  marketplace: url,
  facilitator: url,
  hedera: { network: "hedera:testnet", nodes: expect.any(Object), mirror: url, usdc: usdc.hedera, feePayer: accountId },
  evm: { network: "eip155:84532", rpc: url, usdc: usdc.evm, feePayer: address },
  demo: {
    apiKey: expect.stringMatching(/^amk_[0-9A-Za-z]{38}$/),
    creator: "ada",
    agents: [
      "ada/summarizer",
      "ada/contact-finder",
      "ada/greeter",
      "ada/exchange-rate",
      "ada/word-count",
      "ada/poster",
      "ada/token-check",
      "ada/approval-list",
    ],
    buyer: {
      hedera: { accountId, privateKey: expect.stringMatching(/^[0-9a-f]{96}$/) },
      evm: { address, privateKey: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    },
  },
};

function npmStart(args: string | readonly string[] = [], environment = env): Command {
  const options = { cwd: project, env: environment, detached: true };
  const command = spawn("npm", ["start", "--", ...[args].flat()], options);
  let output = "";
  for (const stream of [command.stdout, command.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const ended = once(command, "close").then(([code]) => ({ code: code as number | null, output }));
  return { pid: command.pid as number, output: () => output, ended };
}

/** Waits until everything has been printed, or fails with what was printed instead. */
async function startStack(...args: string[]): Promise<Command> {
  const stack = npmStart(args);
  let over = false;
  void stack.ended.then(() => {
    over = true;
  });
  const ready = () => stack.output().includes("Ctrl-C stops everything.");
  while (!ready() && !over) await elapse(50, "until it is looked at again");
  if (!ready()) throw new Error(`the stack did not start:\n${stack.output()}`);
  return stack;
}

async function shell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-c", command], { cwd: project, env });
  return stdout;
}

const readStack = async () => JSON.parse(await readFile(join(directory, "stack.json"), "utf8")) as StackFile;

async function creditsIn({ marketplace, demo }: StackFile): Promise<number> {
  const headers = { authorization: `Bearer ${demo.apiKey}` };
  const response = await fetch(`${marketplace}/api/v1/balance`, { headers });
  return ((await response.json()) as { credits: number }).credits;
}

async function recorded(): Promise<Recorded> {
  const text = await readFile(join(directory, "processes.json"), "utf8").catch(() => '{"parts":[]}');
  return JSON.parse(text) as Recorded;
}

/** The main process first, then each part. */
async function recordedProcesses(): Promise<number[]> {
  const { main, parts } = await recorded();
  return [main, ...parts].flatMap((one) => one?.pid ?? []);
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Command {
  readonly pid: number;
  output(): string;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

interface Recorded {
  readonly main?: { readonly pid: number };
  readonly parts: ReadonlyArray<{ readonly name: string; readonly pid: number }>;
}

interface Demo {
  readonly others: ReadonlyArray<{ readonly agent: string }>;
  readonly byKey: { readonly creditsBefore: number; readonly creditsAfter: number };
  readonly payments: ReadonlyArray<{
    readonly network: string;
    readonly amount: string;
    readonly creatorBefore: string;
    readonly creatorAfter: string;
    readonly see: string;
    readonly page: string;
    readonly again: { readonly status: number };
  }>;
}
