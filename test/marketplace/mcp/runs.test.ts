import { describe, expect, vi } from "vitest";
import { reportWaiting } from "../../../marketplace/mcp/progress.ts";
import { marketTest } from "../../support/fixtures.ts";
import {
  balanceOf,
  call,
  proveLedger,
  run,
  seedMarket,
  type TestMarketplace,
  until,
} from "../../support/marketplace.ts";
import { callTool, connectBuyer, postMessage, rpc, textOf } from "../../support/mcp.ts";
import { perFile } from "../../support/part.ts";

const test = marketTest().extend("options", perFile, ({ directory }) => ({ env: { FILES_DIR: directory } }));
test.afterAll(({ market }) => proveLedger(market.context));

test.afterEach(({ market }) => market.model.clearFaults());

const seed = async (market: TestMarketplace, more: Parameters<typeof seedMarket>[1] = {}, key: object = {}) => {
  const seeded = await seedMarket(market.context, more);
  return { ...seeded, ...(await connectBuyer(market, seeded, key)) };
};
const historyOf = async (market: TestMarketplace, key: string) =>
  (await call(market.url, "/api/v1/runs", { key })).body.runs;

describe("a run through a tool", () => {
  test("is the run of the REST API: same charge, same history, same answer", async ({ market }) => {
    const { client, tool, key, agent } = await seed(market);
    const answer = await callTool(client, tool, { text: "hello", undeclared: 1 });
    const rest = (await run(market, key, agent.address)).body;
    expect(answer.isError).toBeUndefined();
    expect(answer.content).toEqual([{ type: "text", text: rest.output.text }]);
    expect(answer._meta).toEqual({
      run_id: expect.stringMatching(/^run_/),
      credits_used: 5,
      credits_remaining: 95,
      receipt: null,
      stand_in: true,
    });
    const [second, first] = await historyOf(market, key);
    expect(first).toMatchObject({ run_id: answer._meta?.run_id, state: "succeeded", credits_used: 5 });
    expect(Object.keys(first)).toEqual(Object.keys(second));
  });

  test("answers JSON as it is and as text", async ({ market }) => {
    const { client, tool } = await seed(market, { agent: { settings: { prompt: "{{text}}", format: "json" } } });
    const { structuredContent, content } = await callTool(client, tool, { text: "hello" });
    expect(structuredContent).toMatchObject({ made_without_a_model: true });
    expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }]);
  });

  test("answers images as links to this service", async ({ market }) => {
    const { client, tool } = await seed(market, {
      agent: { connector: "image-generator", settings: { prompt: "{{text}}" } },
    });
    const { content } = await callTool(client, tool, { text: "a boat" });
    const link = content.find(({ type }) => type === "resource_link") as { uri: string; name: string };
    expect(link).toMatchObject({ mimeType: "image/png", name: expect.stringMatching(/^[0-9a-f]{64}\.png$/) });
    expect(link.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/files\//);
    expect(textOf({ content })).toContain(link.uri);
    expect((await fetch(market.url + new URL(link.uri).pathname)).status).toBe(200);
  });

  test("answers what was written to a ledger with its receipt", async ({ market }) => {
    const { client, tool } = await seed(market);
    const meta = { idempotency_key: "written" };
    const { _meta } = await callTool(client, tool, { text: "hello" }, meta);
    const output = { kind: "receipt", status: "SUCCESS", transactionId: "0.0.2@1.2" };
    const receipt = { topicId: "0.0.9", sequence: 1 };
    await market.context.db.query("update runs set output = $2, receipt = $3 where id = $1", [
      _meta?.run_id,
      JSON.stringify(output),
      JSON.stringify(receipt),
    ]);
    const again = await callTool(client, tool, { text: "hello" }, meta);
    expect(again.structuredContent).toEqual({ ...output, receipt });
    expect(JSON.parse(textOf(again))).toEqual({ ...output, receipt });
    expect(again._meta).toMatchObject({ receipt, idempotent_replayed: true });
  });

  test("named by the caller happens once, however often and on whichever route it is asked for", async ({ market }) => {
    const { client, tool, key, agent } = await seed(market);
    const meta = { idempotency_key: "job-1" };
    const [one, two] = await Promise.all([1, 2].map(() => callTool(client, tool, { text: "hello" }, meta)));
    expect(one?._meta?.run_id).toBe(two?._meta?.run_id);
    const rest = await call(market.url, "/api/v1/run", {
      key,
      headers: { "idempotency-key": "job-1" },
      body: { agent: agent.address, input: { text: "hello" } },
    });
    expect(rest.body.run_id).toBe(one?._meta?.run_id);
    const header = await postMessage(market.url, key, rpc("tools/call", { name: tool, arguments: { text: "hello" } }), {
      "idempotency-key": "job-1",
    });
    expect(await header.text()).toContain(rest.body.run_id);
    const other = await callTool(client, tool, { text: "other" }, meta);
    expect(other).toMatchObject({ isError: true, _meta: { credits_used: 0 } });
    expect((await balanceOf(market, key)).credits).toBe(95);
  });

  test("outlives its caller and is found in the history", async ({ market }) => {
    const { client, tool, key } = await seed(market, { balance: 5 });
    const before = market.model.asked();
    market.model.injectFault({ delayMs: 600_000 });
    const answer = callTool(client, tool, { text: "hello" }).catch(() => "left");
    await until(() => market.model.asked() > before);
    await client.close();
    expect(await answer).toBe("left");
    expect((await balanceOf(market, key)).held_credits).toBe(5);
    market.model.answerHeld();
    await until(async () => (await historyOf(market, key))[0].state !== "running");
    const [{ run_id }] = await historyOf(market, key);
    expect((await call(market.url, `/api/v1/runs/${run_id}`, { key })).body).toMatchObject({
      success: true,
      credits_used: 5,
      output: { kind: "text" },
    });
    expect(await balanceOf(market, key)).toMatchObject({ credits: 0, held_credits: 0 });
  });

  test("is not stopped by notifications/cancelled, which comes on a connection of its own", async ({ market }) => {
    const { client, tool, key } = await seed(market);
    const before = market.model.asked();
    market.model.injectFault({ delayMs: 600_000 });
    const leaving = new AbortController();
    const answer = client
      .callTool({ name: tool, arguments: { text: "hello" } }, undefined, { signal: leaving.signal })
      .catch(() => "cancelled");
    await until(() => market.model.asked() > before);
    leaving.abort();
    expect(await answer).toBe("cancelled");
    market.model.answerHeld();
    await until(async () => (await historyOf(market, key))[0].state === "succeeded");
  });
});

describe("what keeps a tool from working is told so that a model can act on it, and costs nothing", () => {
  test("an agent that fails", async ({ market }) => {
    const { client, tool, key } = await seed(market);
    market.model.injectFault({ status: 500 });
    const answer = await callTool(client, tool, { text: "hello" });
    expect(answer).toMatchObject({ isError: true, _meta: { credits_used: 0, credits_remaining: 100 } });
    expect(answer._meta?.run_id).toMatch(/^run_/);
    expect(textOf(answer).length).toBeGreaterThan(10);
    expect((await historyOf(market, key))[0]).toMatchObject({ state: "failed", credits_used: 0 });
  });

  test.for<[string, object, object, string]>([
    ["a required field left out", {}, { field: "text" }, '"text" is required. Nothing was charged. Correct'],
    ["a value too long", { text: "x".repeat(51) }, { field: "text" }, "at most 50 characters"],
    ["a value of another type", { text: 7 }, { field: "text" }, "must be a text"],
  ])("%s is an error that names the field, and is not charged", async ([_what, input, meta, words], { market }) => {
    const { client, tool } = await seed(market);
    const answer = await callTool(client, tool, input);
    expect(answer).toMatchObject({ isError: true, _meta: { credits_used: 0, ...meta } });
    expect(textOf(answer)).toContain(words);
  });

  test("too few credits, a price above what the caller allows, a key's day", async ({ market }) => {
    const poor = await seed(market, { balance: 3 });
    const broke = await callTool(poor.client, poor.tool, { text: "hello" });
    const money = { credits_required: 5, credits_remaining: 3 };
    expect(broke).toMatchObject({ isError: true, _meta: { credits_used: 0, limit_source: "balance", ...money } });
    expect(textOf(broke)).toMatch(/costs 5 credits; 3 are left.*Nothing was charged.*tell the user/);
    const dear = await callTool(poor.client, poor.tool, { text: "hello" }, { max_credits: 4 });
    expect(dear._meta).toMatchObject({ limit_source: "request" });
    const capped = await seed(market, {}, { maxCreditsPerDay: 4 });
    expect((await callTool(capped.client, capped.tool, { text: "x" }))._meta).toMatchObject({ limit_source: "key" });
    const wrong = await callTool(capped.client, capped.tool, { text: "x" }, { max_credits: -1 });
    expect(wrong).toMatchObject({ isError: true, _meta: { field: "max_credits" } });
  });

  test("an owner who cannot be verified, with the wish to come back later", async ({ market }) => {
    const { client, tool, creator } = await seed(market);
    await market.context.db.query("update accounts set state = 'suspended' where id = $1", [creator.id]);
    const answer = await callTool(client, tool, { text: "hello" });
    expect(answer).toMatchObject({ isError: true, _meta: { credits_used: 0 } });
    expect(textOf(answer)).toContain("Call again later");
  });

  test("our own mistake, of which the log tells and the caller hears nothing", async ({ market }) => {
    const { client, tool } = await seed(market);
    await market.context.db.query("alter table postings rename to postings_gone");
    const answer = await callTool(client, tool, { text: "hello" }).finally(() =>
      market.context.db.query("alter table postings_gone rename to postings"),
    );
    expect(answer).toMatchObject({ isError: true, _meta: { credits_used: 0 } });
    expect(textOf(answer)).not.toMatch(/postings|relation|pg|sql/i);
    expect(market.lines.some((line) => line.includes("postings") && line.includes(tool))).toBe(true);
    await market.context.db.query("alter table agents rename to agents_gone");
    const failed = await client
      .listTools()
      .catch((error) => error)
      .finally(() => market.context.db.query("alter table agents_gone rename to agents"));
    expect(failed).toMatchObject({ code: -32603 });
    expect(failed.message).not.toMatch(/agents|relation|sql/i);
  });
});

test("a caller who asks hears at least every ten seconds that it goes on, and so outlives the client's own limit", async ({
  market,
}) => {
  const { client, tool } = await seed(market);
  const heard: number[] = [];
  const ask = (more: object) =>
    client.callTool({ name: tool, arguments: { text: "hello" } }, undefined, { timeout: 15_000, ...more });
  market.model.injectFault({ delayMs: 600_000, times: 2 });
  const quiet = ask({}).catch((error) => error);
  const telling = ask({
    resetTimeoutOnProgress: true,
    onprogress: ({ progress }: { progress: number }) => heard.push(progress),
  });
  await until(() => heard.length >= 2);
  await quiet;
  market.model.answerHeld();
  const told = await telling;
  expect(told.isError).toBeUndefined();
  expect(heard).toEqual([...new Set(heard)].toSorted((a, b) => a - b));
  expect((await quiet).message).toMatch(/timed out/i);
});

test("a caller is told nothing more of a call that has ended", () => {
  vi.useFakeTimers();
  try {
    const report = vi.fn(async () => {});
    const waiting = reportWaiting(report);
    vi.advanceTimersByTime(10_000);
    expect(report.mock.calls).toHaveLength(2);
    waiting.stop();
    vi.advanceTimersByTime(60_000);
    expect(report.mock.calls).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
