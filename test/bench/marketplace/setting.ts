import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { Pool } from "undici";
import { startPostgres } from "../../../infra/dev/postgres.ts";
import { createAccount } from "../../../marketplace/accounts/create.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { setCallCeiling } from "../../../marketplace/api-keys/ceiling.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { createEvents } from "../../../marketplace/events.ts";
import { Metrics } from "../../../marketplace/metrics.ts";
import { migrations } from "../../../marketplace/migrations/all.ts";
import { readModelList } from "../../../marketplace/models/model-list.ts";
import { createSealer } from "../../../marketplace/sealing.ts";
import { EnvReader } from "../../../shared/env.ts";
import { migrate } from "../../../shared/migrate.ts";
import { createOutbound } from "../../../shared/outbound.ts";
import { connect, type Database } from "../../../shared/postgres.ts";
import { startChild } from "../child.ts";

/** A durable PostgreSQL, and marketplaces on it, each on a database and in a process of its own. */
export async function startSetting(): Promise<Setting> {
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const postgres = await startPostgres({ directory: join(directory, "postgres"), durable: true });
  const stops: Array<() => Promise<unknown>> = [];
  return {
    createDatabase: (name) => postgres.createDatabase(name),
    database: async (name) => {
      const url = await postgres.createDatabase(name);
      await migrate(url, migrations);
      const db = connect(url, { poolMax: 16, applicationName: "bench" });
      stops.push(() => db.end());
      return { url, db };
    },
    service: async (databaseUrl, facilitatorUrl, more = {}) => {
      const service = await startChild(
        "./marketplace/instant.ts",
        "MARKETPLACE_PORT",
        { ...variablesOf(databaseUrl, facilitatorUrl), ...more },
        "/health",
      );
      stops.push(() => service.stop());
      return service.url;
    },
    bareExpress: async () => {
      const service = await startChild("./marketplace/bare-express.ts", "PEER_PORT", {}, "/health");
      stops.push(() => service.stop());
      return service.url;
    },
    stop: async () => {
      for (const stop of stops.toReversed()) await stop();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A creator with one agent, and a buyer with a key and more credits than a bench can spend. */
export async function seedBench(db: Database, priceCredits = 5): Promise<Seeded> {
  const creator = await createAccount(db, { handle: "bench-creator" });
  const buyer = await createAccount(db, { handle: "buyer" });
  await grant(db, { accountId: buyer.id, credits: credits(1_000_000_000n) });
  await setCallCeiling(db, buyer.id, 100_000);
  const key = await createKey(db, { accountId: buyer.id, name: "bench", rateLimitPerMinute: 100_000 });
  const outbound = createOutbound({});
  const modelList = readModelList(new EnvReader({ LLM_MODELS: "gpt-4o-mini=0:4000:40000" }));
  const needs = {
    db,
    events: createEvents(pino({ level: "silent" }), new Metrics()),
    sealer: createSealer([]),
    tools: { outbound, modelList },
  };
  const agent = await publishAgent(needs as unknown as Parameters<typeof publishAgent>[0], creator, "instant", {
    name: "Instant",
    description: "Answers at once.",
    connector: "llm",
    price_credits: priceCredits,
    fields: [{ name: "text", type: "text", required: true }],
    settings: { prompt: "{{text}}" },
  });
  await outbound.stop();
  return { creator, buyer, key, agent };
}

/** Requests over kept-alive connections with the key; true for a 200. */
export function caller(origin: string, token: string, connections: number) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return {
    get: async (path: string): Promise<boolean> => {
      const { statusCode, body } = await pool.request({ method: "GET", path, headers });
      await body.dump();
      return statusCode === 200;
    },
    post: async (path: string, sent: string): Promise<boolean> => {
      const { statusCode, body } = await pool.request({ method: "POST", path, headers, body: sent });
      await body.dump();
      return statusCode === 200;
    },
    close: () => pool.close(),
  };
}

export interface Setting {
  /** An empty one. */
  createDatabase(name: string): Promise<string>;
  database(name: string): Promise<{ url: string; db: Database }>;
  service(databaseUrl: string, facilitatorUrl?: string, more?: Record<string, string>): Promise<string>;
  bareExpress(): Promise<string>;
  stop(): Promise<void>;
}

export interface Seeded {
  readonly creator: Awaited<ReturnType<typeof createAccount>>;
  readonly buyer: Awaited<ReturnType<typeof createAccount>>;
  readonly key: Awaited<ReturnType<typeof createKey>>;
  readonly agent: Awaited<ReturnType<typeof publishAgent>>;
}

function variablesOf(databaseUrl: string, facilitatorUrl = "http://127.0.0.1:1"): Record<string, string> {
  return {
    LOG_LEVEL: "error",
    MARKETPLACE_MIGRATE: "on",
    MARKETPLACE_DATABASE_URL: databaseUrl,
    FACILITATOR_URL: facilitatorUrl,
    // All callers of a bench have one address.
    LIMIT_PUBLIC_PER_ADDRESS: "0",
    LLM_BASE_URL: "http://127.0.0.1:1",
    LLM_MODELS: "gpt-4o-mini=0:4000:40000",
  };
}
