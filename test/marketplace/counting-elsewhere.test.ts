import supertest from "supertest";
import { test as base, expect } from "vitest";
import { setCallCeiling } from "../../marketplace/api-keys/ceiling.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { createServer } from "../../marketplace/server.ts";
import { marketplaceContext, seedMarket } from "../support/marketplace.ts";
import { freshDatabase } from "../support/postgres.ts";
import { isPooled } from "../support/statements.ts";
import { hasValkey, Valkey } from "../support/valkey.ts";

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
  .extend("valkey", { scope: "file" }, async ({}, { onCleanup }) => {
    const valkey = await Valkey.start();
    onCleanup(() => valkey.kill());
    return valkey;
  })
  // biome-ignore lint/correctness/noEmptyPattern: as above
  .extend("databaseUrl", { scope: "file" }, async ({}) => freshDatabase("marketplace"))
  /** One more copy of the service on the database, counting in the Valkey unless told otherwise. */
  .extend("copyOf", { scope: "file" }, async ({ valkey, databaseUrl }, { onCleanup }) => {
    const stops: Array<() => Promise<void>> = [];
    onCleanup(async () => {
      for (const stop of stops) await stop();
    });
    return async (env: Record<string, string> = {}) => {
      const common = { MARKETPLACE_DATABASE_URL: databaseUrl, REDIS_URL: valkey.url, LIMIT_PUBLIC_PER_ADDRESS: "20" };
      const context = await marketplaceContext({ ...common, ...env });
      stops.push(() => context.stop());
      await expect.poll(() => context.valkey?.isShared).not.toBe(false);
      return { context, app: createServer(context) };
    };
  })
  .extend("copies", { scope: "file" }, async ({ copyOf }) => {
    // No answer is given up while the machine is busy: all of them are counted.
    const patient = { REDIS_TIMEOUT_MS: "10000" };
    return [await copyOf(patient), await copyOf(patient)] as const;
  });

type App = ReturnType<typeof createServer>;
const read = (app: App, path: string, key?: string) =>
  supertest(app)
    .get(path)
    .set(key === undefined ? {} : { authorization: `Bearer ${key}` });
const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => ({
  answered: answers.filter(({ status }) => status === 200).length,
  refused: answers.filter(({ status }) => status === 429).length,
});
const many = <T>(count: number, ask: (n: number) => PromiseLike<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(n)));

test.runIf(hasValkey)(
  "limits of keys, of their account together and of addresses hold over all copies to the call",
  async ({ copies }) => {
    const [{ context }] = copies;
    const { key, buyer } = await seedMarket(context, { rateLimit: 50 });
    const balance = (token: string) => many(70, (n) => read(copies[n % 2]!.app, "/api/v1/balance", token));
    const ofKey = await balance(key);
    expect(statuses(ofKey)).toEqual({ answered: 50, refused: 20 });
    const left = ofKey
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers["x-ratelimit-remaining"]));
    expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    expect(Number(ofKey.find(({ status }) => status === 429)?.headers["retry-after"])).toBeGreaterThan(0);

    // What its first key was refused does not count against the account, and a key of its own is not asked for the rest.
    await setCallCeiling(context.db, buyer.id, 80);
    const second = await createKey(context.db, { accountId: buyer.id, name: "second", rateLimitPerMinute: 50 });
    expect(statuses(await balance(second.token))).toEqual({ answered: 30, refused: 40 });

    expect(statuses(await many(30, (n) => read(copies[n % 2]!.app, "/.well-known/x402")))).toEqual({
      answered: 20,
      refused: 10,
    });
  },
);

// What is set for a database holds for connections that are made afterwards, and a pooler has its own already.
test.runIf(hasValkey && !isPooled)(
  "a read of the catalogue writes nothing to the database, and needs no Valkey that answers",
  async ({ copies, copyOf, valkey }) => {
    const [{ context }] = copies;
    const { key, agent } = await seedMarket(context);
    const { rows } = await context.db.query("select current_database() as name");
    await context.db.query(`alter database ${rows[0].name} set default_transaction_read_only = on`);
    try {
      const env = { MARKETPLACE_MIGRATE: "off", MARKETPLACE_QUOTE_KEY: Buffer.alloc(32, 1).toString("base64") };
      const { app, context: own } = await copyOf(env);
      const { app: without } = await copyOf({ ...env, REDIS_URL: "" });
      const paths = ["/api/v1/agents", `/api/v1/agents/${agent.address}`];
      const answers = (which: App) => Promise.all(paths.map(async (path) => (await read(which, path, key)).status));
      const counting = async () =>
        (await read(app, "/health").set("x-forwarded-for", "192.0.2.9")).body.counting as unknown;
      expect(await answers(app)).toEqual([200, 200]);
      expect(await answers(without)).toEqual([503, 503]);
      valkey.pause();
      const seen = async () => ({ answers: await answers(app), shared: own.valkey?.isShared });
      expect((await seen()).answers).toEqual([200, 200]);
      await expect.poll(seen).toEqual({ answers: [200, 200], shared: false });
      expect(await counting()).toEqual({ store: "valkey", shared: false });
      valkey.resume();
      await expect.poll(counting).toEqual({ store: "valkey", shared: true });
    } finally {
      valkey.resume();
      await context.db.query(`alter database ${rows[0].name} reset default_transaction_read_only`);
    }
  },
);
