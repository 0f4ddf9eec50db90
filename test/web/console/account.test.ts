import { describe, expect } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { publishAgent, saveDraft } from "../../../marketplace/agents/publish.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { Browser, newEmail, signedIn, tokenIn } from "../../support/browser.ts";
import { marketTest } from "../../support/fixtures.ts";
import { call, echoAgent, run } from "../../support/marketplace.ts";
import { newPerson, Person } from "./person.ts";

const test = marketTest();

const path = "/settings/account";

describe("the page of the account", () => {
  test("changes the handle, and says at the field what is refused", async ({ market }) => {
    const [person, other] = await Promise.all([newPerson(market), newPerson(market)]);
    const taken = await person.post(path, { act: "rename", handle: other.handle });
    expect([taken.status, taken.html.includes("is taken.")]).toEqual([409, true]);
    expect(taken.html).toContain(`value="${other.handle}"`);
    const same = await person.post(path, { act: "rename", handle: ` ${person.handle.toUpperCase()}` });
    expect([same.status, same.html.includes("Is your handle already.")]).toEqual([422, true]);
    const handle = `${person.handle}-new`;
    expect((await person.post(path, { act: "rename", handle })).location).toBe(`${path}?done=renamed`);
    const soon = await person.post(path, { act: "rename", handle: `${handle}er` });
    expect([soon.status, soon.html.includes("can be changed again on")]).toEqual([409, true]);
  });

  test("changes the address by an e-mail's link, which does nothing until its button is pressed, and no harm twice", async ({
    market,
  }) => {
    const [person, other] = await Promise.all([newPerson(market), newPerson(market)]);
    const refused = await person.post(path, { act: "change-email", email: "no address" });
    expect([refused.status, refused.html.includes("Must be an e-mail address.")]).toEqual([422, true]);
    const email = newEmail();
    const asked = await person.post(path, { act: "change-email", email });
    const [, token = ""] = /\/settings\/account\/email\?token=([\w-]+)/.exec(asked.html) ?? [];
    const link = `${path}/email`;
    expect((await other.get(`${link}?token=${token}`)).html).toContain("Use this address");
    expect((await person.get(path)).html).not.toContain(email);
    const unknown = await other.get(`${link}?token=${token}x`);
    expect([unknown.status, unknown.html.includes("The address is not changed")]).toEqual([401, true]);
    for (const _click of [1, 2]) {
      expect((await other.post(link, { token })).html).toContain("The address is changed");
    }
    expect((await other.get(`${link}?token=${token}`)).html).toContain("The address is changed");
    expect((await other.post(link, { token: `${token}x` })).status).toBe(401);
    expect((await other.post(link, { token }, { origin: "https://evil.example" })).status).toBe(403);
    expect((await person.get(path)).html).toContain(email);
    expect((await other.get(path)).html).not.toContain(email);
  });

  test("lists sessions, ends one and all others, and never another person's", async ({ market }) => {
    const email = `two-${Date.now()}@example.com`;
    const first = new Person(market.url, await signedIn(market, email), "");
    await first.browser.post("/api/account", { handle: `two-${Date.now().toString(36)}` });
    const [second, third] = [await signedIn(market, email), await signedIn(market, email)];
    const { sessions } = (await first.browser.get("/api/account/sessions")).body;
    expect(sessions.map(({ is_this: isThis }: { is_this: boolean }) => isThis)).toEqual([true, false, false]);
    // Whatever a client says of it itself.
    const far = new Browser(market.url, "203.0.113.77");
    const { link } = (await far.post("/api/account/sign-in/email", { email: newEmail() })).body;
    const token = tokenIn(link);
    await far.post("/api/account/sign-in/email/confirm", { token }, { "x-seen-from": "198.51.100.x" });
    expect((await far.get("/api/account/sessions")).body.sessions).toMatchObject([{ from: "203.0.113.x" }]);
    const stranger = await newPerson(market);
    for (const { id } of sessions) {
      expect((await stranger.post(path, { act: "end-session", id })).status).toBe(404);
      expect((await stranger.browser.delete(`/api/account/sessions/${id}`)).status).toBe(404);
    }
    expect((await first.post(path, { act: "end-session", id: sessions[0].id })).status).toBe(409);
    const ended = await first.post(path, { act: "end-session", id: sessions[1].id });
    expect(ended.location).toBe(`${path}?done=ended`);
    const alive = async () =>
      Promise.all([second, third].map(async (one) => (await one.get("/api/account")).status === 200));
    expect((await alive()).filter(Boolean)).toHaveLength(1);
    await first.post(path, { act: "end-others" });
    expect((await alive()).filter(Boolean)).toHaveLength(0);
    const { html } = await first.get(path);
    expect(html).toContain("this one");
    expect(html).toContain(sessions[0].from);
  });

  test("forgets a provider, but not the last way in, and never another person's", async ({ market }) => {
    const [person, other] = await Promise.all([newPerson(market), newPerson(market)]);
    const { account } = (await person.browser.get("/api/account")).body;
    const add = (id: string) =>
      market.context.db.query(
        `insert into sign_in_identities (id, user_id, account_id, provider_id)
         select $1, id, $1, 'oidc' from sign_in_users where account_id = $2`,
        [id, account.id],
      );
    const id = `idn_${account.id}`;
    await add(id);
    expect((await other.post(path, { act: "remove-way", id })).status).toBe(404);
    expect((await person.post(path, { act: "remove-way", id: "email" })).status).toBe(409);
    expect((await person.post(path, { act: "remove-way", id })).location).toBe(`${path}?done=removed`);
    const { ways } = (await person.browser.get("/api/account/ways-in")).body;
    expect(ways).toEqual([expect.objectContaining({ kind: "email", can_go: false })]);
  });

  test("gives a copy of all data, without a key or a creator's secret, and none of anybody else's", async ({
    market,
    seeded,
  }) => {
    const person = await newPerson(market);
    const account = await accountByHandle(market.context.db, person.handle);
    await grant(market.context.db, { accountId: account.id, credits: credits(50n) });
    const { token } = (await person.browser.post("/api/account/keys", { name: "server" })).body;
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.push((await run(market, token, seeded.agent.address)).body.run_id);
    await publishAgent(market.context, account, "mine", echoAgent);
    for (let n = 2; n <= 20; n += 1)
      await saveDraft(market.context, account, "mine", { ...echoAgent, description: `The ${n}th.` });
    await person.post("/build", { act: "start", connector: "llm" });
    const answer = await person.browser.get("/api/account/export");
    expect(answer.headers.get("content-disposition")).toContain(`${person.handle}.json`);
    const { runs, keys, agents, agent_versions: versions, drafts, statement } = answer.body;
    expect(runs.map(({ run_id: id }: { run_id: string }) => id)).toEqual(ids.reverse());
    expect(runs[0].output).toMatchObject({ kind: "text" });
    expect([keys.length, agents.length]).toEqual([1, 1]);
    expect(versions.map(({ version }: { version: number }) => version)).toEqual(
      versions.map((_: object, at: number) => at + 1),
    );
    expect([versions.length, versions[0].settings.prompt]).toEqual([20, "{{text}}"]);
    expect(drafts).toMatchObject([{ definition: { connector: "llm" } }]);
    expect(statement.length).toBeGreaterThan(3);
    for (const secret of [token.slice(8, 38), "sealed", "digest"]) expect(answer.text).not.toContain(secret);
    await person.browser.get("/api/account/export");
    expect((await person.browser.get("/api/account/export")).status).toBe(429);
  });
});

describe("closing an account", () => {
  test("says what is lost, asks for the handle and for the credits, and is for good", async ({ market }) => {
    const person = await newPerson(market);
    const account = await accountByHandle(market.context.db, person.handle);
    await grant(market.context.db, { accountId: account.id, credits: credits(50n) });
    const { token } = (await person.browser.post("/api/account/keys", { name: "server" })).body;
    await publishAgent(market.context, account, "mine", echoAgent);
    for (let n = 2; n <= 20; n += 1)
      await saveDraft(market.context, account, "mine", { ...echoAgent, description: `The ${n}th.` });
    await person.post("/build", { act: "start", connector: "llm" });
    expect((await person.get("/settings/closed")).location).toBe(path);
    const page = await person.get(`${path}/close`);
    expect(page.html).toContain("50 credits and 0 earned are lost");
    expect(page.html).toContain("1 agent goes");
    expect(page.html).toContain("1 draft of an agent is lost");
    const wrong = await person.post(`${path}/close`, { act: "close", handle: "other", give_up_credits: "50" });
    expect([
      wrong.status,
      wrong.html.includes("be the account&#39;s own") || wrong.html.includes("account's own"),
    ]).toEqual([422, true]);
    expect((await person.post(`${path}/close`, { act: "close", handle: person.handle })).status).toBe(409);
    const agreed = { act: "close", handle: person.handle, give_up_credits: "50" };
    await grant(market.context.db, { accountId: account.id, credits: credits(7n) });
    const since = await person.post(`${path}/close`, agreed);
    expect([since.status, since.html.includes("There are 57 credits left now, and you gave up 50")]).toEqual([
      409,
      true,
    ]);
    expect(since.html).toContain('name="give_up_credits" value="57"');
    const closed = await person.post(`${path}/close`, { ...agreed, give_up_credits: "57" });
    expect([closed.status, closed.location]).toEqual([303, "/settings/closed"]);
    expect((await person.get(path)).location).toMatch(/^\/sign-in/);
    const { rows: left } = await market.context.db.query("select from agent_drafts where account_id = $1", [
      account.id,
    ]);
    expect(left).toEqual([]);
    expect((await person.get("/settings/closed")).status).toBe(200);
    expect((await call(market.url, "/api/v1/balance", { key: token })).status).toBe(401);
  });

  test("waits for what a wallet paid for and has no result yet, and for credits that were bought", async ({
    market,
  }) => {
    const person = await newPerson(market);
    const { db } = market.context;
    const account = await accountByHandle(db, person.handle);
    const agent = await publishAgent(market.context, account, "mine", echoAgent);
    const close = () => person.post(`${path}/close`, { act: "close", handle: person.handle, give_up_credits: "50" });
    await db.query(
      `insert into debts (network, payment_key, agent_id, transaction_id, asset, amount)
       select 'eip155:8453', $1, id, '0x1', 'usdc', '1' from agents where account_id = $1 and slug = 'mine'`,
      [account.id],
    );
    expect([(await close()).status, (await person.browser.get("/api/account/closing")).body.calls_owed]).toEqual([
      409, 1,
    ]);
    expect((await person.get(`${path}/close`)).html).toContain("money is on its way");
    await db.query("delete from debts where payment_key = $1", [account.id]);
    await db.query(
      `insert into paid_calls (network, payment_key, product, call_digest, requirements, proof, run_id)
       values ('eip155:8453', $1, 'credits:' || $1 || ':100', '', '{}', '{}', 'run_none')`,
      [account.id],
    );
    expect((await close()).status).toBe(409);
    await db.query("delete from paid_calls where payment_key = $1", [account.id]);
    expect((await close()).status).toBe(303);
    expect((await call(market.url, `/api/agent/${agent.address}`, { body: {} })).status).toBe(404);
  });
});
