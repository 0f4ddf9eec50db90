import { type ChildProcess, fork } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { freePort } from "../../infra/free-port.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { Database } from "../../shared/postgres.ts";
import { type Figures, measure, median } from "./load.ts";
import { type Seeded, seedBench, startSetting } from "./marketplace/setting.ts";
import { printTable } from "./table.ts";

const agentsInScope = 1_000;
const inFlight = 32;
const rounds = 5;

/** The tool server beside the REST API of the same process, and what sessions that come and go leave in its memory. */
export async function benchMcp(): Promise<void> {
  const setting = await startSetting();
  try {
    const { url: databaseUrl, db } = await setting.database("mcp");
    const seeded = await seedBench(db);
    await addAgents(db, seeded);
    const { token } = await createKey(db, { accountId: seeded.creator.id, name: "own" });
    await grant(db, { accountId: seeded.creator.id, credits: credits(1_000_000_000n) });
    await db.query("alter table api_keys drop constraint api_keys_rate_limit_per_minute_check");
    await db.query("alter table accounts drop constraint accounts_calls_per_minute_max_check");
    await db.query("update api_keys set rate_limit_per_minute = 100000000");
    await db.query("update accounts set calls_per_minute_max = 100000000");
    await db.query("vacuum analyze");
    const service = await startService(databaseUrl);
    try {
      await benchDoors(service.url, token, seeded);
      await benchMemory(service, token, seeded);
    } finally {
      await service.stop();
    }
  } finally {
    await setting.stop();
  }
}

async function benchDoors(url: string, token: string, { creator, agent }: Seeded): Promise<void> {
  const pool = new Pool(url, { connections: inFlight, pipelining: 1 });
  const ask = asker(pool, token);
  const tool = agent.address.replace("/", "--");
  const rest = JSON.stringify({ agent: agent.address, input: { text: "hello" } });
  const doors = {
    call: await turnByTurn(
      () =>
        ask(
          "POST",
          "/api/mcp",
          message("tools/call", { name: tool, arguments: { text: "hello" } }),
          '"credits_used":5',
        ),
      () => ask("POST", "/api/v1/run", rest, '"credits_used":5'),
      1_500,
    ),
    list: await turnByTurn(
      () => ask("POST", "/api/mcp", message("tools/list", {}), '"nextCursor"'),
      () => ask("GET", `/api/v1/agents?creator=${creator.handle}&limit=50`, undefined, '"total"'),
      300,
    ),
  };
  printTable(`Tool server, one process, ${agentsInScope} agents in scope`, [
    { what: "tools/call, instant agent", inFlight, ...doors.call, peerName: "POST /run", wanted: 0.6 },
  ]);
  const { ours, peer } = doors.list;
  const ratio = (ours.perSecond / peer.perSecond).toFixed(2);
  process.stdout.write(
    `tools/list, a page of 50 with schemas: ${ours.perSecond.toFixed(0)}/s p50 ${ours.p50Ms.toFixed(1)} ms ` +
      `${ours.succeeded}/${ours.calls}; GET /agents, a page of 50 without: ${peer.perSecond.toFixed(0)}/s ` +
      `p50 ${peer.p50Ms.toFixed(1)} ms ${peer.succeeded}/${peer.calls}; ${ratio}×\n`,
  );
  await pool.close();
}

/** Rounds of 200 sessions, half of which leave in mid-run; after each the heap, collected. */
async function benchMemory(service: Service, token: string, { agent }: Seeded): Promise<void> {
  const sessions = 200;
  const body = message("tools/call", { name: agent.address.replace("/", "--"), arguments: { text: "300" } });
  const heaps: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const pool = new Pool(service.url, { connections: sessions, pipelining: 1 });
    const ask = asker(pool, token);
    const leaving = new AbortController();
    setMaxListeners(sessions, leaving.signal);
    const asked = Array.from({ length: sessions }, (_, n) =>
      ask("POST", "/api/mcp", body, '"credits_used":5', n % 2 === 0 ? leaving.signal : undefined).catch(() => false),
    );
    setTimeout(() => leaving.abort(), 250);
    await Promise.all(asked);
    await pool.close();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    heaps.push((await service.memory()).heapUsed / 1_048_576);
  }
  const told = heaps.map((megabytes) => megabytes.toFixed(1)).join("  ");
  process.stdout.write(`\nHeap in MB after each round of ${sessions} sessions, half of them left: ${told}\n`);
}

function asker(pool: Pool, token: string) {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return async (
    method: "GET" | "POST",
    path: string,
    sent: string | undefined,
    holds: string,
    signal?: AbortSignal,
  ) => {
    const { statusCode, body } = await pool.request({
      method,
      path,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
      ...(signal ? { signal } : {}),
    });
    return (await body.text()).includes(holds) && statusCode === 200;
  };
}

function message(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

async function turnByTurn(ours: () => Promise<boolean>, peer: () => Promise<boolean>, count: number) {
  const figures = { ours: [] as Figures[], peer: [] as Figures[] };
  for (const ask of [ours, peer]) await measure(Array(Math.floor(count / 4)).fill(ask), inFlight);
  for (let round = 0; round < rounds; round += 1) {
    figures.ours.push(await measure(Array(count).fill(ours), inFlight));
    figures.peer.push(await measure(Array(count).fill(peer), inFlight));
  }
  return { ours: median(figures.ours), peer: median(figures.peer) };
}

/** The creator's further agents, each with three fields. */
async function addAgents(db: Database, { creator }: Seeded): Promise<void> {
  const fields = JSON.stringify([
    { name: "text", type: "text", required: true, description: "What it is about." },
    { name: "tone", type: "choice", required: false, choices: ["plain", "warm", "formal"], default: "plain" },
    { name: "words", type: "integer", required: false, min: 1, max: 500 },
  ]);
  await db.query(
    `insert into agents (id, account_id, handle, slug, tool_name)
     select 'agt_' || n, $1, $2, 'agent-' || n, $2 || '--agent-' || n from generate_series(2, $3::integer) n`,
    [creator.id, creator.handle, agentsInScope],
  );
  await db.query(
    `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
       accepts_extra_instructions, output_kind, settings, search)
     select 'agt_' || n, 1, 'Agent ' || n, 'Does one of many things, and says what it did.', 'llm', 5, $1, true, 'text',
       '{"prompt":"x"}', to_tsvector('simple', 'Agent')
     from generate_series(2, $2::integer) n`,
    [fields, agentsInScope],
  );
  await db.query("update agents set state = 'live', live_version = 1 where live_version is null and account_id = $1", [
    creator.id,
  ]);
}

interface Service {
  readonly url: string;
  memory(): Promise<NodeJS.MemoryUsage>;
  stop(): Promise<void>;
}

async function startService(databaseUrl: string): Promise<Service> {
  const port = await freePort();
  const child: ChildProcess = fork(fileURLToPath(new URL("./mcp/service.ts", import.meta.url)), {
    execArgv: ["--import", "tsx", "--expose-gc"],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: "production",
      LOG_LEVEL: "error",
      MARKETPLACE_PORT: String(port),
      MARKETPLACE_MIGRATE: "on",
      MARKETPLACE_DATABASE_URL: databaseUrl,
      FACILITATOR_URL: "http://127.0.0.1:1",
      LLM_BASE_URL: "http://127.0.0.1:1",
      LLM_MODELS: "gpt-4o-mini=0:4000:40000",
    },
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/health`).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error("the service did not start");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    memory: async () => {
      child.send("memory");
      const [usage] = await once(child, "message");
      return usage as NodeJS.MemoryUsage;
    },
    stop: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}
