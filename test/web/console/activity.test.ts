import { describe, expect } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { marketTest } from "../../support/fixtures.ts";
import type { Market, TestMarketplace } from "../../support/marketplace.ts";
import { echoAgent } from "../../support/marketplace.ts";
import { newPerson, type Person } from "./person.ts";
import { allFormsIn } from "./posted-form.ts";

const test = marketTest({}, { price: 5 });

const hostile = `"><script>alert(1)</script>`;

async function buyer(market: TestMarketplace): Promise<Person> {
  const person = await newPerson(market);
  const { id } = await accountByHandle(market.context.db, person.handle);
  await grant(market.context.db, { accountId: id, credits: credits(100n) });
  return person;
}

async function ran(seeded: Market, person: Person, text = "hello"): Promise<string> {
  const asked = { agent: seeded.agent.address, input: { text } };
  return (await person.browser.post("/api/account/run", asked)).body.run_id;
}

const visitor = async (market: TestMarketplace, path: string, form?: Record<string, string>) => {
  const answer = await fetch(market.url + path, {
    headers: {
      accept: "text/html",
      "x-forwarded-for": `10.9.${Math.floor(Math.random() * 250)}.1`,
      origin: market.url,
    },
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
  });
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
};

describe("the page of what an account has run", () => {
  test("shows its own runs, by what its address asks for, with every text escaped", async ({ market, seeded }) => {
    const [ann, bob] = await Promise.all([buyer(market), buyer(market)]);
    const { id: keyId } = (await ann.browser.post("/api/account/keys", { name: hostile })).body;
    const run = await ran(seeded, ann);
    const others = await ran(seeded, bob);
    await market.context.db.query("update runs set key_id = $2 where id = $1", [run, keyId]);
    expect((await ann.get("/activity?day=0000-01-01")).status).toBe(400);
    const { status, html } = await ann.get("/activity");
    expect(status).toBe(200);
    expect(html).toContain(`/runs/${run}`);
    expect(html).toContain(": 1 run; most on ");
    expect(html).not.toContain(others);
    expect(html).not.toContain("<script>alert");
    expect((await ann.get(`/activity?key=${keyId}&days=7&by=credits`)).html).toContain(`/runs/${run}`);
    expect((await ann.get("/activity?key=none")).html).toContain("No run fits");
    expect((await ann.get("/activity?state=failed")).html).not.toContain(`/runs/${run}`);
    for (const query of ["days=8", "day=yesterday", "state=x", "cursor=x", "agent=%00"]) {
      expect([query, (await ann.get(`/activity?${query}`)).status]).toEqual([query, 400]);
    }
  });
});

describe("the page of a run", () => {
  test("is its account's alone, shows what was asked, and leads to the same again", async ({ market, seeded }) => {
    const [ann, bob] = await Promise.all([buyer(market), buyer(market)]);
    const run = await ran(seeded, ann, hostile);
    const { html } = await ann.get(`/runs/${run}`);
    expect(html).toContain("5 credits charged.");
    expect(html).toContain("Paid to");
    expect(html).not.toContain("<script>alert");
    const again = `/${seeded.agent.address}?run=${run}`;
    expect(html).toContain(`href="${again}"`);
    const filled = "&lt;script>alert(1)&lt;/script>";
    expect((await ann.get(again)).html).toContain(filled);
    expect((await bob.get(again)).html).not.toContain(filled);
    expect((await bob.get(`/runs/${run}`)).status).toBe(404);
    for (const act of ["share", "revoke"]) {
      expect([act, (await bob.post(`/runs/${run}`, { act })).status]).toEqual([act, 404]);
    }
    expect((await ann.post(`/runs/${run}`, { act: "share" }, { origin: "https://evil.example" })).status).toBe(403);
  });

  test("names nobody as paid for a run that failed", async ({ market, seeded }) => {
    const ann = await buyer(market);
    const id = `run_${"6".repeat(26)}`;
    await market.context.db.query(
      `insert into runs (id, rail, account_id, agent_id, agent_version, price_credits, state, error, finished_at)
       select $1, 'credits', a.id, $3, 1, 5, 'failed', 'The agent took too long.', now() from accounts a where a.handle = $2`,
      [id, ann.handle, seeded.agent.agentId],
    );
    const { html } = await ann.get(`/runs/${id}`);
    expect([html.includes("Made by"), html.includes("Paid to")]).toEqual([true, false]);
  });

  test("makes a link for everybody, with the input if asked, takes reports on it, and revokes it", async ({
    market,
    seeded,
  }) => {
    const ann = await buyer(market);
    const run = await ran(seeded, ann, "a private text");
    const shared = await ann.post(`/runs/${run}`, { act: "share" });
    expect([shared.status, shared.location]).toEqual([303, `/runs/${run}?done=shared`]);
    const link = /\/runs\/shared\/[\w-]{22}/.exec((await ann.get(`/runs/${run}`)).html)?.[0] as string;
    const seen = await visitor(market, link);
    expect(seen.status).toBe(200);
    expect(seen.html).toContain('name="robots" content="noindex"');
    expect(seen.headers.get("cache-control")).toBe("no-store");
    expect(seen.html).not.toContain(ann.handle);
    expect(seen.html).not.toContain('id="input"');
    await ann.post(`/runs/${run}`, { act: "share", with_input: "true" });
    expect((await visitor(market, link)).html).toContain("a private text");
    expect((await visitor(market, `${link}/report`, { reason: "private", text: "" })).status).toBe(422);
    expect((await visitor(market, `${link}/report`, { reason: "private", text: "My address is in it." })).html).toMatch(
      /rpt_\w+/,
    );
    const { rows } = await market.context.db.query("select agent_id, reason from reports where run_id = $1", [run]);
    expect(rows).toEqual([{ agent_id: seeded.agent.agentId, reason: "private" }]);
    const revoked = await ann.post(`/runs/${run}`, { act: "revoke" });
    expect(revoked.location).toBe(`/runs/${run}?done=revoked`);
    for (const path of [link, `${link}/report`]) expect((await visitor(market, path)).status).toBe(404);
    expect((await visitor(market, `${link}/report`, { reason: "other", text: "x" })).status).toBe(404);
  });
});

describe("the pages of a creator's figures", () => {
  async function creator(market: TestMarketplace) {
    const person = await newPerson(market);
    const account = await accountByHandle(market.context.db, person.handle);
    const settings = { ...echoAgent, connector: "image-generator", settings: { prompt: "{{text}}" }, name: hostile };
    const agent = await publishAgent(market.context, account, "poster", settings);
    return { person, account, agent };
  }

  test("take an example off the agent's page, also one whose run is forgotten", async ({ market }) => {
    const [person, other] = await Promise.all([buyer(market), newPerson(market)]);
    const account = await accountByHandle(market.context.db, person.handle);
    const { address } = await publishAgent(market.context, account, "mine", echoAgent);
    const asked = { agent: address, input: { text: "shown once" } };
    const { run_id: id } = (await person.browser.post("/api/account/run", asked)).body;
    await person.browser.put(`/api/account/runs/${id}/example`, {});
    await market.context.db.query("update runs set created_at = now() - interval '31 days' where id = $1", [id]);
    expect((await person.get(`/runs/${id}`)).status).toBe(404);
    const figures = "/figures/mine";
    expect((await person.get(figures)).html).toContain("shown once");
    expect((await other.post(figures, { act: "no-example", run: id })).status).toBe(404);
    expect((await visitor(market, `/${address}`)).html).toContain("shown once");
    expect((await person.post(figures, { act: "no-example", run: id })).location).toBe(`${figures}?done=no-example`);
    expect((await visitor(market, `/${address}`)).html).not.toContain("shown once");
  });

  test("are the creator's alone, lead to the newest agent, and set what its model may cost in a day", async ({
    market,
  }) => {
    const { person, agent } = await creator(market);
    const other = await newPerson(market);
    expect((await person.get("/figures")).location).toBe("/figures/poster");
    expect((await other.get("/figures")).html).toContain("No agent yet");
    for (const path of ["/figures/poster", "/figures/poster/images", "/figures/poster/rewards"]) {
      const { status, html } = await person.get(path);
      expect([path, status, html.includes("<script>alert")]).toEqual([path, 200, false]);
      expect([path, (await other.get(path)).status]).toEqual([path, 404]);
    }
    expect((await other.post("/figures/poster", { act: "budget", credits_per_day: "1" })).status).toBe(404);
    const wrong = await person.post("/figures/poster", { act: "budget", credits_per_day: "lots" });
    expect([wrong.status, wrong.html.includes("Must be a whole number.")]).toEqual([422, true]);
    const set = await person.post("/figures/poster", { act: "budget", credits_per_day: "70" });
    expect(set.location).toBe("/figures/poster?done=budget");
    const { rows } = await market.context.db.query("select model_credits_per_day from agents where id = $1", [
      agent.agentId,
    ]);
    expect(rows).toEqual([{ model_credits_per_day: 70n }]);
  });

  test("leave the operator's budget what it is where the form is saved as it was shown", async ({ market }) => {
    const { person, agent } = await creator(market);
    const path = "/figures/poster";
    const formNow = async () => {
      const { html } = await person.get(path);
      return allFormsIn(html).find(({ fields }) => fields.act === "budget")!.fields;
    };
    const own = async () => {
      const asked = "select model_credits_per_day::integer as own from agents where id = $1";
      return (await market.context.db.query(asked, [agent.agentId])).rows[0].own;
    };
    expect((await person.get(path)).html).toContain("what the operator says, 1,000 credits now");
    const opened = await formNow();
    expect((await person.post(path, opened)).location).toBe(`${path}?done=budget`);
    expect([opened.credits_per_day, await own()]).toEqual(["", null]);
    await person.post(path, { ...opened, credits_per_day: "1000" });
    expect([await own(), (await formNow()).credits_per_day]).toEqual([1_000, "1000"]);
    // The other tab still shows that the operator's holds.
    await person.post(path, opened);
    expect(await own()).toBe(1_000);
    await person.post(path, { ...(await formNow()), credits_per_day: "" });
    expect(await own()).toBeNull();
  });

  test("say beside the examples why one was not taken off", async ({ market }) => {
    const person = await buyer(market);
    const account = await accountByHandle(market.context.db, person.handle);
    const { address } = await publishAgent(market.context, account, "often", echoAgent);
    const asked = { agent: address, input: { text: "shown" } };
    const { run_id: run } = (await person.browser.post("/api/account/run", asked)).body;
    await person.browser.put(`/api/account/runs/${run}/example`, {});
    await market.context.db.query("select count_calls($1, 60, 60)", [`changes:${account.id}`]);
    const refused = await person.post("/figures/often", { act: "no-example", run });
    expect(refused.status).toBe(429);
    const [examples = ""] = /<section[^>]* aria-labelledby="examples-title".*?<\/section>/s.exec(refused.html) ?? [];
    expect(examples).toContain("No more than 60 requests a minute.");
  });

  test("take a picture down and show it again; another's picture is not there", async ({ market }) => {
    const { person, account, agent } = await creator(market);
    const other = await creator(market);
    const bytes = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(Math.random() * 1e6)}"/>`);
    const url = await market.context.tools.files.keep({
      bytes,
      kind: "svg",
      ownerId: account.id,
      agentId: agent.agentId,
    });
    const name = url.slice(url.lastIndexOf("/") + 1);
    const file = async () => (await fetch(`${market.url}/files/${name}`)).status;
    const path = "/figures/poster/images";
    expect((await person.get(path)).html).toContain(name);
    expect((await other.person.get(path)).html).not.toContain(name);
    expect((await other.person.post(path, { act: "hide", name })).status).toBe(404);
    expect(await file()).toBe(200);
    expect((await person.post(path, { act: "hide", name })).location).toBe(`${path}?done=hidden`);
    expect(await file()).toBe(410);
    expect((await person.post(path, { act: "show", name, offset: "0" })).location).toBe(`${path}?done=shown`);
    expect(await file()).toBe(200);
    expect((await person.post(path, { act: "hide", name: "../x" })).status).toBe(404);
    await person.post(path, { act: "hide", name });
    const early = await person.post(path, { act: "delete", name, offset: "0" });
    expect([early.status, early.html.includes("may fetch it until")]).toEqual([409, true]);
    await market.context.db.query("update files set created_at = now() - interval '31 days' where name = $1", [name]);
    expect((await person.post(path, { act: "delete", name, offset: "0" })).location).toBe(`${path}?done=deleted`);
    expect(await file()).toBe(410);
    expect((await person.get(path)).html).not.toContain(name);
  });

  test("lead back to the page of pictures where one was hidden, or was not", async ({ market }) => {
    const { person, account, agent } = await creator(market);
    for (let n = 0; n < 25; n += 1) {
      const bytes = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${n + 1}" height="${Date.now()}"/>`);
      await market.context.tools.files.keep({ bytes, kind: "svg", ownerId: account.id, agentId: agent.agentId });
    }
    const path = "/figures/poster/images";
    const second = await person.get(`${path}?offset=24`);
    const { fields } = allFormsIn(second.html).find(({ fields }) => fields.act === "hide")!;
    const hidden = await person.post(path, fields);
    expect(hidden.location).toBe(`${path}?offset=24&done=hidden`);
    expect((await person.get(hidden.location ?? "")).html).toContain("25 to 25");
    await market.context.db.query("select count_calls($1, 60, 60)", [`changes:${account.id}`]);
    const refused = await person.post(path, { ...fields, act: "show" });
    expect([refused.status, refused.html.includes("25 to 25")]).toEqual([429, true]);
  });
});
