import { describe, expect } from "vitest";
import { renameAccount } from "../../marketplace/accounts/rename.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { deleteOldRuns } from "../../marketplace/runs/recover.ts";
import { Browser, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, type Market, run, seedMarket, type TestMarketplace, until } from "../support/marketplace.ts";

const test = marketTest({}, { price: 5 });
let agent: string;
test.beforeAll(({ seeded }) => {
  agent = seeded.agent.address;
});

interface Person {
  readonly browser: Browser;
  readonly id: AccountId;
  readonly key: string;
  readonly keyId: string;
}

async function person(market: TestMarketplace): Promise<Person> {
  const { browser, handle } = await withAccount(market);
  const { db } = market.context;
  const { rows } = await db.query<{ id: AccountId }>("select id from accounts where handle = $1", [handle]);
  const id = rows[0]!.id;
  await grant(db, { accountId: id, credits: credits(1_000n) });
  const { id: keyId, token } = await createKey(db, { accountId: id, name: "production" });
  return { browser, id, key: token, keyId };
}

const runIn = async ({ browser }: Person, text = "hello") =>
  (await browser.post("/api/account/run", { agent, input: { text } })).body.run_id as string;

const runs = async ({ browser }: Person, query = "") => (await browser.get(`/api/account/runs${query}`)).body;

/** Runs that have ended, without running anything. */
async function addRuns(
  market: TestMarketplace,
  seeded: Market,
  owner: Person,
  { count, state = "succeeded", key = false, daysAgo = 0 }: Added,
): Promise<void> {
  await market.context.db.query(
    `insert into runs (id, rail, account_id, key_id, agent_id, agent_version, price_credits, state, output, created_at, finished_at)
     select 'run_' || substr(md5($6 || n) || md5(n::text), 1, 26), 'credits', $1, $2, $3, 1, 5, $4, '{}',
       now() - $7::integer * interval '1 day' - n * interval '1 ms', now() from generate_series(1, $5::integer) n`,
    [
      owner.id,
      key ? owner.keyId : null,
      seeded.agent.agentId,
      state,
      count,
      `${owner.id}${state}${key}${daysAgo}`,
      daysAgo,
    ],
  );
}

interface Added {
  readonly count: number;
  readonly state?: "succeeded" | "failed";
  readonly key?: boolean;
  readonly daysAgo?: number;
}

describe("an account's runs", () => {
  test("are found by key, agent, day and outcome, page by page, and nobody else's are among them", async ({
    market,
    seeded,
  }) => {
    const ann = await person(market);
    const bob = await person(market);
    const own = await runIn(ann);
    await addRuns(market, seeded, ann, { count: 7, key: true });
    await addRuns(market, seeded, ann, { count: 3, state: "failed" });
    await addRuns(market, seeded, ann, { count: 2, daysAgo: 3, key: true });
    await addRuns(market, seeded, bob, { count: 4 });
    expect((await runs(ann, "?limit=100")).runs).toHaveLength(13);
    const keyed = await runs(ann, `?key=${ann.keyId}&limit=100`);
    expect(keyed.runs).toHaveLength(9);
    expect(keyed.runs[0].key).toEqual({ id: ann.keyId, name: "production" });
    expect((await runs(ann, "?key=none")).runs.map((one: { run_id: string }) => one.run_id)).toContain(own);
    expect((await runs(ann, "?key=none&state=failed")).runs).toHaveLength(3);
    expect((await runs(ann, `?agent=${agent.toUpperCase()}&limit=100`)).runs).toHaveLength(13);
    expect((await runs(ann, "?agent=nobody/nothing")).runs).toHaveLength(0);
    expect((await runs(ann, `?key=${bob.keyId}`)).runs).toHaveLength(0);
    const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
    expect((await runs(ann, `?day=${day}`)).runs).toHaveLength(2);
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { runs: Array<{ run_id: string }>; cursor: string | null } = await runs(
        ann,
        `?key=${ann.keyId}&limit=4&cursor=${cursor}`,
      );
      seen.push(...page.runs.map(({ run_id }) => run_id));
      cursor = page.cursor;
    }
    expect(new Set(seen).size).toBe(9);
    expect(seen).toHaveLength(9);
  });

  test("ask for what cannot be read with a 400 that names the field", async ({ market }) => {
    const { browser } = await person(market);
    for (const [query, field] of [
      ["key=other", "key"],
      ["agent=x", "agent"],
      ["state=done", "state"],
      ["day=2026-13-40", "day"],
      ["cursor=%00", "cursor"],
    ]) {
      expect(await browser.get(`/api/account/runs?${query}`)).toMatchObject({ status: 400, body: { field } });
    }
    expect((await new Browser(market.url).get("/api/account/runs")).status).toBe(401);
  });

  test("add up by day, key and agent, at once and after they were counted", async ({ market, seeded }) => {
    const ann = await person(market);
    await runIn(ann);
    await addRuns(market, seeded, ann, { count: 4, key: true });
    await addRuns(market, seeded, ann, { count: 2, state: "failed" });
    await addRuns(market, seeded, ann, { count: 3, daysAgo: 8 });
    const activity = async (query: string) => (await ann.browser.get(`/api/account/activity?${query}`)).body;
    const counted = async () => {
      const { rows } = await market.context.db.query(
        "select coalesce(sum(runs), 0)::integer as runs from account_days where account_id = $1",
        [ann.id],
      );
      return rows[0].runs;
    };
    const today = new Date().toISOString().slice(0, 10);
    const look = async () => {
      const week = await activity("days=7");
      expect(week).toMatchObject({ runs: 7, failed: 2, credits: 25, runs_before: 3 });
      expect(week.days).toHaveLength(7);
      expect(week.days.at(-1)).toEqual({ day: today, runs: 7, failed: 2, credits: 25 });
      expect(week.keys).toEqual([
        { key: { id: ann.keyId, name: "production" }, runs: 4, failed: 0, credits: 20 },
        { key: null, runs: 3, failed: 2, credits: 5 },
      ]);
      expect(week.agents).toEqual([{ agent, runs: 7, failed: 2, credits: 25 }]);
      const timed = { median_ms: expect.any(Number) };
      expect(await activity(`days=7&key=${ann.keyId}`)).toMatchObject({ runs: 4, failed: 0, ...timed });
      expect(await activity(`days=7&key=none&agent=${agent}`)).toMatchObject({ runs: 3, failed: 2, ...timed });
    };
    // The eight-day-old runs ended now, so that only counting finds them: their days are long past.
    await until(async () => (await counted()) === 10);
    await look();
    await runIn(ann);
    expect(await activity("days=1")).toMatchObject({ runs: 8, failed: 2, credits: 30 });
    await until(async () => (await counted()) === 11);
    expect(await activity("days=1")).toMatchObject({ runs: 8, failed: 2, credits: 30 });
    expect(await (await person(market)).browser.get("/api/account/activity")).toMatchObject({
      body: { runs: 0, average_ms: null, median_ms: null },
    });
  });
});

describe("one run", () => {
  test("of megabytes that its account asks for and does not read is not answered again until it is read", async ({
    market,
  }) => {
    const ann = await person(market);
    const id = await runIn(ann);
    const output = { kind: "text", text: "x".repeat(17_500_000) };
    await market.context.db.query("update runs set output = $2 where id = $1", [id, JSON.stringify(output)]);
    const headers = { cookie: ann.browser.cookie, "x-forwarded-for": "192.0.2.8" };
    const ask = () => fetch(`${market.url}/api/account/runs/${id}`, { headers });
    const unread = await ask();
    expect([unread.status, (await ask()).status]).toEqual([200, 429]);
    await unread.body?.cancel();
    await expect.poll(async () => (await ask()).status).toBe(200);
  });

  test("tells its account what was asked, given and posted; for all others it is a 404", async ({ market }) => {
    const ann = await person(market);
    const bob = await person(market);
    const id = await runIn(ann, "a private text");
    expect((await ann.browser.get(`/api/account/runs/${id}`)).body).toMatchObject({
      run_id: id,
      agent,
      agent_name: "Echo",
      agent_is_live: true,
      key: null,
      input: { text: "a private text" },
      output: { kind: "text" },
      postings: [
        { kind: "hold", credits: 5 },
        { kind: "capture", credits: 5 },
      ],
      transactions: [],
      share: null,
    });
    for (const path of [`/api/account/runs/${id}`, "/api/account/runs/run_00000000000000000000000000"]) {
      expect((await bob.browser.get(path)).status).toBe(404);
    }
    expect((await bob.browser.put(`/api/account/runs/${id}/share`, { with_input: true })).status).toBe(404);
    expect((await bob.browser.delete(`/api/account/runs/${id}/share`)).status).toBe(404);
    expect((await new Browser(market.url).get(`/api/account/runs/${id}`)).status).toBe(401);
    expect((await ann.browser.get(`/api/account/runs/${id}`)).body.share).toBeNull();
  });

  test("that failed gave its credits back; its input is kept by key as well, and a long one is not", async ({
    market,
  }) => {
    const ann = await person(market);
    market.model.injectFault({ status: 500 });
    const failed = (await run(market, ann.key, agent, { text: "by key" })).body.run_id;
    market.model.clearFaults();
    expect((await ann.browser.get(`/api/account/runs/${failed}`)).body).toMatchObject({
      success: false,
      credits_used: 0,
      key: { name: "production" },
      input: { text: "by key" },
      output: null,
      postings: [{ kind: "hold" }, { kind: "release", credits: 5 }],
    });
    const long = await seedMarket(market.context, {
      price: 0,
      agent: { fields: [{ name: "text", type: "text", required: true, max_length: 100_000 }] },
    });
    const asked = { agent: long.agent.address, input: { text: "x".repeat(40_000) } };
    const { run_id } = (await ann.browser.post("/api/account/run", asked)).body;
    expect((await ann.browser.get(`/api/account/runs/${run_id}`)).body).toMatchObject({ success: true, input: null });
  });
});

test("pictures that their creator took down are named as such, and files and rewards are their owner's alone", async ({
  market,
}) => {
  const [ann, bob] = [await person(market), await person(market)];
  const { db, tools } = market.context;
  const keep = (text: string) => tools.files.keep({ bytes: Buffer.from(text), kind: "svg", ownerId: bob.id });
  const images = [await keep(`<svg>${ann.id}</svg>`), await keep(`<svg>${bob.id}</svg>`)];
  const id = await runIn(ann);
  await db.query("update runs set output = $2 where id = $1", [id, { images }]);
  const { files } = (await bob.browser.get("/api/account/files")).body;
  expect(files.map(({ url }: { url: string }) => url).toSorted()).toEqual(images.toSorted());
  expect((await bob.browser.get("/api/account/files?agent=echo")).body.files).toEqual([]);
  expect((await ann.browser.get("/api/account/files")).body.files).toEqual([]);
  const name = images[0]!.slice(images[0]!.lastIndexOf("/") + 1);
  expect((await ann.browser.post(`/api/account/files/${name}/hide`)).status).toBe(404);
  expect((await bob.browser.post(`/api/account/files/${name}/hide`)).body).toEqual({ name, hidden: true });
  expect((await ann.browser.get(`/api/account/runs/${id}`)).body.hidden_images).toEqual([images[0]]);
  const { token } = (await ann.browser.put(`/api/account/runs/${id}/share`, {})).body;
  expect((await call(market.url, `/api/shared-runs/${token}`)).body.hidden_images).toEqual([images[0]]);
  expect((await bob.browser.post(`/api/account/files/${name}/show`)).body).toEqual({ name, hidden: false });
  expect((await ann.browser.get(`/api/account/runs/${id}`)).body.hidden_images).toEqual([]);
  expect((await ann.browser.get("/api/account/rewards")).body.rewards).toEqual([]);
  for (const path of ["files", "rewards"]) {
    expect((await new Browser(market.url).get(`/api/account/${path}`)).status).toBe(401);
  }
});

test("an example is a creator's own run, shown on the agent's page with what it was asked; it stays when the run is gone", async ({
  market,
}) => {
  const { db } = market.context;
  const ann = await person(market);
  const account = (await ann.browser.get("/api/account")).body.account;
  const mine = await publishAgent(market.context, { id: ann.id, handle: account.handle, state: "open" }, "mine", {
    ...echoAgent,
    name: "Mine",
    price_credits: 0,
  });
  const ran = async (text: string) =>
    (await ann.browser.post("/api/account/run", { agent: mine.address, input: { text } })).body.run_id as string;
  const show = (id: string, browser = ann.browser) => browser.put(`/api/account/runs/${id}/example`, {});
  const page = async (query = "") =>
    (
      await (await fetch(`${market.url}/${mine.address}${query}`, { headers: { accept: "text/html" } })).text()
    ).replaceAll("&lt;", "<");
  const first = await ran("What <was> asked.");
  expect(await page()).not.toContain('id="examples"');
  expect((await show(first)).body).toEqual({ run_id: first, example: true });
  expect((await show(first)).status).toBe(200);
  await db.query(
    "update runs set created_at = now() - interval '31 days', finished_at = now() - interval '31 days' where id = $1",
    [first],
  );
  await deleteOldRuns(market.context);
  expect(await page()).toContain("What <was> asked.");
  const twin = await (await fetch(`${market.url}/${mine.address}.md`)).text();
  expect(twin).toContain('"text": "What <was> asked."');
  expect(await page(`?example=${first}`)).toMatch(/<textarea[^>]*>What <was> asked\.</);
  // Another's agent, another's run, one that failed, one that no page can show and one too many are refused.
  const bought = await runIn(ann);
  expect((await show(bought)).status).toBe(409);
  const others = await person(market);
  expect((await show(await ran("again"), others.browser)).status).toBe(404);
  const failed = await ran("failed");
  await db.query("update runs set state = 'failed', output = null where id = $1", [failed]);
  expect((await show(failed)).status).toBe(409);
  for (const odd of ["a\0b", "a\ud800b"]) expect((await show(await ran(odd))).status).toBe(409);
  for (let n = 1; n < 6; n += 1) expect((await show(await ran(`number ${n}`))).status).toBe(200);
  expect((await show(await ran("one too many"))).status).toBe(409);
  expect((await others.browser.delete(`/api/account/runs/${first}/example`)).status).toBe(404);
  expect((await ann.browser.delete(`/api/account/runs/${first}/example`)).body).toEqual({
    run_id: first,
    example: false,
  });
  expect(await page()).not.toContain("What <was> asked.");
});

describe("a shared run", () => {
  const shared = (market: TestMarketplace, token: string) => call(market.url, `/api/shared-runs/${token}`);
  const share = async ({ browser }: Person, id: string, body: object = {}) =>
    (await browser.put(`/api/account/runs/${id}/share`, body)).body.token as string;

  test("shows its output to whoever has the link, its input only when asked to, and never who ran it", async ({
    market,
  }) => {
    const ann = await person(market);
    const id = await runIn(ann, "a private text");
    const token = await share(ann, id);
    expect(token).toMatch(/^[\w-]{22}$/);
    const answer = await shared(market, token);
    expect(answer.body).toMatchObject({ run_id: id, agent, success: true, output: { kind: "text" } });
    expect(answer.body).not.toHaveProperty("input");
    expect(answer.text).not.toContain(ann.id);
    expect(answer.text).not.toContain("production");
    expect(answer.headers.get("x-robots-tag")).toBe("noindex");
    expect(await share(ann, id, { with_input: true })).toBe(token);
    expect((await shared(market, token)).body.input).toEqual({ text: "a private text" });
    expect(await share(ann, id)).toBe(token);
    expect((await shared(market, token)).body).not.toHaveProperty("input");
  });

  test("is a 404 once revoked; shared again it has another link", async ({ market }) => {
    const ann = await person(market);
    const id = await runIn(ann);
    const token = await share(ann, id);
    expect((await ann.browser.delete(`/api/account/runs/${id}/share`)).body).toEqual({ run_id: id, shared: false });
    expect((await shared(market, token)).status).toBe(404);
    expect(await share(ann, id)).not.toBe(token);
    for (const guess of ["x", "a".repeat(22), `${token}%00`, "%27"])
      expect((await shared(market, guess)).status).toBe(404);
  });

  test("goes with the run, with a suspended agent or creator and with a closed account", async ({ market }) => {
    const ann = await person(market);
    const old = await runIn(ann);
    const oldToken = await share(ann, old);
    const { db } = market.context;
    await db.query(
      "update runs set created_at = now() - interval '31 days', finished_at = now() - interval '31 days' where id = $1",
      [old],
    );
    expect((await shared(market, oldToken)).status).toBe(404);
    expect((await ann.browser.get(`/api/account/runs/${old}`)).status).toBe(404);
    await deleteOldRuns(market.context);
    expect((await db.query("select from run_shares where token = $1", [oldToken])).rowCount).toBe(0);
    const other = await seedMarket(market.context, { price: 1 });
    const asked = { agent: other.agent.address, input: { text: "hi" } };
    const token = await share(ann, (await ann.browser.post("/api/account/run", asked)).body.run_id);
    await moveAgent(db, other.agent.address, "suspend");
    expect((await shared(market, token)).status).toBe(404);
    await moveAgent(db, other.agent.address, "restore");
    expect((await shared(market, token)).status).toBe(200);
    const creatorIs = (state: string) =>
      db.query("update accounts set state = $2 where id = $1", [other.creator.id, state]);
    await creatorIs("suspended");
    expect((await shared(market, token)).status).toBe(404);
    await creatorIs("open");
    expect((await shared(market, token)).status).toBe(200);
    await moveAgent(db, other.agent.address, "unpublish");
    expect((await shared(market, token)).body).toMatchObject({ agent_is_live: false });
    await db.query("update accounts set state = 'closed' where id = $1", [ann.id]);
    expect((await shared(market, token)).status).toBe(404);
  });

  test("cannot be made of one that still runs", async ({ market, seeded }) => {
    const ann = await person(market);
    const id = `run_${"7".repeat(26)}`;
    await market.context.db.query(
      `insert into runs (id, rail, account_id, agent_id, agent_version, price_credits, state, lease_until)
       values ($1, 'credits', $2, $3, 1, 0, 'running', now() + interval '1 minute')`,
      [id, ann.id, seeded.agent.agentId],
    );
    expect((await ann.browser.put(`/api/account/runs/${id}/share`, {})).status).toBe(409);
    expect((await ann.browser.put(`/api/account/runs/${id}/share`, { with_input: "yes" })).status).toBe(400);
  });
});

test("what was run is found under every address that its agent has or had, since each of them still runs it", async ({
  market,
}) => {
  const buyer = await person(market);
  const { creator, agent } = await seedMarket(market.context, { price: 5 });
  await run(market, buyer.key, agent.address);
  const { handle } = await renameAccount(market.context.db, creator, `${creator.handle}-now`);
  await run(market, buyer.key, agent.address);
  const get = async (path: string) => (await buyer.browser.get(path)).body;
  for (const address of [agent.address, `${handle}/echo`]) {
    expect((await runs(buyer, `?agent=${address}`)).runs).toHaveLength(2);
    expect(await get(`/api/account/activity?agent=${address}`)).toMatchObject({ runs: 2, credits: 10 });
    expect((await get(`/api/account/ledger?agent=${address}`)).totals).toMatchObject([{ kind: "hold", credits: -10 }]);
    expect((await get(`/api/account/keys/${buyer.keyId}/calls?agent=${address}`)).calls).toHaveLength(2);
  }
});
