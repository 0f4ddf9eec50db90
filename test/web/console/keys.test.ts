import { describe, expect } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { type KeyCall, listKeyCalls } from "../../../marketplace/api-keys/calls.ts";
import { deleteOldRefusedCalls, RefusedCalls } from "../../../marketplace/api-keys/refused-calls.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import type { KeyId } from "../../../marketplace/ids.ts";
import { marketTest } from "../../support/fixtures.ts";
import { call, type Market, proveLedger, run, type TestMarketplace, until } from "../../support/marketplace.ts";
import { answerOf, postMessage } from "../../support/mcp.ts";
import { newPerson, type Person } from "./person.ts";
import { allFormsIn } from "./posted-form.ts";

const test = marketTest({}, { price: 5 });

/** A person with credits, and a key that a form made. */
async function withKey(
  market: TestMarketplace,
  fields: Record<string, string> = {},
): Promise<{ person: Person; id: string; token: string }> {
  const person = await newPerson(market);
  const { id: accountId } = await accountByHandle(market.context.db, person.handle);
  await grant(market.context.db, { accountId, credits: credits(1_000n) });
  const id = /name="id" value="(key_\w+)"/.exec((await person.get("/settings/keys/new")).html)?.[1] as string;
  const made = await person.post("/settings/keys/new", { act: "create", id, name: "server", ...fields });
  return { person, id, token: /amk_[0-9A-Za-z]{38}/.exec(made.html)?.[0] as string };
}

async function toolOf(market: TestMarketplace, address: string): Promise<string> {
  const { rows } = await market.context.db.query("select tool_name from agents where handle || '/' || slug = $1", [
    address,
  ]);
  return rows[0].tool_name;
}

const spend = (market: TestMarketplace, seeded: Market, token: string) => run(market, token, seeded.agent.address);

describe("a key's caps", () => {
  test("hold for a day and for a month, together, and each names itself", async ({ market, seeded }) => {
    const { token, id, person } = await withKey(market, { max_credits_per_day: "100", max_credits_per_month: "12" });
    // What the days before spent of the month, of which the first has none.
    const yesterday = await market.context.db.query(
      `insert into key_days (key_id, day, spent, cap)
       select $1, (now() at time zone 'utc')::date - 1, 3, 3
       where date_part('day', now() at time zone 'utc') > 1 returning spent`,
      [id],
    );
    const left = 12 - 3 * (yesterday.rowCount ?? 0);
    const answers = [
      await spend(market, seeded, token),
      await spend(market, seeded, token),
      await spend(market, seeded, token),
    ];
    const allowed = Math.floor(left / 5);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200].map((ok, at) => (at < allowed ? ok : 402)));
    expect(answers[2]?.body).toMatchObject({
      error: "This key may spend 100 credits a day and 12 credits a month (UTC).",
      limit_source: "key",
    });
    const { html } = await person.get("/settings/keys");
    expect(html).toContain(`${12 - left + allowed * 5} of 12 credits`);
    await market.context.db.query("delete from key_days where key_id = $1", [id]);
  });

  test("count what was spent in a month whose first runs are deleted, also once a cap is changed", async ({
    market,
    seeded,
  }) => {
    const { person, id, token } = await withKey(market, { max_credits_per_month: "12" });
    const { db } = market.context;
    for (let n = 0; n < 2; n += 1) expect((await spend(market, seeded, token)).status).toBe(200);
    // As when it is a month old.
    await db.query("delete from runs where id in (select id from runs where key_id = $1 limit 1)", [id]);
    const change = { act: "change", name: "server", scope: "own_agents", max_credits_per_month: "13" };
    expect((await person.post(`/settings/keys/${id}`, change)).status).toBe(303);
    expect((await spend(market, seeded, token)).status).toBe(402);
    const { rows } = await db.query("select sum(spent)::int as spent from key_days where key_id = $1", [id]);
    expect(rows[0].spent).toBe(10);
  });

  test("count what was spent before they were set, also of many calls at once", async ({ market, seeded }) => {
    const { person, id, token } = await withKey(market);
    expect((await spend(market, seeded, token)).status).toBe(200);
    const path = `/settings/keys/${id}`;
    const changed = await person.post(path, {
      act: "change",
      name: "server",
      scope: "own_agents",
      max_credits_per_day: "12",
    });
    expect([changed.status, changed.location]).toEqual([303, `${path}?done=changed`]);
    const answers = await Promise.all([1, 2, 3].map(() => spend(market, seeded, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
    expect((await person.get("/settings/keys")).html).toContain("10 of 12 credits");
    await person.post(path, { act: "change", name: "server", scope: "own_agents" });
    expect((await spend(market, seeded, token)).status).toBe(200);
    expect((await person.get("/settings/keys")).html).toContain("15 credits today");
    await expect(proveLedger(market.context)).resolves.toBeDefined();
  });
});

describe("the page of a key", () => {
  test("changes it, says at its field what is refused, and is its owner's alone", async ({ market, seeded }) => {
    const [{ person, id, token }, other] = await Promise.all([withKey(market), newPerson(market)]);
    const path = `/settings/keys/${id}`;
    const fields = { act: "change", name: "<i>web</i>", scope: "chosen_agents", agents: "nobody/nothing" };
    const refused = await person.post(path, fields);
    expect(refused.status).toBe(422);
    expect(refused.html).toContain("Names &quot;nobody/nothing&quot;, which is no live agent.");
    expect(refused.html).toContain('value="&lt;i>web&lt;/i>"');
    const rate = await person.post(path, { ...fields, scope: "rest_only", rate_limit_per_minute: "0" });
    expect([rate.status, rate.html.includes("Must be a whole number between 1 and 600")]).toEqual([422, true]);
    expect((await other.get(path)).status).toBe(404);
    expect((await other.post(path, fields)).status).toBe(404);
    expect((await other.browser.patch(`/api/account/keys/${id}`, { name: "mine" })).status).toBe(404);
    expect((await other.browser.get(`/api/account/keys/${id}/calls`)).status).toBe(404);
    expect((await person.post(path, { ...fields, agents: seeded.agent.address })).status).toBe(303);
    const { keys } = (await person.browser.get("/api/account/keys")).body;
    expect(keys[0]).toMatchObject({
      id,
      name: "<i>web</i>",
      agents: [seeded.agent.address],
      max_credits_per_day: null,
    });
    expect((await person.get("/settings/keys")).html).toContain("1 chosen agent");
    expect((await call(market.url, "/api/v1/balance", { key: token })).status).toBe(200);
  });

  test("keeps what another tab changed since it was opened", async ({ market }) => {
    const { person, id } = await withKey(market);
    const path = `/settings/keys/${id}`;
    const { fields } = allFormsIn((await person.get(path)).html).find(({ action }) => action === path)!;
    const capped = await person.post(path, { ...fields, max_credits_per_day: "10", rate_limit_per_minute: "7" });
    // The other tab still shows no cap.
    const refused = await person.post(path, { ...fields, name: "" });
    const again = allFormsIn(refused.html).find(({ action }) => action === path)!;
    const renamed = await person.post(path, { ...again.fields, name: "web" });
    expect([capped.status, refused.status, renamed.status]).toEqual([303, 422, 303]);
    const { keys } = (await person.browser.get("/api/account/keys")).body;
    expect(keys[0]).toMatchObject({ name: "web", max_credits_per_day: 10, rate_limit_per_minute: 7 });
    await person.post(path, { ...fields, name: "web", max_credits_per_day: "" });
    expect((await person.browser.get("/api/account/keys")).body.keys[0].max_credits_per_day).toBe(10);
    const newest = allFormsIn((await person.get(path)).html).find(({ action }) => action === path)!;
    await person.post(path, { ...newest.fields, max_credits_per_day: "" });
    expect((await person.browser.get("/api/account/keys")).body.keys[0].max_credits_per_day).toBe(null);
  });

  test("logs its calls, with filters, and not those of another key", async ({ market, seeded }) => {
    const [{ person, id, token }, other] = await Promise.all([withKey(market), withKey(market)]);
    const good = await spend(market, seeded, token);
    await spend(market, seeded, other.token);
    const path = `/settings/keys/${id}`;
    expect((await person.get(path)).html).toContain(`href="/${seeded.agent.address}"`);
    const { calls } = (await person.browser.get(`/api/account/keys/${id}/calls?state=succeeded`)).body;
    expect(calls).toEqual([expect.objectContaining({ run_id: good.body.run_id, credits_used: 5, state: "succeeded" })]);
    expect(calls[0].ms).toBeGreaterThanOrEqual(0);
    for (const filter of ["state=failed", "agent=nobody/nothing", "day=2020-01-01"]) {
      expect((await person.get(`${path}?${filter}`)).html, filter).toContain("None like that here");
    }
    const today = new Date().toISOString().slice(0, 10);
    expect((await person.get(`${path}?day=${today}&agent=${seeded.agent.address.toUpperCase()}`)).html).toContain(
      "succeeded",
    );
    for (const bad of ["state=odd", "day=x", "cursor=x", "limit=0"])
      expect((await person.get(`${path}?${bad}`)).status, bad).toBe(400);
  });

  test("goes through pages of calls without losing or repeating any", async ({ market, seeded }) => {
    const { person, id, token } = await withKey(market);
    for (let n = 0; n < 5; n += 1) await spend(market, seeded, token);
    const account = await accountByHandle(market.context.db, person.handle);
    const ids: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = (
        await person.browser.get(`/api/account/keys/${id}/calls?limit=2${cursor ? `&cursor=${cursor}` : ""}`)
      ).body;
      ids.push(...page.calls.map(({ run_id }: { run_id: string }) => run_id));
      cursor = page.cursor;
    } while (cursor);
    const all = await listKeyCalls(market.context.db, account.id, id, { limit: 100 });
    expect(ids).toEqual(all.calls.map(({ run_id }) => run_id));
    expect(new Set(ids).size).toBe(5);
  });

  test("logs what a key was refused, why and how often, between its runs", async ({ market, seeded }) => {
    const { person, id, token } = await withKey(market, { max_credits_per_day: "5", rate_limit_per_minute: "4" });
    const path = `/api/account/keys/${id}/calls`;
    const page = `/settings/keys/${id}`;
    const good = await spend(market, seeded, token);
    const overCap = await spend(market, seeded, token);
    const tool = await toolOf(market, seeded.agent.address);
    const params = { name: tool, arguments: { text: "hi" } };
    const outOfScope = await postMessage(market.url, token, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    await spend(market, seeded, token);
    const tooOften = [
      await spend(market, seeded, token),
      await spend(market, seeded, token),
      await call(market.url, "/api/v1/balance", { key: token }),
    ];
    expect([good, overCap, outOfScope, ...tooOften].map(({ status }) => status)).toEqual([
      200, 402, 200, 429, 429, 429,
    ]);
    expect((await answerOf(outOfScope)).error.message).toContain("outside the scope");

    const refused = async () => (await person.browser.get(`${path}?state=refused`)).body.calls as KeyCall[];
    const timesOf = (calls: KeyCall[]) => {
      const times: Record<string, number> = {};
      for (const { reason, agent, asked, times: more } of calls) {
        const name = `${reason} ${agent ?? asked}`;
        times[name] = (times[name] ?? 0) + more;
      }
      return times;
    };
    await until(async () => Object.values(timesOf(await refused())).reduce((sum, times) => sum + times, 0) === 6);
    expect(timesOf(await refused())).toEqual({
      [`cap ${seeded.agent.address}`]: 2,
      [`scope ${seeded.agent.address}`]: 1,
      "rate_limit POST /api/v1/run": 2,
      "rate_limit GET /api/v1/balance": 1,
    });
    expect((await refused())[0]).toMatchObject({ run_id: null, state: "refused", credits_used: 0, ms: null });

    const paged: KeyCall[] = [];
    let cursor: string | null = "";
    do {
      const { body } = await person.browser.get(`${path}?limit=1&cursor=${cursor}`);
      paged.push(...body.calls);
      cursor = body.cursor;
    } while (cursor);
    expect(paged).toEqual((await person.browser.get(path)).body.calls);
    expect(paged.filter(({ run_id }) => run_id !== null)).toMatchObject([{ run_id: good.body.run_id, times: 1 }]);
    const { html } = await person.get(`${page}?agent=${seeded.agent.address}&state=refused`);
    expect(html).toContain("outside its scope");
    expect(html).not.toContain("calls a minute,");
    const others = await newPerson(market);
    expect((await others.get(page)).status).toBe(404);
  });

  test("what is refused of a key takes a few rows a minute, whatever it asks for", async ({ market }) => {
    const { person, id } = await withKey(market);
    const refused = new RefusedCalls();
    const { db } = market.context;
    for (let n = 0; n < 50; n += 1) refused.note(id as KeyId, "rate_limit", `GET /api/v1/${n}\0`);
    await refused.write(db);
    for (let n = 49; n >= 0; n -= 1) refused.note(id as KeyId, "rate_limit", `GET /api/v1/${n}`);
    await Promise.all([refused.write(db), refused.write(db)]);
    const { calls } = (await person.browser.get(`/api/account/keys/${id}/calls?limit=100`)).body;
    const sum = calls.reduce((times: number, call: KeyCall) => times + call.times, 0);
    expect([sum, calls.length <= 12]).toEqual([100, true]);
    expect(calls.map(({ asked }: KeyCall) => asked)).toEqual(expect.arrayContaining([null, "GET /api/v1/0"]));
    await db.query(
      `insert into refused_calls select $1, date_trunc('minute', now()) - n * interval '1 minute', 'cap', 'a/b', 1
         from generate_series(100, 1300) n`,
      [id],
    );
    await deleteOldRefusedCalls(db);
    const { rows } = await db.query(
      "select count(*)::int as kept, max(minute) as newest from refused_calls where key_id = $1",
      [id],
    );
    expect(rows[0].kept).toBe(1_000);
    expect(Date.now() - rows[0].newest.getTime()).toBeLessThan(30 * 60_000);
  });

  test("says when it was used, by what, and from which network, but no whole address", async ({ market }) => {
    const { person, token } = await withKey(market);
    const headers = { "user-agent": "python-requests/2.32.3 <b>", "x-forwarded-for": "203.0.113.77" };
    await call(market.url, "/api/v1/balance", { key: token, headers });
    await until(async () => (await person.get("/settings/keys")).html.includes("python-requests/2.32.3"));
    const { html } = await person.get("/settings/keys");
    expect(html).toContain("from 203.0.113.x");
    expect(html).not.toContain("203.0.113.77");
  });

  test("five slots are all there are, and a revoked key keeps its calls", async ({ market, seeded }) => {
    const { person, id, token } = await withKey(market);
    await spend(market, seeded, token);
    for (let n = 2; n <= 5; n += 1) await person.browser.post("/api/account/keys", { name: `n${n}` });
    const full = await person.post("/settings/keys/new", { act: "create", name: "six" });
    expect([full.status, full.html.includes("revoke one first")]).toEqual([409, true]);
    await person.post(`/settings/keys/${id}/revoke`, { act: "revoke" });
    expect((await call(market.url, "/api/v1/balance", { key: token })).status).toBe(401);
    expect((await person.get(`/settings/keys/${id}`)).html).toContain("succeeded");
    const late = await person.post(`/settings/keys/${id}`, { act: "change", name: "back" });
    expect([late.status, late.html.includes("is not there any more")]).toEqual([404, true]);
  });
});
