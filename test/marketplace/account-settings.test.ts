import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { hashOf } from "../../marketplace/sign-in/auth.ts";
import { inTransaction } from "../../shared/postgres.ts";
import { Browser, newEmail, signedIn, tokenIn, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, proveLedger, run, seedMarket, type TestMarketplace, until } from "../support/marketplace.ts";

const test = marketTest();
test.afterEach(({ market }) => proveLedger(market.context));

const operator = (market: TestMarketplace, ...args: string[]) => runCommand(args, market.environment);
const newHandle = () => `h-${Math.random().toString(36).slice(2, 10)}`;

describe("an account", () => {
  test("is opened once by who signed in, under a free handle of the right form", async ({ market }) => {
    const browser = await signedIn(market);
    expect((await browser.get("/api/account/keys")).status).toBe(403);
    for (const [handle, status] of [
      ["", 422],
      ["a", 422],
      ["-ab", 422],
      ["admin", 422],
      ["x".repeat(101), 400],
      [5, 400],
    ] as const) {
      expect({ handle, status: (await browser.post("/api/account", { handle })).status }).toEqual({ handle, status });
    }
    const handle = newHandle();
    const opened = await browser.post("/api/account", { handle: handle.toUpperCase() });
    expect(opened).toMatchObject({ status: 201, body: { handle, state: "open" } });
    expect((await browser.post("/api/account", { handle: newHandle() })).status).toBe(409);
    const other = await signedIn(market);
    const taken = await other.post("/api/account", { handle });
    expect(taken).toMatchObject({ status: 409, body: { field: "handle" } });
    expect((await browser.get("/api/account")).body.account).toMatchObject({ handle, credits: 0, held_credits: 0 });
  });

  test("says something of itself in one line on its creator's page, or nothing", async ({ market }) => {
    const { browser, handle } = await withAccount(market);
    const say = (about: unknown) => browser.put("/api/account/about", { about });
    for (const [about, status] of [
      ["x".repeat(301), 422],
      ["turned \u202e round", 422],
      ["nothing \u0007 shown", 422],
      ["x".repeat(3_001), 400],
      [5, 400],
      [undefined, 400],
    ] as const) {
      expect({ about, status: (await say(about)).status }).toEqual({ about, status });
    }
    expect(await say("  Tools\n for <b>you</b> & me ")).toMatchObject({
      status: 200,
      body: { about: "Tools for <b>you</b> & me" },
    });
    expect((await browser.get("/api/account")).body.account.about).toBe("Tools for <b>you</b> & me");
    const account = await accountByHandle(market.context.db, handle);
    await publishAgent(market.context, account, "echo", { ...echoAgent, price_credits: 1 });
    const page = await fetch(`${market.url}/${handle}`, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain("Tools for &lt;b>you&lt;/b> &amp; me");
    expect(await say(null)).toMatchObject({ status: 200, body: { about: null } });
  });

  test("of one person is one, though ten requests open it at once; of one handle too", async ({ market }) => {
    const browser = await signedIn(market);
    const own = await Promise.all(
      Array.from({ length: 10 }, () => browser.post("/api/account", { handle: newHandle() })),
    );
    expect(own.filter(({ status }) => status === 201)).toHaveLength(1);
    const handle = newHandle();
    const people = await Promise.all(Array.from({ length: 8 }, () => signedIn(market)));
    const opened = await Promise.all(people.map((person) => person.post("/api/account", { handle })));
    expect(opened.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
  });

  test("made by the operator is signed in to by whoever shows the linked address is theirs", async ({ market }) => {
    const handle = newHandle();
    const email = newEmail();
    await operator(market, "account", "create", "--handle", handle);
    await operator(market, "account", "link", "--account", handle, "--email", email.toUpperCase());
    await operator(market, "account", "link", "--account", handle, "--email", email);
    const browser = await signedIn(market, email);
    expect((await browser.get("/api/account")).body.account.handle).toBe(handle);
    const again = operator(market, "account", "link", "--account", handle, "--email", newEmail());
    await expect(again).rejects.toMatchObject({ code: "conflict" });
    const elsewhere = newHandle();
    await operator(market, "account", "create", "--handle", elsewhere);
    const stolen = operator(market, "account", "link", "--account", elsewhere, "--email", email);
    await expect(stolen).rejects.toMatchObject({ code: "conflict" });
  });

  test("that is suspended keeps its session and can do nothing; closed, it forgets who signed in", async ({
    market,
  }) => {
    const { browser, handle } = await withAccount(market);
    await operator(market, "account", "suspend", "--account", handle);
    expect((await browser.get("/api/account")).body.account.state).toBe("suspended");
    for (const path of ["keys", "wallets", "agents"]) {
      const { status, body } = await browser.get(`/api/account/${path}`);
      expect({ status, error: body.error }).toEqual({ status: 403, error: `The account "${handle}" is suspended.` });
    }
    await operator(market, "account", "restore", "--account", handle);
    const { token } = (await browser.post("/api/account/keys", { name: "k" })).body;
    expect((await browser.post("/api/account/close", { handle: "another" })).status).toBe(422);
    expect((await browser.post("/api/account/close", { handle })).body).toMatchObject({ handle, state: "closed" });
    expect((await browser.get("/api/account")).status).toBe(401);
    expect((await call(market.url, "/api/v1/balance", { key: token })).status).toBe(401);
    const { rows } = await market.context.db.query(
      "select from sign_in_users where account_id is not null and name = $1",
      [handle],
    );
    expect(rows).toHaveLength(0);
    expect((await new Browser(market.url).get("/api/account")).status).toBe(401);
    const successor = await signedIn(market);
    expect((await successor.post("/api/account", { handle })).status).toBe(409);
  });
});

test("whoever signed in with an address without showing it is theirs gets nothing when it is linked", async ({
  market,
}) => {
  const { db } = market.context;
  const [handle, email] = [newHandle(), newEmail()];
  const squatter = await signedIn(market, email);
  await db.query("update sign_in_users set email_verified = false where email = $1", [email]);
  await operator(market, "account", "create", "--handle", handle);
  await operator(market, "account", "link", "--account", handle, "--email", email);
  expect((await squatter.get("/api/account")).status).toBe(401);
  expect((await (await signedIn(market, email)).get("/api/account")).body.account.handle).toBe(handle);
});

test("a seed is applied again after people have renamed and closed what it made", async ({ market }) => {
  const [renamed, closed] = [newHandle(), newHandle()];
  const file = join(await mkdtemp(join(tmpdir(), "seed-")), "seed.json");
  const accounts = [renamed, closed].map((handle) => ({ handle, email: `${handle}@example.com` }));
  await writeFile(file, JSON.stringify({ accounts }));
  await operator(market, "seed", "--file", file);
  const later = newHandle();
  await (await signedIn(market, `${renamed}@example.com`)).patch("/api/account", { handle: later });
  await (await signedIn(market, `${closed}@example.com`)).post("/api/account/close", { handle: closed });
  const again = JSON.parse(await operator(market, "seed", "--file", file, "--json"));
  expect(again.accounts).toMatchObject([{ handle: later }, { handle: closed, state: "closed", skipped: true }]);
});

describe("the e-mail address", () => {
  const ask = async (browser: Browser, email: string) => browser.post("/api/account/email", { email });
  const follow = (browser: Browser, link: string) =>
    browser.post("/api/account/email/confirm", { token: tokenIn(link) });
  const addressOf = async (browser: Browser) => (await browser.get("/api/account/ways-in")).body.ways[0].name;

  test("changes when the e-mail to the new one is answered, once however often; it signs in from then on, and the one before is told", async ({
    market,
  }) => {
    const { db } = market.context;
    const [before, after] = [newEmail(), newEmail()];
    const browser = await signedIn(market, before);
    const handle = newHandle();
    await browser.post("/api/account", { handle });
    // An e-mail on its way is for the person who had the address when it was written.
    await db.query(
      "insert into account_letters (account_id, kind, subject, text) select id, 'passkey', 'On its way', 'x' from accounts where handle = $1",
      [handle],
    );
    // The reader of the new address signed in with it before, and opened no account.
    await signedIn(market, after);
    const sent = await ask(browser, after.toUpperCase());
    expect(sent).toMatchObject({ status: 202, body: { expires_in_seconds: 3_600 } });
    expect(await addressOf(browser)).toBe(before);
    const anywhere = new Browser(market.url);
    const clicks = await Promise.all([1, 2, 3].map(() => follow(anywhere, sent.body.link)));
    expect(clicks.map(({ status, body }) => [status, body.email])).toEqual(Array(3).fill([200, after]));
    expect(await addressOf(browser)).toBe(after);
    const { rows } = await db.query(
      "select subject, address from account_letters l join accounts a on a.id = l.account_id where handle = $1 order by since",
      [handle],
    );
    expect(rows).toEqual([
      { subject: "On its way", address: before },
      { subject: expect.stringContaining("The e-mail address was changed"), address: before },
    ]);
    expect((await (await signedIn(market, after)).get("/api/account")).body.account.handle).toBe(handle);
    expect((await (await signedIn(market, before)).get("/api/account")).body.account).toBeNull();
  });

  test("stays for an old, a replaced or a made-up link, for another account's address, and for who did not just sign in", async ({
    market,
  }) => {
    const { db } = market.context;
    const [mine, theirs, wanted] = [newEmail(), newEmail(), newEmail()];
    const [browser, other] = await Promise.all([signedIn(market, mine), signedIn(market, theirs)]);
    for (const one of [browser, other]) await one.post("/api/account", { handle: newHandle() });
    for (const email of ["no address", "x@wallet.invalid", 5]) {
      expect(await ask(browser, email as string)).toMatchObject({ status: 400, body: { field: "email" } });
    }
    expect(await ask(browser, mine)).toMatchObject({ status: 422, body: { field: "email" } });
    const replaced = (await ask(browser, wanted)).body.link;
    const taken = (await ask(browser, theirs)).body.link;
    expect((await follow(browser, replaced)).status).toBe(401);
    expect((await follow(browser, taken)).status).toBe(409);
    const late = (await ask(browser, wanted)).body.link;
    // Two who want the same address at once: one has it.
    const rival = (await ask(other, wanted)).body.link;
    await db.query("update email_changes set expires_at = now() where token_hash = $1", [hashOf(tokenIn(late))]);
    expect((await follow(browser, late)).status).toBe(401);
    const again = (await ask(browser, wanted)).body.link;
    const both = await Promise.all([again, rival].map((link) => follow(browser, link)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect((await browser.post("/api/account/email/confirm", { token: "made-up" })).status).toBe(401);
    await db.query(
      "update sign_in_sessions set created_at = now() - interval '11 minutes' where user_id in (select id from sign_in_users where email = any($1))",
      [[mine, theirs, wanted]],
    );
    expect((await ask(browser, newEmail())).status).toBe(403);
    expect((await new Browser(market.url).post("/api/account/email", { email: wanted })).status).toBe(401);
  });

  test("stays when who asked for another is signed out before the e-mail is answered", async ({ market }) => {
    const [mine, theirs] = [newEmail(), newEmail()];
    const browser = await signedIn(market, mine);
    await browser.post("/api/account", { handle: newHandle() });
    const thief = await signedIn(market, mine);
    const { link } = (await ask(thief, theirs)).body;
    expect((await browser.delete("/api/account/sessions")).status).toBe(200);
    expect(await follow(new Browser(market.url), link)).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining("Sign in and ask for another") },
    });
    expect(await addressOf(browser)).toBe(mine);
    // What was done is done, wherever its asker signs out.
    const done = (await ask(browser, theirs)).body.link;
    expect((await follow(browser, done)).status).toBe(200);
    await browser.post("/api/account/sign-out");
    expect((await follow(browser, done)).body).toEqual({ email: theirs });
  });

  test("stays while the account is suspended; the link holds again once it is restored", async ({ market }) => {
    const [mine, wanted, handle] = [newEmail(), newEmail(), newHandle()];
    const browser = await signedIn(market, mine);
    await browser.post("/api/account", { handle });
    const { link } = (await ask(browser, wanted)).body;
    await operator(market, "account", "suspend", "--account", handle);
    expect(await follow(browser, link)).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining(`The account "${handle}" is suspended`) },
    });
    await operator(market, "account", "restore", "--account", handle);
    expect(await addressOf(browser)).toBe(mine);
    expect((await follow(browser, link)).status).toBe(200);
  });

  test("is refused to each of two accounts that take each other's at the same instant", async ({ market }) => {
    const { db } = market.context;
    const addresses = [newEmail(), newEmail()];
    const [one, other] = await Promise.all(addresses.map((email) => signedIn(market, email)));
    const links: string[] = [];
    for (const [browser, email] of [
      [one, addresses[1]],
      [other, addresses[0]],
    ] as const) {
      await browser!.post("/api/account", { handle: newHandle() });
      links.push((await ask(browser!, email!)).body.link);
    }
    const waiting = async () => {
      const { rows } = await db.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length;
    };
    const anywhere = new Browser(market.url);
    const asked: Array<ReturnType<typeof follow>> = [];
    await inTransaction(db, async (tx) => {
      await tx.query("select from sign_in_users where email = $1 for update", [addresses[0]]);
      for (const link of links) {
        asked.push(follow(anywhere, link));
        await until(async () => (await waiting()) === asked.length);
      }
    });
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([409, 409]);
  });
});

describe("a request that was slow on its way", () => {
  const changesCounted = async (market: TestMarketplace): Promise<number> => {
    const { rows } = await market.context.db.query(
      "select coalesce(sum(counted), 0)::int as changes from rate_limits, unnest(calls) counted where subject like 'changes:%'",
    );
    return rows[0].changes;
  };

  /** Sends the head of a request, lets `meanwhile` happen, and then sends its body. */
  async function slowly(
    market: TestMarketplace,
    browser: Browser,
    method: string,
    path: string,
    body: object,
    meanwhile: () => Promise<unknown>,
  ) {
    const text = JSON.stringify(body);
    const { hostname, port } = new URL(market.url);
    const headers = { cookie: browser.cookie, "content-type": "application/json", "content-length": text.length };
    const asked = request({ hostname, port, method, path, headers });
    const answered = once(asked, "response");
    const before = await changesCounted(market);
    asked.write(text.slice(0, 1));
    // Its account was read, and found open, before it was counted.
    await until(async () => (await changesCounted(market)) > before);
    await meanwhile();
    asked.end(text.slice(1));
    const [response] = (await answered) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  test("does nothing to an account that was closed meanwhile", async ({ market }) => {
    for (const [method, path, body] of [
      ["PUT", "/api/account/agents/echo", echoAgent],
      ["POST", "/api/account/keys", { name: "late" }],
      ["PATCH", "/api/account", { handle: newHandle() }],
    ] as const) {
      const { browser, handle } = await withAccount(market);
      const close = () => browser.post("/api/account/close", { handle });
      expect({ path, status: await slowly(market, browser, method, path, body, close) }).toEqual({ path, status: 409 });
      const { rows } = await market.context.db.query("select state from accounts where handle = $1", [handle]);
      expect(rows).toEqual([{ state: "closed" }]);
    }
  });

  test("keeps an agent under the account's handle as it is then", async ({ market }) => {
    const { browser, handle } = await withAccount(market);
    await browser.put("/api/account/agents/echo", echoAgent);
    const renamed = newHandle();
    const rename = () => browser.patch("/api/account", { handle: renamed });
    const next = { ...echoAgent, name: "Next" };
    expect(await slowly(market, browser, "PUT", "/api/account/agents/echo", next, rename)).toBe(200);
    const { agents } = (await browser.get("/api/account/agents")).body;
    expect(agents).toMatchObject([{ agent: `${renamed}/echo`, newest_version: 2 }]);
    await market.context.db.query("update accounts set handle_changed_at = null where handle = $1", [renamed]);
    expect((await browser.patch("/api/account", { handle })).status).toBe(200);
  });
});

test("an account is closed within ten minutes of signing in alone: a stolen session would lose it for its holder", async ({
  market,
}) => {
  const { browser, handle } = await withAccount(market);
  const { email } = (await browser.get("/api/account")).body;
  await market.context.db.query(
    "update sign_in_sessions set created_at = now() - interval '11 minutes' where user_id in (select id from sign_in_users where email = $1)",
    [email],
  );
  const late = await browser.post("/api/account/close", { handle });
  expect([late.status, late.body.error]).toEqual([403, expect.stringContaining("Sign out and in again first")]);
  const again = await signedIn(market, email);
  expect((await again.post("/api/account/close", { handle })).status).toBe(200);
});

test("a name that cannot be seen, or turns what stands beside it, is refused for a key and for an agent, naming the field", async ({
  market,
}) => {
  const { browser } = await withAccount(market);
  const { id } = (await browser.post("/api/account/keys", { name: "server" })).body;
  for (const name of ["\u200b", "\u200d\u2060", "\u3164", "\u2800\u00a0", "\u00ad", "\u202eresrever", "a\u0007b"]) {
    const refused = { status: 422, body: { field: "name" } };
    expect(await browser.post("/api/account/keys", { name })).toMatchObject(refused);
    expect(await browser.patch(`/api/account/keys/${id}`, { name })).toMatchObject(refused);
    expect(await browser.put("/api/account/agents/unseen", { ...echoAgent, name })).toMatchObject(refused);
  }
  for (const name of ["Größe \u{1f468}\u200d\u{1f467}", "می\u200cخواهم"]) {
    expect((await browser.patch(`/api/account/keys/${id}`, { name })).status).toBe(200);
  }
});

test("texts that no database can keep are refused, naming the field, and nothing is logged of them", async ({
  market,
}) => {
  const { browser } = await withAccount(market);
  for (const [path, body, field] of [
    ["/api/account/keys", '{"name":"a\\u0000b"}', "name"],
    ["/api/account/sign-in/wallet", '{"challenge_id":"a\\u0000b","signature":"0x"}', "challenge_id"],
    ["/api/account/agent-definitions/check", '{"settings":{"prompt":"RECIPE \\ud800"}}', "prompt"],
    ["/api/account/agent-definitions/check", '{"settings":{"a\\u0000":1}}', "a name"],
  ] as const) {
    const answer = await browser.post(path, body);
    expect(answer).toMatchObject({ status: 400, body: { field } });
  }
  for (const path of ["wallets/%00", "keys/%00", "agents/%00"]) {
    expect([404, 405]).toContain((await browser.delete(`/api/account/${path}`)).status);
  }
  expect((await browser.post("/api/account/keys", '{"name":"\\ud83d\\ude00 fine"}')).status).toBe(201);
  expect(market.lines.join("")).not.toContain("RECIPE \\ud800");
});

describe("a handle", () => {
  test("is changed with its agents' addresses; the old one still leads to them and is nobody else's", async ({
    market,
  }) => {
    const seeded = await seedMarket(market.context);
    const { handle: old, id } = seeded.creator;
    const email = newEmail();
    await operator(market, "account", "link", "--account", old, "--email", email);
    const browser = await signedIn(market, email);
    const handle = newHandle();
    expect((await browser.patch("/api/account", { handle })).body).toMatchObject({ id, handle });
    for (const address of [`${handle}/echo`, `${old}/echo`, `${old.toUpperCase()}/ECHO`]) {
      expect((await run(market, seeded.key, address)).body).toMatchObject({ success: true, credits_used: 5 });
    }
    expect((await run(market, seeded.key, `${old}/nothing`)).status).toBe(404);
    const listed = await call(market.url, `/api/v1/agents?creator=${handle}`, { key: seeded.key });
    expect(listed.body.agents.map(({ agent }: { agent: string }) => agent)).toEqual([`${handle}/echo`]);
    const detail = await call(market.url, `/api/v1/agents/${old}/echo`, { key: seeded.key });
    expect(detail.body).toMatchObject({ agent: `${handle}/echo`, mcp_tool: `${handle}--echo` });

    const stranger = await signedIn(market);
    expect((await stranger.post("/api/account", { handle: old })).status).toBe(409);
    expect((await browser.patch("/api/account", { handle: newHandle() })).status).toBe(409);
    await market.context.db.query("update accounts set handle_changed_at = now() - interval '31 days' where id = $1", [
      id,
    ]);
    expect((await browser.patch("/api/account", { handle: old })).body.handle).toBe(old);
    expect((await run(market, seeded.key, `${handle}/echo`)).body.success).toBe(true);
  });

  test("is changed for one of those who want it at once, while runs go on", async ({ market }) => {
    const people = await Promise.all(Array.from({ length: 6 }, () => withAccount(market)));
    const handle = newHandle();
    const answers = await Promise.all(people.map(({ browser }) => browser.patch("/api/account", { handle })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(5).fill(409)]);

    const seeded = await seedMarket(market.context, { balance: 1_000 });
    const email = newEmail();
    await operator(market, "account", "link", "--account", seeded.creator.handle, "--email", email);
    const creator = await signedIn(market, email);
    const runs = Array.from({ length: 40 }, () => run(market, seeded.key, seeded.agent.address));
    const renamed = creator.patch("/api/account", { handle: newHandle() });
    const ended = await Promise.all(runs);
    expect((await renamed).status).toBe(200);
    expect(ended.every(({ status, body }) => status === 200 && body.success)).toBe(true);
  });
});

describe("keys", () => {
  test("say what they may when they are made and when they are changed", async ({ market }) => {
    const { browser } = await withAccount(market);
    const agent = (await seedMarket(market.context)).agent.address;
    const made = await browser.post("/api/account/keys", { name: "ci", max_credits_per_day: 200 });
    const { token, id, ...settings } = made.body;
    expect(settings).toEqual({
      name: "ci",
      scope: "own_agents",
      agents: [],
      tools: "all",
      rate_limit_per_minute: 60,
      max_credits_per_day: 200,
      max_credits_per_month: null,
    });
    const changes = { name: "build", scope: "chosen_agents", agents: [agent], rate_limit_per_minute: 30 };
    const changed = await browser.patch(`/api/account/keys/${id}`, { ...changes, max_credits_per_day: null });
    expect(changed.body).toEqual({ id, changed: true, ...settings, ...changes, max_credits_per_day: null });
    expect((await call(market.url, "/api/v1/balance", { key: token })).headers.get("x-ratelimit-limit")).toBe("30");
  });

  test("are made in five slots, shown once, used, and revoked at once", async ({ market }) => {
    const { browser } = await withAccount(market);
    const made = await Promise.all(
      Array.from({ length: 8 }, (_one, n) => browser.post("/api/account/keys", { name: `key ${n}` })),
    );
    const tokens = made.filter(({ status }) => status === 201).map(({ body }) => body);
    expect(tokens).toHaveLength(5);
    expect(made.filter(({ status }) => status === 409)).toHaveLength(3);
    const { token, id } = tokens[0];
    expect((await call(market.url, "/api/v1/balance", { key: token })).status).toBe(200);
    const listed = await browser.get("/api/account/keys");
    expect(listed.body.keys_max).toBe(5);
    expect(listed.text).not.toContain(token);
    expect((await browser.delete(`/api/account/keys/${id}`)).body).toEqual({ id, revoked: true });
    expect((await call(market.url, "/api/v1/balance", { key: token })).status).toBe(401);
    expect((await browser.delete(`/api/account/keys/${id}`)).status).toBe(404);
    expect((await browser.post("/api/account/keys", { name: "again" })).status).toBe(201);
    expect(market.lines.join("")).not.toContain(token);
  });

  test("have the scope, rate limit and cap they were made with; what is wrong is named", async ({ market }) => {
    const { agent } = await seedMarket(market.context);
    const { browser } = await withAccount(market);
    const wanted = {
      name: "chosen",
      scope: "chosen_agents",
      agents: [agent.address],
      rate_limit_per_minute: 2,
      max_credits_per_day: 7,
    };
    const { token } = (await browser.post("/api/account/keys", wanted)).body;
    expect((await browser.get("/api/account/keys")).body.keys[0]).toMatchObject(wanted);
    expect((await call(market.url, "/api/v1/balance", { key: token })).body.key).toMatchObject({
      max_credits_per_day: 7,
    });
    await call(market.url, "/api/v1/balance", { key: token });
    expect((await call(market.url, "/api/v1/balance", { key: token })).status).toBe(429);
    for (const [field, body] of [
      ["name", { name: "" }],
      ["name", {}],
      ["scope", { name: "x", scope: "everything" }],
      ["agents", { name: "x", agents: [agent.address] }],
      ["agents", { name: "x", scope: "chosen_agents", agents: ["no/such"] }],
      ["rate_limit_per_minute", { name: "x", rate_limit_per_minute: 0 }],
      ["max_credits_per_day", { name: "x", max_credits_per_day: -1 }],
    ] as const) {
      const answer = await browser.post("/api/account/keys", body);
      expect([400, 422]).toContain(answer.status);
      expect({ body, field: answer.body.field }).toEqual({ body, field });
    }
  });

  test("of chosen agents see fewer when fewer are named, without their scope being said again; agents are named for no others", async ({
    market,
  }) => {
    const { browser } = await withAccount(market);
    const [one, two] = (await Promise.all([seedMarket(market.context), seedMarket(market.context)])).map(
      ({ agent }) => agent.address,
    );
    const scope = "chosen_agents";
    const { id } = (await browser.post("/api/account/keys", { name: "chosen", scope, agents: [one, two] })).body;
    const own = (await browser.post("/api/account/keys", { name: "own" })).body;
    const change = (key: string, changes: object) => browser.patch(`/api/account/keys/${key}`, changes);
    expect((await change(id, { agents: [two] })).body).toMatchObject({ scope, agents: [two] });
    for (const [key, agents] of [
      [own.id, [one]],
      [id, ["no/such"]],
      [id, []],
    ]) {
      const refused = await change(key, { agents });
      expect([refused.status, refused.body.field]).toEqual([422, "agents"]);
    }
    expect((await change(id, { name: "renamed" })).body).toMatchObject({ scope, agents: [two] });
    expect((await browser.get("/api/account/keys")).body.keys).toMatchObject([
      { id: own.id, scope: "own_agents", agents: [] },
      { id, scope, agents: [two], name: "renamed" },
    ]);
  });

  test("with a cap of nothing are listed, too", async ({ market }) => {
    const { browser } = await withAccount(market);
    await browser.post("/api/account/keys", { name: "for free agents", max_credits_per_day: 0 });
    expect((await browser.get("/api/account/keys")).body.keys).toMatchObject([{ max_credits_per_day: 0 }]);
  });

  test("of one account are not another's to see or revoke", async ({ market }) => {
    const [one, other] = [await withAccount(market), await withAccount(market)];
    const { id } = (await one.browser.post("/api/account/keys", { name: "mine" })).body;
    expect((await other.browser.get("/api/account/keys")).body.keys).toEqual([]);
    expect((await other.browser.delete(`/api/account/keys/${id}`)).status).toBe(404);
    expect((await new Browser(market.url).delete(`/api/account/keys/${id}`)).status).toBe(401);
  });
});

describe("agents", () => {
  const definition = { ...echoAgent, secrets: { token: "a-secret-value" } };

  test("go from draft to live to unpublished and back; versions are kept apart", async ({ market }) => {
    const { key } = await seedMarket(market.context);
    const { browser, handle } = await withAccount(market);
    const address = `${handle}/my-echo`;
    const at = "/api/account/agents/my-echo";
    expect((await browser.get(at)).status).toBe(404);
    expect((await browser.put(at, definition)).body).toEqual({ agent: address, version: 1, state: "draft" });
    expect((await run(market, key, address)).status).toBe(404);
    const tried = await browser.post(`${at}/try`, { input: { text: "hello" } });
    expect(tried.body).toMatchObject({ success: true, version: 1, output: { kind: "text" } });
    expect((await browser.post(`${at}/publish`)).body).toEqual({
      agent: address,
      version: 1,
      state: "live",
      changed: true,
    });
    expect((await browser.post(`${at}/publish`)).body).toMatchObject({ version: 1, changed: false });
    expect((await run(market, key, address)).body.success).toBe(true);

    const next = { ...definition, name: "Echo 2", secrets: {} };
    expect((await browser.put(at, next)).body).toEqual({ agent: address, version: 2, state: "live" });
    expect((await call(market.url, `/api/v1/agents/${address}`, { key })).body.name).toBe("Echo");
    const own = (await browser.get(at)).body;
    expect(own).toMatchObject({
      live_version: 1,
      newest_version: 2,
      definition: { name: "Echo 2" },
      secret_names: ["token"],
    });
    expect((await browser.get("/api/account/agents")).body.agents).toMatchObject([{ agent: address, live_version: 1 }]);
    await browser.post(`${at}/publish`);
    expect((await call(market.url, `/api/v1/agents/${address}`, { key })).body.name).toBe("Echo 2");

    expect((await browser.post(`${at}/unpublish`)).body).toEqual({ agent: address, state: "unpublished" });
    expect((await run(market, key, address)).status).toBe(404);
    expect((await browser.post(`${at}/unpublish`)).status).toBe(409);
    await browser.post(`${at}/publish`);
    expect((await run(market, key, address)).body.success).toBe(true);
  });

  test("are published as they were kept last, also where that is what an earlier version said", async ({ market }) => {
    const { key } = await seedMarket(market.context);
    const { browser, handle } = await withAccount(market);
    const at = "/api/account/agents/undecided";
    const priceOf = async () =>
      (await call(market.url, `/api/v1/agents/${handle}/undecided`, { key })).body.price_credits;
    const dear = { ...definition, price_credits: 500 };
    await browser.put(at, definition);
    await browser.post(`${at}/publish`);
    await browser.put(at, dear);
    expect((await browser.put(at, definition)).body).toMatchObject({ version: 3, state: "live" });
    expect((await browser.post(`${at}/publish`)).body).toMatchObject({ version: 3, changed: true });
    expect(await priceOf()).toBe(5);

    const draftAt = "/api/account/agent-drafts/undecided";
    const { secrets: _, ...written } = dear;
    const write = async (said: object) => {
      const { revision } = (await browser.get(draftAt)).body;
      return (await browser.put(draftAt, { revision, definition: said })).body.revision as string;
    };
    await browser.post(`${draftAt}/try`, { revision: await write(written), input: { text: "x" } });
    const revision = await write({ ...written, price_credits: 5 });
    await browser.post(`${draftAt}/publish`, { revision });
    expect((await browser.get(draftAt)).body.definition.price_credits).toBe(5);
    expect(await priceOf()).toBe(5);
  });

  test("are unpublished also where that gives way to another change of the account's agents", async ({ market }) => {
    const { browser, handle } = await withAccount(market);
    const at = "/api/account/agents/contended";
    await browser.put(at, definition);
    await browser.post(`${at}/publish`);
    const { db } = market.context;
    const other = await db.connect();
    await other.query("begin");
    await other.query("select pg_advisory_xact_lock(hashtext('listings of ' || id)) from accounts where handle = $1", [
      handle,
    ]);
    const unpublished = browser.post(`${at}/unpublish`);
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'";
    await until(async () => (await db.query(waiting)).rowCount === 1);
    await other.query("select from agents where handle = $1 for no key update", [handle]);
    await other.query("commit");
    other.release();
    expect((await unpublished).body).toEqual({ agent: `${handle}/contended`, state: "unpublished" });
  });

  test("keep their secrets to themselves: kept when not sent again, gone when null, in no answer", async ({
    market,
  }) => {
    const { browser } = await withAccount(market);
    const at = "/api/account/agents/secretive";
    const answers = [
      await browser.put(at, definition),
      await browser.put(at, { ...definition, name: "Without", secrets: { other: "another-secret" } }),
      await browser.get(at),
      await browser.post(`${at}/publish`),
      await browser.get("/api/account/agents"),
    ];
    expect(answers[2]?.body.secret_names.toSorted()).toEqual(["other", "token"]);
    await browser.put(at, { ...definition, name: "Less", secrets: { token: null } });
    expect((await browser.get(at)).body.secret_names).toEqual(["other"]);
    const told = answers.map(({ text }) => text).join("") + market.lines.join("");
    for (const secret of ["a-secret-value", "another-secret"]) expect(told).not.toContain(secret);
  });

  test("with problems are told all of them at once, and are neither kept nor published", async ({ market }) => {
    const { browser } = await withAccount(market);
    const wrong = { ...echoAgent, price_credits: -1, name: "", settings: { prompt: "{{nothing}}" } };
    const checked = await browser.post("/api/account/agent-definitions/check", wrong);
    expect(checked.body.problems.map(({ field }: { field: string }) => field)).toEqual(
      expect.arrayContaining(["price_credits", "name"]),
    );
    expect((await browser.post("/api/account/agent-definitions/check", echoAgent)).body).toEqual({ problems: [] });
    const put = await browser.put("/api/account/agents/wrong", wrong);
    expect(put.status).toBe(422);
    expect((await browser.put("/api/account/agents/no", echoAgent)).status).toBe(422);
    for (const body of [[], 5, "text", null]) {
      expect((await browser.put("/api/account/agents/wrong", body)).status).toBe(400);
    }
    expect((await browser.get("/api/account/agents")).body.agents).toEqual([]);
  });

  test("that the operator suspended cannot be changed by their creator", async ({ market }) => {
    const { browser, handle } = await withAccount(market);
    const at = "/api/account/agents/bad-one";
    await browser.put(at, echoAgent);
    await browser.post(`${at}/publish`);
    await operator(market, "agent", "suspend", "--agent", `${handle}/bad-one`);
    for (const refused of [
      () => browser.put(at, { ...echoAgent, name: "Other" }),
      () => browser.post(`${at}/publish`),
      () => browser.post(`${at}/unpublish`),
    ]) {
      expect((await refused()).status).toBe(409);
    }
  });

  test("of another account are not there", async ({ market }) => {
    const [one, other] = [await withAccount(market), await withAccount(market)];
    await one.browser.put("/api/account/agents/private", echoAgent);
    for (const refused of [
      () => other.browser.get("/api/account/agents/private"),
      () => other.browser.post("/api/account/agents/private/publish"),
      () => other.browser.post("/api/account/agents/private/unpublish"),
      () => other.browser.post("/api/account/agents/private/try", { input: { text: "x" } }),
    ]) {
      expect((await refused()).status).toBe(404);
    }
  });

  test("are a thousand at most, of a hundred versions and the live one each", async ({ market }) => {
    const { browser, handle } = await withAccount(market);
    const at = "/api/account/agents/redrafted";
    await browser.put(at, echoAgent);
    await browser.post(`${at}/publish`);
    const { db } = market.context;
    await db.query(
      `insert into agent_versions
       select agent_id, n, name, description, connector, price_credits, fields, accepts_extra_instructions, output_kind,
         settings, sealed_secrets, search
       from agent_versions v, generate_series(2, 300) n where agent_id = (select id from agents where handle = $1)`,
      [handle],
    );
    expect((await browser.put(at, { ...echoAgent, name: "Draft 301" })).body.version).toBe(301);
    const { rows } = await db.query(
      "select version from agent_versions where agent_id in (select id from agents where handle = $1) order by version",
      [handle],
    );
    expect([rows.length, rows[0].version, rows[1].version]).toEqual([101, 1, 202]);
    await db.query(
      `insert into agents (id, account_id, handle, slug, tool_name)
       select 'agt_' || n || $1, (select id from accounts where handle = $1), $1, 'agent-' || n, n || $1
       from generate_series(1, 999) n`,
      [handle],
    );
    expect((await browser.put("/api/account/agents/one-more", echoAgent)).status).toBe(409);
    expect((await browser.put(at, echoAgent)).status).toBe(200);
  });
});

test("a table whose rows cannot be thrown away keeps no other's", async ({ market }) => {
  const { db } = market.context;
  await signedIn(market);
  await db.query("update rate_limits set second = second - 7200");
  await db.query("alter table report_days rename to report_days_gone");
  await expect(deleteExpiredRows(db)).rejects.toThrow("report_days");
  await db.query("alter table report_days_gone rename to report_days");
  expect((await db.query("select from rate_limits where second < extract(epoch from now()) - 3600")).rowCount).toBe(0);
});

test("what has had its time is thrown away: sessions, links, people without account or session, counts of calls", async ({
  market,
}) => {
  const { db } = market.context;
  const [gone, stays] = [await signedIn(market), await withAccount(market)];
  await gone.post("/api/account/sign-out", { everywhere: true });
  await gone.post("/api/account/sign-in/email", { email: newEmail() });
  await db.query("update sign_in_users set updated_at = now() - interval '2 days'");
  await db.query("update sign_in_verifications set expires_at = now() - interval '1 second'");
  await db.query("update rate_limits set second = second - 7200");
  await deleteExpiredRows(db);
  const left = async (table: string) => (await db.query(`select from ${table}`)).rowCount;
  expect(await left("sign_in_verifications")).toBe(0);
  expect(await left("rate_limits")).toBe(0);
  const { rows } = await db.query(
    `select from sign_in_users u where account_id is null
       and not exists (select from sign_in_sessions where user_id = u.id)`,
  );
  expect(rows).toHaveLength(0);
  expect((await stays.browser.get("/api/account")).body.account.handle).toBe(stays.handle);
});
