import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { freePort } from "../../infra/free-port.ts";
import { compiled } from "../support/compiled.ts";
import { type EvmSetting, evmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { callsTo } from "../support/facilitator.ts";

let setting: EvmSetting;
let silent: Awaited<ReturnType<typeof startSilent>>;
const children: ChildProcess[] = [];
beforeAll(async () => {
  [setting, silent] = await Promise.all([evmSetting({ LOG_LEVEL: "error" }), startSilent()]);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  silent?.stop();
  await setting?.stop();
});

/** Takes connections and never says a word: a node or a database that hangs. */
async function startSilent() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    address: `127.0.0.1:${port}`,
    connections: () => sockets.size,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** The facilitator as it is deployed, from the moment it is started. */
async function spawnService(variables: Record<string, string>) {
  const port = await freePort();
  const main = compiled(new URL("../../facilitator/main.ts", import.meta.url));
  const env = { PATH: process.env.PATH, ...setting.variables, ...variables, FACILITATOR_PORT: String(port) };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  const calls = callsTo(`http://127.0.0.1:${port}`);
  const statusOf = (path: string) =>
    calls.get(path).then(
      ({ status }) => status,
      () => 0,
    );
  return { child, calls, statusOf };
}

test("a copy that is told to stop says so and serves on until balancers have noticed, or a second signal comes", async () => {
  const { child, calls, statusOf } = await spawnService({ DRAIN_MS: "60000" });
  await expect.poll(() => statusOf("/readyz")).toBe(200);
  const payment = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await expect.poll(() => statusOf("/readyz")).toBe(503);
  expect(await calls.get("/readyz")).toMatchObject({
    status: 503,
    body: { ready: false, database: true, leaving: true },
  });
  const settled = await calls.settle(payment);
  expect(settled).toMatchObject({ status: 200, body: { success: true } });
  expect(settled.headers.get("connection")).toBe("close");
  child.kill("SIGTERM");
  expect(await gone).toEqual([0, null]);
});

test("a copy waits for no chain: it is alive at once, not ready, and ends when it is told to", async () => {
  const { child, statusOf } = await spawnService({
    EIP155_84532_RPC_URL: `http://${silent.address}`,
    EIP155_84532_RPC_TIMEOUT_MS: "30000",
  });
  await expect.poll(() => statusOf("/livez")).toBe(200);
  await expect.poll(() => silent.connections()).toBeGreaterThan(0);
  expect(await statusOf("/readyz")).toBe(503);
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  expect(await gone).toEqual([0, null]);
});

test("SIGTERM ends a start that waits for its database", async () => {
  const before = silent.connections();
  const { child } = await spawnService({ FACILITATOR_DATABASE_URL: `postgres://a@${silent.address}/a` });
  await expect.poll(() => silent.connections()).toBeGreaterThan(before);
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  expect(await gone).toEqual([0, null]);
});

test("a network that is configured wrongly ends a copy that has begun to listen, saying why", async () => {
  const { child } = await spawnService({ EIP155_84532_ASSETS: "0x000000000000000000000000000000000000dEaD" });
  expect(await once(child, "exit")).toEqual([1, null]);
});
