import { describe, expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { nameOperator as nameAccount } from "../../marketplace/admin/operators.ts";
import { passkeysMax } from "../../marketplace/sign-in/passkeys.ts";
import { Authenticator, type Bent, ownOrigin } from "../support/authenticator.ts";
import { Browser, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import type { TestMarketplace } from "../support/marketplace.ts";

const test = marketTest({ env: { MARKETPLACE_PUBLIC_URL: ownOrigin, SMTP_URL: "" } });

const askToEnter = async (browser: Browser) =>
  (await browser.post("/api/account/sign-in/passkey/challenge")).body as never;

async function enter(market: TestMarketplace, authenticator: Authenticator, bent: Bent = {}) {
  const browser = new Browser(market.url);
  const assertion = authenticator.sign(await askToEnter(browser), bent);
  return { browser, assertion, ...(await browser.post("/api/account/sign-in/passkey", assertion)) };
}

async function add(browser: Browser, authenticator = new Authenticator(), bent: Bent = {}) {
  const options = await browser.post("/api/account/passkeys/challenge");
  if (options.status !== 200) return { ...options, authenticator };
  return { authenticator, ...(await browser.post("/api/account/passkeys", authenticator.create(options.body, bent))) };
}

/** As the command line does. */
async function nameOperator(market: TestMarketplace, handle: string) {
  const { db, sealer } = market.context;
  await nameAccount({ db, sealer }, await accountByHandle(db, handle));
}

async function holder(market: TestMarketplace) {
  const { browser, handle } = await withAccount(market);
  const { authenticator, body, status } = await add(browser);
  expect(status).toBe(201);
  return { browser, handle, authenticator, id: body.id as string };
}

test("a passkey that was added signs in to its account, wherever it is used", async ({ market }) => {
  const { browser, handle, authenticator, id } = await holder(market);
  const entered = await enter(market, authenticator);
  expect((await entered.browser.get("/api/account")).body.account.handle).toBe(handle);
  const { ways } = (await browser.get("/api/account/ways-in")).body;
  expect(ways).toMatchObject([
    { kind: "email", can_go: false },
    { id, kind: "passkey", can_go: true, used_at: expect.any(String) },
  ]);
});

test("a signature signs in once, in the browser that was asked for it", async ({ market }) => {
  const { authenticator } = await holder(market);
  const { browser, assertion, status } = await enter(market, authenticator);
  expect(status).toBe(200);
  await browser.post("/api/account/sign-out");
  expect((await browser.post("/api/account/sign-in/passkey", assertion)).status).toBe(401);
  const [asked, other] = [new Browser(market.url), new Browser(market.url)];
  const stolen = authenticator.sign(await askToEnter(asked));
  await askToEnter(other);
  expect((await other.post("/api/account/sign-in/passkey", stolen)).status).toBe(401);
  const at = new Browser(market.url);
  const twice = authenticator.sign(await askToEnter(at));
  const both = await Promise.all([1, 2].map(() => at.post("/api/account/sign-in/passkey", twice)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
});

test("what is signed for another origin, another service or by nobody in particular signs nobody in", async ({
  market,
}) => {
  const [one, other] = await Promise.all([holder(market), holder(market)]);
  for (const bent of [
    { origin: "https://evil.example" },
    { origin: "http://localhost:4021" },
    { rpId: "evil.example" },
    { isUnverified: true },
    { id: other.authenticator.id },
    { id: new Authenticator().id },
  ]) {
    const { status, browser } = await enter(market, one.authenticator, bent);
    expect({ bent, status }).toEqual({ bent, status: 401 });
    expect((await browser.get("/api/account")).status).toBe(401);
  }
  expect((await enter(market, new Authenticator())).status).toBe(401);
});

test("what is made for another origin, answers another challenge or is known already is not added", async ({
  market,
}) => {
  const { browser, authenticator } = await holder(market);
  const { browser: stranger } = await withAccount(market);
  for (const bent of [{ origin: "https://evil.example" }, { rpId: "evil.example" }, { isUnverified: true }]) {
    expect({ bent, status: (await add(browser, new Authenticator(), bent)).status }).toEqual({ bent, status: 422 });
  }
  expect((await add(stranger, authenticator)).status).toBe(422);
  const { body: options } = await browser.post("/api/account/passkeys/challenge");
  const made = new Authenticator().create(options);
  await stranger.post("/api/account/passkeys/challenge");
  expect((await stranger.post("/api/account/passkeys", made)).status).toBe(422);
  // The challenge of signing in is none for adding.
  const asked = await askToEnter(browser);
  const mixed = new Authenticator().create({ ...(asked as { challenge: string }), rp: { id: "localhost" } });
  expect((await browser.post("/api/account/passkeys", mixed)).status).toBe(422);
  expect((await browser.get("/api/account/ways-in")).body.ways).toHaveLength(2);
});

test("a passkey is called as its holder likes, and by nobody else", async ({ market }) => {
  const { browser, id } = await holder(market);
  const { browser: stranger } = await withAccount(market);
  const rename = (who: Browser, name: unknown) => who.patch(`/api/account/ways-in/${id}`, { name });
  expect((await rename(stranger, "Mine")).status).toBe(404);
  for (const name of ["", " \u200b ", "x".repeat(61), "\u3164", "\u2800", "key\u202e"]) {
    expect(await rename(browser, name)).toMatchObject({ status: 422, body: { field: "name" } });
  }
  expect((await rename(browser, "Family \u{1f468}\u200d\u{1f467}")).status).toBe(200);
  expect((await browser.get("/api/account/ways-in")).body.ways[1].name).toBe("Family \u{1f468}\u200d\u{1f467}");
  expect((await rename(browser, " Blue  key ")).status).toBe(200);
  expect((await browser.get("/api/account/ways-in")).body.ways[1].name).toBe("Blue key");
});

test("a passkey is added and removed within ten minutes of signing in alone, and its holder gets an e-mail of each", async ({
  market,
}) => {
  const { browser, id, handle } = await holder(market);
  const { db } = market.context;
  const signedIn = (minutes: number) =>
    db.query(
      `update sign_in_sessions s set created_at = now() - $2::integer * interval '1 minute'
       from sign_in_users u join accounts a on a.id = u.account_id where u.id = s.user_id and a.handle = $1`,
      [handle, minutes],
    );
  const letters = async () => {
    const { rows } = await db.query<{ subject: string }>(
      "select subject from account_letters l join accounts a on a.id = l.account_id where handle = $1 order by l.since",
      [handle],
    );
    return rows.map(({ subject }) => subject);
  };
  await signedIn(11);
  expect((await add(browser)).status).toBe(403);
  expect((await browser.delete(`/api/account/ways-in/${id}`)).status).toBe(403);
  expect((await browser.get("/api/account/ways-in")).body.ways).toHaveLength(2);
  expect(await letters()).toEqual(["A passkey was added (localhost:4020)"]);
  // For an operator signing in is not enough, and a code is, however old the session is.
  await nameOperator(market, handle);
  await signedIn(1);
  expect((await add(browser)).status).toBe(403);
  await signedIn(3 * 24 * 60);
  await db.query(
    `insert into operator_confirmations (session_id, account_id, until)
     select s.id, a.id, now() + interval '10 minutes' from sign_in_sessions s join sign_in_users u on u.id = s.user_id
     join accounts a on a.id = u.account_id where a.handle = $1`,
    [handle],
  );
  expect((await add(browser)).status).toBe(201);
  await db.query("delete from operators where account_id = (select id from accounts where handle = $1)", [handle]);
  await db.query("delete from account_letters where id = (select id from account_letters order by since desc limit 1)");
  await signedIn(1);
  expect((await browser.delete(`/api/account/ways-in/${id}`)).status).toBe(200);
  expect(await letters()).toEqual(["A passkey was added (localhost:4020)", "A passkey was removed (localhost:4020)"]);
});

test("a passkey is neither added nor removed while no e-mail of it can be kept, and attempts that fail keep none", async ({
  market,
}) => {
  const { browser, id, handle } = await holder(market);
  const { db } = market.context;
  const kept = async () => {
    const { rows } = await db.query<{ n: number }>(
      "select count(*)::integer as n from account_letters l join accounts a on a.id = l.account_id where handle = $1",
      [handle],
    );
    return rows[0]!.n;
  };
  const known = new Authenticator();
  expect((await add(browser, known)).status).toBe(201);
  for (const bent of [{ origin: "https://evil.example" }, { rpId: "evil.example" }, { isUnverified: true }]) {
    expect((await add(browser, new Authenticator(), bent)).status).toBe(422);
  }
  expect((await add(browser, known)).status).toBe(422);
  expect(await kept()).toBe(2);
  const foreign = await add(browser, new Authenticator(), { origin: "https://evil.example" });
  expect(foreign.body).toEqual({ error: expect.stringContaining(`not made at ${ownOrigin}`), field: "response" });
  const fill = (n: number) =>
    db.query(
      `insert into account_letters (account_id, kind, subject, text)
       select a.id, 'passkey', 'A', 'B' from accounts a, generate_series(1, $2) where handle = $1`,
      [handle, n],
    );
  await fill(18);
  expect(await add(browser)).toMatchObject({ status: 429, body: { error: expect.stringContaining("e-mails") } });
  expect((await browser.delete(`/api/account/ways-in/${id}`)).status).toBe(429);
  expect((await browser.get("/api/account/ways-in")).body.ways).toHaveLength(3);
  expect(await kept()).toBe(20);
  await db.query("delete from account_letters where subject = 'A'");
  expect((await browser.delete(`/api/account/ways-in/${id}`)).status).toBe(200);
});

test("while the database fails to keep what a passkey that holds leads to, it is a 503, and holds from there", async ({
  market,
}) => {
  const { browser } = await withAccount(market);
  const { db } = market.context;
  const failing = async <T>(table: string, work: () => Promise<T>) => {
    await db.query(`alter table ${table} add constraint fails check (false) not valid`);
    try {
      return await work();
    } finally {
      await db.query(`alter table ${table} drop constraint fails`);
    }
  };
  const authenticator = new Authenticator();
  for (const table of ["sign_in_passkeys", "account_letters"]) {
    expect((await failing(table, () => add(browser, authenticator))).status).toBe(503);
  }
  expect((await add(browser, authenticator)).status).toBe(201);
  expect((await add(browser, authenticator)).status).toBe(422);
  const entered = await failing("sign_in_sessions", () => enter(market, authenticator));
  expect(entered).toMatchObject({ status: 503, body: { error: expect.stringContaining("try again") } });
  expect((await enter(market, authenticator)).status).toBe(200);
});

describe("an operator", () => {
  const askToConfirm = async (browser: Browser) =>
    (await browser.post("/api/operator/confirm/passkey/challenge")).body as never;
  const confirm = (browser: Browser, assertion: object) => browser.post("/api/operator/confirm/passkey", assertion);

  test("is let in for ten minutes by a passkey of the account, once a challenge, and the audit log says by which", async ({
    market,
  }) => {
    const { browser, handle, authenticator, id } = await holder(market);
    await browser.patch(`/api/account/ways-in/${id}`, { name: "Blue key" });
    expect((await browser.post("/api/operator/confirm/passkey/challenge")).status).toBe(404);
    await nameOperator(market, handle);
    expect((await browser.get("/api/operator/acts")).status).toBe(403);
    const assertion = authenticator.sign(await askToConfirm(browser));
    const twice = await Promise.all([1, 2].map(() => confirm(browser, assertion)));
    expect(twice.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    const until = Date.parse(twice.find(({ status }) => status === 200)?.body.confirmed_until);
    expect(until - Date.now()).toBeLessThanOrEqual(10 * 60_000);
    const { acts } = (await browser.get(`/api/operator/acts?operator=${handle}`)).body;
    expect(acts).toMatchObject([{ operator: handle, act: "confirmed", note: "by the passkey “Blue key”" }]);
  });

  test("is not by another account's passkey, by an old, expired or another session's challenge, or unless asked who holds it", async ({
    market,
  }) => {
    const [{ browser, handle, authenticator }, other] = await Promise.all([holder(market), holder(market)]);
    await Promise.all([nameOperator(market, handle), nameOperator(market, other.handle)]);
    const refused = async (assertion: object) => {
      expect(await confirm(browser, assertion)).toMatchObject({ status: 422, body: { field: "response" } });
      expect((await browser.get("/api/operator/acts")).status).toBe(403);
    };
    for (const bent of [
      { isUnverified: true },
      { id: other.authenticator.id },
      { origin: "https://evil.example" },
      { rpId: "evil.example" },
    ]) {
      await refused(authenticator.sign(await askToConfirm(browser), bent));
    }
    await refused(other.authenticator.sign(await askToConfirm(browser)));
    const before = authenticator.sign(await askToConfirm(browser));
    await askToConfirm(browser);
    await refused(before);
    // What was asked to sign in, and what another session was asked.
    await refused(authenticator.sign(await askToEnter(browser)));
    const { browser: elsewhere } = await enter(market, authenticator);
    const theirs = authenticator.sign(await askToConfirm(elsewhere));
    await askToConfirm(browser);
    await refused(theirs);
    const late = authenticator.sign(await askToConfirm(browser));
    await market.context.db.query("update passkey_challenges set expires_at = now()");
    await refused(late);
    await refused(authenticator.sign({ challenge: "", rpId: "localhost" } as never));
    expect((await confirm(browser, { id: 5 })).status).toBe(400);
    const { browser: without, handle: plain } = await withAccount(market);
    await nameOperator(market, plain);
    expect((await without.post("/api/operator/confirm/passkey/challenge")).status).toBe(409);
  });
});

test("a page of another site, a session that is old and one without an account add none, nor does a body that is none", async ({
  market,
}) => {
  const { browser } = await withAccount(market);
  const foreign = { "sec-fetch-site": "cross-site", "content-type": "text/plain" };
  for (const path of ["passkeys/challenge", "passkeys", "sign-in/passkey/challenge", "sign-in/passkey"]) {
    expect((await browser.post(`/api/account/${path}`, {}, foreign)).status).toBe(403);
  }
  for (const path of ["passkeys", "sign-in/passkey"]) {
    for (const body of [{}, { id: 5 }, { id: "*", rawId: "a", type: "public-key", response: {} }]) {
      expect((await browser.post(`/api/account/${path}`, body)).status).toBe(400);
    }
  }
  await market.context.db.query("update sign_in_sessions set created_at = now() - interval '2 days'");
  expect((await add(browser)).status).toBe(403);
  expect((await new Browser(market.url).post("/api/account/passkeys/challenge")).status).toBe(401);
});

test("a removed passkey signs nobody in; another's cannot be removed, nor the last way in by two at once", async ({
  market,
}) => {
  const { browser, authenticator, id } = await holder(market);
  const { browser: stranger } = await withAccount(market);
  expect((await stranger.delete(`/api/account/ways-in/${id}`)).status).toBe(404);
  expect((await enter(market, authenticator)).status).toBe(200);
  // As where the operator has switched mail off: what is left are two passkeys.
  const second = (await add(browser)).body.id as string;
  const ways = market.context.signIn.ways as { email: boolean };
  ways.email = false;
  const removed = await Promise.all([id, second].map((one) => browser.delete(`/api/account/ways-in/${one}`)));
  ways.email = true;
  expect(removed.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const left = removed.findIndex(({ status }) => status === 409) === 0 ? id : second;
  expect((await browser.delete(`/api/account/ways-in/${left}`)).status).toBe(200);
  expect((await enter(market, authenticator)).status).toBe(401);
});

test("an account has so many passkeys and no more, many at once included", async ({ market }) => {
  const { browser } = await withAccount(market);
  for (let n = 1; n < passkeysMax; n += 1) expect((await add(browser)).status).toBe(201);
  const many = await Promise.all(
    [1, 2, 3].map(async () => {
      const { body } = await browser.post("/api/account/passkeys/challenge");
      return { body, cookie: browser.cookie };
    }),
  );
  const added = await Promise.all(
    many.map(({ body, cookie }) => browser.post("/api/account/passkeys", new Authenticator().create(body), { cookie })),
  );
  expect(added.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
  expect((await browser.get("/api/account/ways-in")).body.ways.length).toBeLessThanOrEqual(passkeysMax + 1);
  for (let n = 0; n < 2; n += 1) await add(browser);
  expect((await add(browser)).status).toBe(409);
});
