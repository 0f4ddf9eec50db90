import { findAgents } from "../../../marketplace/agents/find.ts";
import { admitCalls } from "../../../marketplace/api-keys/authenticate.ts";
import { digestOf } from "../../../marketplace/api-keys/token.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { capture, hold } from "../../../marketplace/credits/holds.ts";
import { newId } from "../../../marketplace/ids.ts";
import type { Database } from "../../../shared/postgres.ts";
import { type Figures, measure, median } from "../load.ts";
import { printTable } from "../table.ts";
import { caller, type Seeded, type Setting, seedBench } from "./setting.ts";

const inFlight = 32;
const rounds = 5;

/** Runs with a connector that answers at once beside the same SQL sent bare; the balance beside a bare route. */
export async function benchRuns(setting: Setting): Promise<void> {
  const { url, db } = await setting.database("runs");
  const seeded = await seedBench(db);
  // The bench asks more often than a key may.
  await db.query("alter table api_keys drop constraint api_keys_rate_limit_per_minute_check");
  await db.query("update api_keys set rate_limit_per_minute = 100000000");
  await db.query("alter table accounts drop constraint accounts_calls_per_minute_max_check");
  await db.query("update accounts set calls_per_minute_max = 100000000");
  const service = caller(await setting.service(url), seeded.key.token, inFlight);
  const bare = caller(await setting.bareExpress(), seeded.key.token, inFlight);
  const body = JSON.stringify({ agent: seeded.agent.address, input: { text: "hello" } });
  const run = () => service.post("/api/v1/run", body);
  const sql = () => sameSql(db, seeded);
  const runs = await turnByTurn(run, sql, 2_000, inFlight);
  const balance = await turnByTurn(
    () => service.get("/api/v1/balance"),
    () => bare.get("/api/v1/balance"),
    5_000,
    inFlight,
  );
  printTable("Marketplace, one process, durable PostgreSQL", [
    { what: "POST /run, instant connector", inFlight, ...runs, peerName: "the same SQL, bare pg", wanted: 0.4 },
    { what: "GET /balance", inFlight, ...balance, peerName: "bare Express route", wanted: 0.5 },
  ]);
  await Promise.all([service.close(), bare.close()]);
}

/** What a run sends to PostgreSQL: the key, the agent, the hold and the capture. */
async function sameSql(db: Database, { buyer, creator, key, agent }: Seeded): Promise<boolean> {
  await admitCalls(db, [digestOf(key.token).toString("hex")]);
  await findAgents(db, [agent.address]);
  const id = newId("run");
  const price = credits(5n);
  const run = { agentId: agent.agentId, agentVersion: agent.version, priceCredits: price, leaseMs: 60_000 };
  await hold(db, { id, accountId: buyer.id, key: { id: key.id }, ...run });
  const outputJson = JSON.stringify({ kind: "text", text: "at once" });
  const { endedHere } = await capture(db, { id, creatorId: creator.id, fee: credits(0n), outputJson });
  return endedHere;
}

async function turnByTurn(
  ours: () => Promise<boolean>,
  peer: () => Promise<boolean>,
  count: number,
  concurrency: number,
): Promise<{ ours: Figures; peer: Figures }> {
  const figures = { ours: [] as Figures[], peer: [] as Figures[] };
  await measure(Array(Math.floor(count / 4)).fill(ours), concurrency);
  await measure(Array(Math.floor(count / 4)).fill(peer), concurrency);
  for (let round = 0; round < rounds; round += 1) {
    figures.ours.push(await measure(Array(count).fill(ours), concurrency));
    figures.peer.push(await measure(Array(count).fill(peer), concurrency));
  }
  return { ours: median(figures.ours), peer: median(figures.peer) };
}
