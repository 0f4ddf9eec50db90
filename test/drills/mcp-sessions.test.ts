import { expect } from "vitest";
import { marketTest } from "../support/fixtures.ts";
import {
  balanceOf,
  call,
  proveLedger,
  seedMarket,
  startCopy,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { callTool, connectBuyer, postMessage, rpc } from "../support/mcp.ts";

const leaseMs = 4_000;
const test = marketTest({ env: { RUN_LEASE_MS: String(leaseMs) } });
test.afterAll(async ({ market }) => {
  await proveLedger(market.context);
});

const countRuns = async (market: TestMarketplace, accountId: string) => {
  const { rows } = await market.context.db.query(
    "select state, count(*)::integer from runs where account_id = $1 group by state",
    [accountId],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

test("of 200 sessions at once half leave in mid-run: no run is lost and none is without an end", async ({ market }) => {
  const seeded = await seedMarket(market.context, { price: 1, balance: 1_000 });
  const { key, tool } = await connectBuyer(market, seeded);
  const ask = (signal?: AbortSignal) =>
    fetch(`${market.url}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(rpc("tools/call", { name: tool, arguments: { text: "hello" } })),
      ...(signal ? { signal } : {}),
    }).then((response) => response.text());
  market.model.injectFault({ delayMs: 60_000, times: 200 });
  const leaving = new AbortController();
  const sessions = Array.from({ length: 200 }, (_, n) =>
    ask(n % 2 === 0 ? leaving.signal : undefined).catch(() => "left"),
  );
  await until(async () => (await countRuns(market, seeded.buyer.id)).running === 200);
  leaving.abort();
  // They have left before anything is answered.
  await Promise.all(sessions.filter((_, n) => n % 2 === 0));
  market.model.clearFaults();
  market.model.answerHeld();
  const answers = await Promise.all(sessions);
  expect(answers.filter((answer) => answer === "left").length).toBe(100);
  expect(answers.filter((answer) => answer.includes('"credits_used":1')).length).toBe(100);
  await until(async () => (await countRuns(market, seeded.buyer.id)).succeeded === 200);
  expect(await balanceOf(market, key)).toMatchObject({ credits: 800, held_credits: 0 });
});

test("a copy killed in the middle of a tool's run has it refunded, and the history says so", async ({ market }) => {
  const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
  const doomed = await startProcess(market.environment);
  const { client, key, tool } = await connectBuyer({ ...market, url: doomed.url }, seeded);
  market.model.injectFault({ delayMs: 60_000 });
  const answer = callTool(client, tool, { text: "hello" }, { idempotency_key: "job" }).catch(() => "cut off");
  await until(async () => (await balanceOf(market, key)).held_credits === 5);
  doomed.child.kill("SIGKILL");
  await until(async () => (await balanceOf(market, key)).credits === 20);
  const { body } = await call(market.url, "/api/v1/runs", { key });
  expect(body.runs).toMatchObject([{ state: "lost", credits_used: 0, credits_remaining: 20 }]);
  const again = await postMessage(
    market.url,
    key,
    rpc("tools/call", { name: tool, arguments: { text: "hello" }, _meta: { idempotency_key: "job" } }),
  );
  expect(await again.text()).toContain(body.runs[0].run_id);
  await client.close();
  await answer;
});

test("a stop lets the tool that runs finish and its caller get the answer", async ({ market }) => {
  const copy = await startCopy(market);
  const seeded = await seedMarket(copy.context);
  const { client, tool } = await connectBuyer(copy, seeded);
  market.model.clearFaults();
  market.model.answerHeld();
  const before = market.model.asked();
  market.model.injectFault({ delayMs: 600_000 });
  const answer = callTool(client, tool, { text: "hello" });
  await until(() => market.model.asked() > before);
  const stopped = copy.stop();
  market.model.answerHeld();
  expect((await answer)._meta).toMatchObject({ credits_used: 5 });
  await client.close();
  await stopped;
});
