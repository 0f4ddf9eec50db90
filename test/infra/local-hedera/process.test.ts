import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startLocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { compiled } from "../../support/compiled.ts";
import { eventually } from "./sdk.ts";

const children: ChildProcess[] = [];
const servers: Server[] = [];
const directories: string[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

const freePorts = { LOCAL_HEDERA_NODE_PORTS: "0,0", LOCAL_HEDERA_MIRROR_PORT: "0", LOCAL_HEDERA_ADMIN_PORT: "0" };

/** Runs the ledger as a process until it is ready or gone. */
const runLedger = async (variables: Record<string, string>) => {
  const child = spawn(process.execPath, [compiled(new URL("../../../infra/local-hedera/main.ts", import.meta.url))], {
    env: { PATH: process.env.PATH, ...freePorts, ...variables },
  });
  children.push(child);
  let [output, errors] = ["", ""];
  child.stdout.on("data", (text) => {
    output += text;
  });
  child.stderr.on("data", (text) => {
    errors += text;
  });
  await expect.poll(() => output.includes("\n") || child.exitCode !== null).toBe(true);
  const [, json] = /^local-hedera ready (.+)$/m.exec(output) ?? [];
  return { child, errors: () => errors, ready: json === undefined ? undefined : JSON.parse(json) };
};

const stop = async (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> => {
  const gone = once(child, "exit");
  child.kill(signal);
  return (await gone)[0] as number | null;
};

const takenPort = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return String((server.address() as AddressInfo).port);
};

const post = (url: string, body: object) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

const buyersHbar = async (mirror: string): Promise<number> =>
  ((await (await fetch(`${mirror}/api/v1/accounts/0.0.1003`)).json()) as { balance: { balance: number } }).balance
    .balance;

describe("the ledger as a process", () => {
  it("says in one line where it listens, and ends cleanly on SIGTERM", async () => {
    const { child, ready } = await runLedger({});
    expect(Object.values(ready.nodes)).toEqual(["0.0.3", "0.0.4"]);
    expect(ready).toMatchObject({
      network: "hedera:testnet",
      usdc: "0.0.429274",
      accounts: { buyer: { accountId: "0.0.1003" } },
    });
    expect((await fetch(`${ready.mirror}/api/v1/network/nodes`)).status).toBe(200);
    expect((await fetch(ready.admin)).status).toBe(200);
    expect(await stop(child, "SIGTERM")).toBe(0);
  });

  it.each(["LOCAL_HEDERA_NODE_PORTS", "LOCAL_HEDERA_MIRROR_PORT", "LOCAL_HEDERA_ADMIN_PORT"])(
    "says which port is taken and that %s sets it, and exits with 1",
    async (variable) => {
      const port = await takenPort();
      const { child, errors } = await runLedger({ [variable]: port });
      if (child.exitCode === null) await once(child, "exit");
      expect(child.exitCode).toBe(1);
      expect(errors()).toContain(`127.0.0.1:${port}`);
      expect(errors()).toContain(variable);
    },
  );

  it.each([
    ["LOCAL_HEDERA_NODE_PORTS", "50211,x"],
    ["LOCAL_HEDERA_MIRROR_PORT", "70000"],
    ["LOCAL_HEDERA_NODE_PORTS", "50212"],
  ])("refuses %s=%s with a message naming it", async (variable, value) => {
    const { child, errors } = await runLedger({ [variable]: value });
    if (child.exitCode === null) await once(child, "exit");
    expect(child.exitCode).toBe(1);
    expect(errors()).toMatch(/LOCAL_HEDERA_|nodePorts/);
    expect(errors()).toContain(value.replace("50211,", ""));
  });

  it("goes on after a stop with the state it had", async () => {
    const directory = mkdtempSync(join(tmpdir(), "local-hedera-"));
    directories.push(directory);
    const variables = { LOCAL_HEDERA_STATE_FILE: join(directory, "state.json") };
    const first = await runLedger(variables);
    await post(`${first.ready.admin}/faucet`, { account: "0.0.1003", hbar: 5 });
    expect(await stop(first.child, "SIGTERM")).toBe(0);
    const second = await runLedger(variables);
    expect(await buyersHbar(second.ready.mirror)).toBe(10_500_000_000);
  });

  it("goes on after kill -9 in the midst of changes, with a state it had at some time", async () => {
    const directory = mkdtempSync(join(tmpdir(), "local-hedera-"));
    directories.push(directory);
    const variables = { LOCAL_HEDERA_STATE_FILE: join(directory, "state.json") };
    const first = await runLedger(variables);
    const saved = () => readFileSync(variables.LOCAL_HEDERA_STATE_FILE, "utf8");
    await eventually(() => existsSync(variables.LOCAL_HEDERA_STATE_FILE)).toBe(true);
    const start = saved();
    let given = 0;
    const giving = (async () => {
      while ((await post(`${first.ready.admin}/faucet`, { account: "0.0.1003", hbar: 1 })).ok) given++;
    })().catch(() => {});
    await eventually(saved).not.toBe(start);
    await stop(first.child, "SIGKILL");
    await giving;
    const second = await runLedger(variables);
    const kept = (await buyersHbar(second.ready.mirror)) / 1e8 - 100;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThanOrEqual(given + 1);
    expect(readdirSync(directory).filter((name) => name !== "state.json" && name !== "state.json.half")).toEqual([]);
  });
});

describe("a local Hedera", () => {
  it.each(["hedera:mainnet", "mainnet", "hedera:MainNet-beta"])("refuses to call itself %s", async (network) => {
    await expect(startLocalHedera({ network })).rejects.toThrow(`a local Hedera never calls itself ${network}`);
  });

  it("refuses networks it does not imitate, no nodes at all, and the port on which the SDK speaks TLS", async () => {
    await expect(startLocalHedera({ network: "hedera:previewnet" })).rejects.toThrow("network: hedera:previewnet");
    await expect(startLocalHedera({ nodePorts: [] })).rejects.toThrow("nodePorts: at least one");
    await expect(startLocalHedera({ nodePorts: [50_212] })).rejects.toThrow("nodePorts: on port 50212");
  });

  it("leaves nothing listening when one of its ports is taken", async () => {
    const [nodePort, taken] = [await takenPort(), await takenPort()].map(Number);
    await new Promise((resolve) => servers.shift()!.close(resolve));
    await expect(startLocalHedera({ nodePorts: [nodePort!], mirrorPort: taken! })).rejects.toThrow(
      `mirrorPort: cannot listen on 127.0.0.1:${taken}`,
    );
    const again = await startLocalHedera({ nodePorts: [nodePort!] });
    await again.close();
  });

  it("listens on loopback only", async () => {
    const ledger = await startLocalHedera({});
    for (const address of [...Object.keys(ledger.nodes), ledger.mirrorUrl, ledger.adminUrl])
      expect(address).toMatch(/^(http:\/\/)?127\.0\.0\.1:/);
    const port = new URL(ledger.mirrorUrl).port;
    const { networkInterfaces } = await import("node:os");
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4");
    for (const { address } of others) await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow();
    await ledger.close();
  });

  it("gives the same ids and keys at every start, no key to two accounts", async () => {
    const [one, other] = [await startLocalHedera({}), await startLocalHedera({})];
    expect(one.accounts).toEqual(other.accounts);
    const keys = Object.values(one.accounts).map(({ publicKey }) => publicKey);
    expect(new Set(keys).size).toBe(keys.length);
    await one.close();
    await other.close();
  });
});
