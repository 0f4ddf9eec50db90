import { test as base, expect } from "vitest";
import { elapse } from "../support/elapse.ts";
import {
  type Answer,
  call,
  type Market,
  proveLedger,
  seedMarket,
  startMarketplace,
  until,
} from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { kept, part, perFile } from "../support/part.ts";

const inFlight = 200;
const lastsMs = 15_000;

const test = base
  .extend(
    "postgres",
    perFile,
    part(() => startOwnPostgres({ durable: true })),
  )
  .extend("market", perFile, async ({ postgres }, { onCleanup }) => {
    const databaseUrl = await postgres.createDatabase("marketplace");
    return kept(startMarketplace({ databaseUrl, env: { RUN_LEASE_MS: "3000" } }), onCleanup);
  });

test("two hundred runs in flight, a copy killed again and again, PostgreSQL restarted: no credit is made or lost", async ({
  postgres,
  market,
}) => {
  const seeded = await seedMarket(market.context, { price: 3, balance: 1_000_000, rateLimit: 100_000 });
  market.model.injectFault({ delayMs: 400, times: 1_000_000 });
  const steady = await startProcess(market.environment);
  let doomed = await startProcess(market.environment);
  const endsAt = Date.now() + lastsMs;
  const answered = new Map<string, Answer>();
  const clients = Array.from({ length: inFlight }, async (_, client) => {
    for (let job = 0; Date.now() < endsAt; job += 1) {
      const name = `client ${client} job ${job}`;
      answered.set(name, await insist(seeded, name, (attempt) => ((client + attempt) % 2 ? steady.url : doomed.url)));
    }
  });
  for (let kill = 0; kill < 3; kill += 1) {
    await elapse(2_000, "a copy dies in the middle of its work");
    doomed.child.kill("SIGKILL");
    if (kill === 1) await postgres.restart();
    doomed = await startProcess(market.environment);
  }
  await Promise.all(clients);

  const { db } = market.context;
  await until(async () => (await db.query("select from runs where state = 'running'")).rowCount === 0);
  await proveLedger(market.context);
  // Each request became one run, and its client was told how that run ended.
  const { rows } = await db.query(
    `select idempotency_key as name, id, state, count(*) over (partition by idempotency_key) as runs from runs
     where account_id = $1`,
    [seeded.buyer.id],
  );
  expect(rows.length).toBe(answered.size);
  for (const { name, id, state, runs } of rows) {
    expect(runs).toBe(1n);
    expect(answered.get(name)?.body).toMatchObject({ run_id: id, success: state === "succeeded" });
  }
  expect(rows.filter(({ state }) => state === "succeeded").length).toBeGreaterThan(inFlight);
  expect(rows.filter(({ state }) => state === "lost").length).toBeGreaterThan(0);
  for (const { child } of [steady, doomed]) child.kill("SIGKILL");
});

/** Asks again, of whichever copy, until there is an answer. */
async function insist({ key, agent }: Market, name: string, urlOf: (attempt: number) => string): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await call(urlOf(attempt), "/api/v1/run", {
      key,
      headers: { "idempotency-key": name },
      body: { agent: agent.address, input: { text: "hello" } },
    }).catch((error: Error) => {
      // What contradicts the contract is no failure of the connection.
      if (error.name === "AssertionError") throw error;
      return undefined;
    });
    if (answer?.status === 200) return answer;
    if (answer && answer.status < 500) throw new Error(`${name}: ${answer.status} ${answer.text}`);
    await elapse(100, "until the client asks again");
  }
}
