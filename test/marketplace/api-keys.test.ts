import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { setCallCeiling } from "../../marketplace/api-keys/ceiling.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { listKeys } from "../../marketplace/api-keys/list.ts";
import { revokeKey } from "../../marketplace/api-keys/revoke.ts";
import { isWellFormed, newToken } from "../../marketplace/api-keys/token.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  balanceOf,
  call,
  run,
  seedMarket,
  startMarketplace,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";

const test = marketTest();

describe("a key", () => {
  test("is amk_, 32 random characters and 6 that check them; every single typo shows", () => {
    fc.assert(
      fc.property(fc.nat(37), fc.constantFrom(..."0aZ9xQ"), (at, char) => {
        const token = newToken();
        expect(token).toMatch(/^amk_[0-9A-Za-z]{38}$/);
        expect(isWellFormed(token)).toBe(true);
        const typo = token.slice(0, 4 + at) + char + token.slice(5 + at);
        expect(isWellFormed(typo)).toBe(typo === token);
      }),
    );
  });

  test("is stored as a SHA-256 digest and nowhere in the clear", async ({ market }) => {
    const { key, buyer } = await seedMarket(market.context);
    const { rows } = await market.context.db.query("select * from api_keys where account_id = $1", [buyer.id]);
    expect(rows[0].digest).toEqual(createHash("sha256").update(key).digest());
    expect(JSON.stringify(rows)).not.toContain(key.slice(8, 38));
    const [listed] = await listKeys(market.context.db, buyer.id);
    expect(listed).toMatchObject({ name: "test", start: key.slice(0, 8), last4: key.slice(-4), revoked_at: null });
  });

  test("stands in the list as long as it is active, however many were made and revoked since", async ({ market }) => {
    const { keyId, buyer } = await seedMarket(market.context);
    await addRevoked(market, { keyId, accountId: buyer.id, count: 150 });
    const listed = await listKeys(market.context.db, buyer.id);
    expect(listed.filter(({ revoked_at }) => revoked_at === null).map(({ id }) => id)).toEqual([keyId]);
    expect(listed).toHaveLength(101);
  });

  test("that was revoked is forgotten once a hundred newer ones were and nothing names it any more", async ({
    market,
  }) => {
    const { db } = market.context;
    const { key, keyId, buyer, agent } = await seedMarket(market.context, { balance: 100 });
    const { body } = await run(market, key, agent.address);
    await revokeKey(db, buyer.id, keyId);
    await addRevoked(market, { keyId, accountId: buyer.id, count: 150 });
    const kept = async () =>
      (await db.query("select id from api_keys where account_id = $1 order by created_at, id", [buyer.id])).rows.map(
        ({ id }) => id,
      );
    const [, capped] = await kept();
    await db.query("insert into key_days (key_id, day, spent, cap) values ($1, current_date, 1, 5)", [capped]);
    await deleteExpiredRows(db);
    expect(await kept()).toHaveLength(151);
    await db.query("update api_keys set revoked_at = now() - interval '61 minutes' where account_id = $1", [buyer.id]);
    const shown = await listKeys(db, buyer.id);
    await deleteExpiredRows(db);
    expect((await kept()).slice(0, 2)).toEqual([keyId, capped]);
    expect(await kept()).toHaveLength(102);
    expect(await listKeys(db, buyer.id)).toEqual(shown);
    await db.query("delete from runs where id = $1", [body.run_id]);
    await deleteExpiredRows(db);
    expect((await kept())[0]).toBe(capped);
  });

  test("is not made for an account that has revoked a thousand lately", async ({ market }) => {
    const { keyId, buyer } = await seedMarket(market.context);
    await addRevoked(market, { keyId, accountId: buyer.id, count: 1_000 });
    const make = () => createKey(market.context.db, { accountId: buyer.id, name: "one more" });
    await expect(make()).rejects.toMatchObject({ code: "conflict", message: /has revoked 1000 keys lately/ });
    await market.context.db.query(
      "update api_keys set revoked_at = now() - interval '2 hours' where revoked_at is not null",
    );
    await deleteExpiredRows(market.context.db);
    await make();
  });

  test("is refused on every copy of the service from the next call after it was revoked", async ({ market, copy }) => {
    const { key, keyId, buyer } = await seedMarket(market.context);
    expect((await call(copy.url, "/api/v1/balance", { key })).status).toBe(200);
    await revokeKey(market.context.db, buyer.id, keyId);
    expect((await call(copy.url, "/api/v1/balance", { key })).status).toBe(401);
    expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(401);
    await expect(revokeKey(market.context.db, buyer.id, keyId)).rejects.toMatchObject({ code: "not_found" });
  });

  test("cannot be revoked by another account", async ({ market }) => {
    const [mine, theirs] = [await seedMarket(market.context), await seedMarket(market.context)];
    await expect(revokeKey(market.context.db, theirs.buyer.id, mine.keyId)).rejects.toMatchObject({
      code: "not_found",
    });
    expect((await call(market.url, "/api/v1/balance", { key: mine.key })).status).toBe(200);
  });

  test("of an account that is not open is refused", async ({ market }) => {
    const { key, buyer } = await seedMarket(market.context);
    await market.context.db.query("update accounts set state = 'suspended' where id = $1", [buyer.id]);
    expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(401);
  });

  test("tells about when it was last used", async ({ market }) => {
    const { key, buyer } = await seedMarket(market.context);
    await call(market.url, "/api/v1/balance", { key });
    const usedAt = async () => (await listKeys(market.context.db, buyer.id))[0]?.last_used_at ?? null;
    await until(async () => (await usedAt()) !== null);
    const first = await usedAt();
    await call(market.url, "/api/v1/balance", { key });
    await market.context.backgroundWork.idle();
    expect(await usedAt()).toEqual(first);
  });
});

test("twenty keys made at once are five, and a revoked one makes room for one more", async ({ market }) => {
  const { db } = market.context;
  const account = await createAccount(db, { handle: "five-keys" });
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => createKey(db, { accountId: account.id, name: `key ${n}` })),
  );
  const keys = made.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(keys).toHaveLength(5);
  for (const result of made) {
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "conflict" });
  }
  await revokeKey(db, account.id, keys[2]!.id);
  const again = await Promise.allSettled(
    [1, 2, 3].map((n) => createKey(db, { accountId: account.id, name: `new ${n}` })),
  );
  expect(again.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

describe("401 with WWW-Authenticate and a JSON body", () => {
  const unknown = newToken();
  test.for([
    ["no header", undefined],
    ["an empty header", ""],
    ["another scheme", `Basic ${unknown}`],
    ["no token", "Bearer "],
    ["a token of another form", "Bearer sk-12345"],
    ["a token with a wrong checksum", `Bearer ${unknown.slice(0, -1)}${unknown.endsWith("0") ? "1" : "0"}`],
    ["a well-formed token that was never made", `Bearer ${unknown}`],
    ["two tokens", `Bearer ${unknown} ${unknown}`],
  ])("a call with %s is told to sign in by key, and no more", async ([_name, authorization], { market }) => {
    const headers = authorization === undefined ? {} : { authorization };
    for (const path of ["/api/v1/balance", "/api/v1/agents", "/api/v1/agents/a/b"]) {
      const answer = await call(market.url, path, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="marketplace"');
      expect(answer.body).toEqual({ error: expect.any(String) });
    }
  });

  test("the scheme is read whatever its case", async ({ market }) => {
    const { key } = await seedMarket(market.context);
    const headers = { authorization: `bearer ${key}` };
    expect((await call(market.url, "/api/v1/balance", { headers })).status).toBe(200);
  });
});

describe("a key's rate limit", () => {
  test("holds exactly over two copies at once, and says so on every answer", async ({ market, copy }) => {
    const { key } = await seedMarket(market.context, { rateLimit: 25 });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => call(n % 2 ? copy.url : market.url, "/api/v1/balance", { key })),
    );
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted).toHaveLength(25);
    const remaining = admitted.map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, n) => n));
    for (const { status, headers, body } of answers) {
      expect(headers.get("x-ratelimit-limit")).toBe("25");
      expect(headers.get("ratelimit-policy")).toBe('"key";q=25;w=60');
      expect(headers.get("ratelimit")).toMatch(/^"key";r=\d+;t=\d+$/);
      expect(Number(headers.get("x-ratelimit-reset")) - Date.now() / 1000).toBeLessThan(62);
      if (status === 200) continue;
      expect(status).toBe(429);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
      expect(headers.get("x-ratelimit-remaining")).toBe("0");
      expect(body).toEqual({ error: expect.any(String) });
    }
  });

  test("slides: a call makes room sixty seconds after it was counted, and refused calls count nothing", async ({
    market,
  }) => {
    const { db } = market.context;
    const count = async (wanted: number) =>
      (await db.query("select * from count_calls('slide', $1, 10)", [wanted])).rows[0];
    const later = (seconds: number) =>
      db.query("update rate_limits set second = second - $1 where subject = 'slide'", [seconds]);
    expect(await count(4)).toMatchObject({ admitted: 4, used: 4 });
    await later(30);
    expect(await count(20)).toMatchObject({ admitted: 6, used: 10 });
    expect(await count(5)).toMatchObject({ admitted: 0, used: 10 });
    await later(20);
    expect((await count(1)).admitted).toBe(0);
    await later(11);
    expect(await count(20)).toMatchObject({ admitted: 4, used: 10 });
    await later(3600);
    expect(await count(20)).toMatchObject({ admitted: 10, used: 10 });
  });

  test("is each key's own", async ({ market }) => {
    const [one, other] = [
      await seedMarket(market.context, { rateLimit: 1 }),
      await seedMarket(market.context, { rateLimit: 1 }),
    ];
    expect((await call(market.url, "/api/v1/balance", { key: one.key })).status).toBe(200);
    expect((await call(market.url, "/api/v1/balance", { key: one.key })).status).toBe(429);
    expect((await call(market.url, "/api/v1/balance", { key: other.key })).status).toBe(200);
  });
});

type Copies = Record<"market" | "copy", TestMarketplace>;

describe("an account's ceiling over all its keys", () => {
  const setup = async ({ market, copy }: Copies, ceiling: number, limits: readonly number[]) => {
    const { db } = market.context;
    const { id } = await createAccount(db, { handle: `ceiling-${ceiling}-${limits.join("-")}` });
    await setCallCeiling(db, id, 100_000);
    const keys = [];
    for (const limit of limits) {
      keys.push(await createKey(db, { accountId: id, name: `${limit}`, rateLimitPerMinute: limit }));
    }
    await setCallCeiling(db, id, ceiling);
    const ask = async (key: string, calls: number) => {
      const answers = await Promise.all(
        Array.from({ length: calls }, (_, n) => call(n % 2 ? copy.url : market.url, "/api/v1/balance", { key })),
      );
      for (const { status, headers } of answers) {
        if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      }
      return answers.filter(({ status }) => status === 200).length;
    };
    return { id, keys, ask };
  };

  test("holds a key that has a higher limit of its own, and says so", async ({ market, copy }) => {
    const { keys, ask } = await setup({ market, copy }, 15, [100_000]);
    expect(await ask(keys[0]!.token, 40)).toBe(15);
    const { headers } = await call(market.url, "/api/v1/balance", { key: keys[0]!.token });
    expect(headers.get("x-ratelimit-limit")).toBe("15");
  });

  test("holds all keys together, over two copies at once", async ({ market, copy }) => {
    const { keys, ask } = await setup({ market, copy }, 20, [100, 100, 5]);
    const admitted = await Promise.all(keys.map(({ token }) => ask(token, 30)));
    expect(admitted.reduce((sum, one) => sum + one)).toBe(20);
    expect(admitted[2]).toBeLessThanOrEqual(5);
  });

  test("is not stretched by revoking a key and making another", async ({ market, copy }) => {
    const { id, keys, ask } = await setup({ market, copy }, 10, [10]);
    expect(await ask(keys[0]!.token, 12)).toBe(10);
    await revokeKey(market.context.db, id, keys[0]!.id);
    const again = await createKey(market.context.db, { accountId: id, name: "again", rateLimitPerMinute: 10 });
    expect(await ask(again.token, 12)).toBe(0);
  });

  test("of a new account is 600; a key above it is refused, naming the field and the ceiling", async ({ market }) => {
    const { db } = market.context;
    const { id } = await createAccount(db, { handle: "usual-ceiling" });
    const made = (rateLimitPerMinute: number) => createKey(db, { accountId: id, name: "x", rateLimitPerMinute });
    await expect(made(601)).rejects.toMatchObject({
      code: "invalid_value",
      message: expect.stringMatching(/"rate_limit_per_minute".* 600/),
      body: { field: "rate_limit_per_minute" },
    });
    await made(600);
  });
});

test("who fails to authenticate too often is told to wait, while a valid key from there goes on working", async () => {
  const other = await startMarketplace({ env: { TRUST_PROXY: "true" } });
  const { key } = await seedMarket(other.context);
  const headers = { authorization: "Bearer nonsense", "x-forwarded-for": "203.0.113.9" };
  const answers = await Promise.all(Array.from({ length: 301 }, () => call(other.url, "/api/v1/balance", { headers })));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(300);
  const limited = answers.find(({ status }) => status === 429);
  expect(Number(limited?.headers.get("retry-after"))).toBeGreaterThan(0);
  const unknown = { authorization: `Bearer ${newToken()}`, "x-forwarded-for": "203.0.113.9" };
  expect((await call(other.url, "/api/v1/balance", { headers: unknown })).status).toBe(429);
  const valid = { authorization: `Bearer ${key}`, "x-forwarded-for": "203.0.113.9" };
  expect((await call(other.url, "/api/v1/balance", { headers: valid })).status).toBe(200);
  const elsewhere = { authorization: "Bearer nonsense", "x-forwarded-for": "203.0.113.10" };
  expect((await call(other.url, "/api/v1/balance", { headers: elsewhere })).status).toBe(401);
  await other.stop();
});

test("the balance says who is calling and with which key", async ({ market }) => {
  const { key, buyer } = await seedMarket(market.context, { balance: 12, rateLimit: 77 });
  expect(await balanceOf(market, key)).toEqual({
    credits: 12,
    held_credits: 0,
    earned_credits: 0,
    account: { handle: buyer.handle },
    key: {
      name: "test",
      start: key.slice(0, 8),
      scope: "own_agents",
      rate_limit_per_minute: 77,
      max_credits_per_day: null,
    },
  });
});

/** Keys like one of the account's, that were made and revoked since, one after another. */
async function addRevoked(market: TestMarketplace, { keyId, accountId, count }: Revoked): Promise<void> {
  await market.context.db.query(
    `insert into api_keys (id, account_id, slot, name, digest, start, last4, scope, rate_limit_per_minute, created_at, revoked_at)
     select 'key_' || substr(md5(n::text || $2), 1, 26), account_id, slot, 'made', sha256(convert_to(n || $2, 'utf8')), start, last4,
       scope, rate_limit_per_minute, now() + n * interval '1 microsecond', now()
     from api_keys, generate_series(1, $3) n where id = $1`,
    [keyId, accountId, count],
  );
}

interface Revoked {
  readonly keyId: string;
  readonly accountId: string;
  readonly count: number;
}
