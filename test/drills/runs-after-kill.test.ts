import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";
import { elapse } from "../support/elapse.ts";
import { marketTest } from "../support/fixtures.ts";
import { balanceOf, call, proveLedger, run, seedMarket, startCopy, until } from "../support/marketplace.ts";
import { marketplaceMain, startProcess } from "../support/marketplace-process.ts";
import { callTool, connectMcp, textOf } from "../support/mcp.ts";

const leaseMs = 4_000;

const test = marketTest({ env: { RUN_LEASE_MS: String(leaseMs) } });

test("a copy killed in the middle of its runs has them refunded exactly once, by the copies that live", async ({
  market,
}) => {
  const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
  const copy = await startCopy(market);
  const doomed = await startProcess(market.environment);
  market.model.injectFault({ delayMs: 600_000, times: 3 });
  const runs = [1, 2, 3].map(() => run({ ...market, url: doomed.url }, seeded.key, seeded.agent.address));
  const failures = Promise.allSettled(runs);
  await until(async () => (await balanceOf(market, seeded.key)).held_credits === 15);
  await elapse(leaseMs * 1.5, "the lease is kept for as long as the process lives");
  expect(await balanceOf(market, seeded.key)).toMatchObject({ credits: 5, held_credits: 15 });

  doomed.child.kill("SIGKILL");
  expect((await failures).every(({ status }) => status === "rejected")).toBe(true);
  await until(async () => (await balanceOf(market, seeded.key)).credits === 20);
  await elapse(leaseMs, "no later look of the copies gives the credits back again");
  expect(await balanceOf(market, seeded.key)).toMatchObject({ credits: 20, held_credits: 0 });
  const { rows } = await market.context.db.query(
    "select kind, count(*) from postings where run_id is not null group by kind order by kind",
  );
  expect(rows).toEqual([
    { kind: "hold", count: 3n },
    { kind: "release", count: 3n },
  ]);
  await proveLedger(market.context);
  await copy.stop();
});

test("a named request repeated after its copy was killed waits for the refund, answers with it, and runs no more", async ({
  market,
}) => {
  const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
  const doomed = await startProcess(market.environment);
  market.model.clearFaults();
  market.model.injectFault({ delayMs: 600_000, times: 1 });
  const named = (url: string) =>
    call(url, "/api/v1/run", {
      key: seeded.key,
      headers: { "idempotency-key": "job" },
      body: { agent: seeded.agent.address, input: { text: "hello" } },
    });
  const before = market.model.asked();
  const first = Promise.allSettled([named(doomed.url)]);
  await until(() => market.model.asked() > before);
  expect((await balanceOf(market, seeded.key)).held_credits).toBe(5);
  doomed.child.kill("SIGKILL");
  expect((await first)[0]?.status).toBe("rejected");
  const asked = market.model.asked();
  const answers = await Promise.all([1, 2, 3].map(() => named(market.url)));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 200, body: { success: false, credits_used: 0, credits_remaining: 20 } });
  for (const { headers } of answers) expect(headers.get("idempotent-replayed")).toBe("true");
  expect(market.model.asked()).toBe(asked);
  expect(await balanceOf(market, seeded.key)).toMatchObject({ credits: 20, held_credits: 0 });
  await proveLedger(market.context);
});

test("a run whose end cannot be written down is told as one whose end is not known, and is refunded", async ({
  market,
}) => {
  const { db } = market.context;
  const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
  market.model.clearFaults();
  market.model.injectFault({ delayMs: 600_000 });
  const named = () =>
    call(market.url, "/api/v1/run", {
      key: seeded.key,
      headers: { "idempotency-key": "unwritten" },
      body: { agent: seeded.agent.address, input: { text: "hello" } },
    });
  const first = named();
  await until(async () => (await balanceOf(market, seeded.key)).held_credits === 5);
  await db.query("alter table postings rename to postings_gone");
  market.model.answerHeld();
  const told = await first.finally(() => db.query("alter table postings_gone rename to postings"));
  expect(told).toMatchObject({
    status: 200,
    body: { success: false, credits_used: 0, credits_remaining: 15, error: expect.stringContaining("not known yet") },
  });
  expect((await named()).body).toMatchObject({ success: false, run_id: told.body.run_id, credits_remaining: 20 });
  await proveLedger(market.context);
});

test("a drawing whose end cannot be written down is told over MCP as maybe charged, to be repeated by its name alone", async ({
  market,
}) => {
  const { db } = market.context;
  const { key } = await seedMarket(market.context, { balance: 20 });
  market.model.poseAsModel(true);
  market.model.clearFaults();
  market.model.injectFault({ delayMs: 600_000 });
  const client = await connectMcp(market.url, key);
  const drawn = callTool(client, "svg_generate", { prompt: "A fox" });
  await until(async () => (await balanceOf(market, key)).held_credits === 3);
  await db.query("alter table postings rename to postings_gone");
  market.model.answerHeld();
  const told = await drawn.finally(() => db.query("alter table postings_gone rename to postings"));
  expect(told).toMatchObject({ isError: true, _meta: { charged: "unknown", retry_after_seconds: 30 } });
  expect(told._meta).not.toHaveProperty("credits_used");
  expect(textOf(told)).toContain(`tell the user to look at the run ${told._meta?.run_id} among their runs`);
  expect(textOf(told)).not.toContain("Call again later");
  await client.close();
  market.model.poseAsModel(false);
  await until(async () => (await balanceOf(market, key)).credits === 20);
  await proveLedger(market.context);
});

test("SIGTERM lets a running agent finish and its caller get the answer", async ({ market }) => {
  const seeded = await seedMarket(market.context, { price: 5, balance: 5 });
  const leaving = await startProcess(market.environment);
  market.model.clearFaults();
  market.model.injectFault({ delayMs: 600_000 });
  const answer = run({ ...market, url: leaving.url }, seeded.key, seeded.agent.address);
  await until(async () => (await balanceOf(market, seeded.key)).held_credits === 5);
  const gone = once(leaving.child, "exit");
  leaving.child.kill("SIGTERM");
  market.model.answerHeld();
  expect((await answer).body).toMatchObject({ success: true, credits_used: 5 });
  expect(await gone).toEqual([0, null]);
  await proveLedger(market.context);
});

test("SIGTERM waits for a run whose caller has left", async ({ market }) => {
  const seeded = await seedMarket(market.context, { price: 5, balance: 5 });
  const leaving = await startProcess(market.environment);
  market.model.clearFaults();
  market.model.injectFault({ delayMs: 600_000 });
  const caller = new AbortController();
  const answer = fetch(`${leaving.url}/api/v1/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${seeded.key}` },
    body: JSON.stringify({ agent: seeded.agent.address, input: { text: "hello" } }),
    signal: caller.signal,
  }).catch(() => "left");
  await until(async () => (await balanceOf(market, seeded.key)).held_credits === 5);
  caller.abort();
  expect(await answer).toBe("left");
  const gone = once(leaving.child, "exit");
  leaving.child.kill("SIGTERM");
  market.model.answerHeld();
  expect(await gone).toEqual([0, null]);
  expect(await balanceOf(market, seeded.key)).toMatchObject({ credits: 0, held_credits: 0 });
  await proveLedger(market.context);
});

test("a process that cannot start says everything that is wrong and exits 1", async () => {
  const child = spawn(process.execPath, [marketplaceMain], {
    env: {
      PATH: process.env.PATH,
      MARKETPLACE_PORT: "many",
      PLATFORM_FEE_BASIS_POINTS: "10000",
      LOG_LEVEL: "loud",
      TRUST_PROXY: "banana",
      OUTBOUND_ALLOW_HOSTS: "nohost",
      MARKETPLACE_SEALING_KEY: "short",
    },
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  expect(await once(child, "exit")).toEqual([1, null]);
  for (const name of [
    "MARKETPLACE_DATABASE_URL",
    "MARKETPLACE_PORT",
    "FACILITATOR_URL",
    "LLM_BASE_URL",
    "PLATFORM_FEE_BASIS_POINTS",
    "LOG_LEVEL",
    "TRUST_PROXY",
    "OUTBOUND_ALLOW_HOSTS",
    "MARKETPLACE_SEALING_KEY",
  ]) {
    expect(said).toContain(name);
  }
});
