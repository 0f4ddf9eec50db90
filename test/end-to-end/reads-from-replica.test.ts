import supertest from "supertest";
import { test as base, expect } from "vitest";
import { createContext } from "../../facilitator/compose.ts";
import { readConfig } from "../../facilitator/config.ts";
import { migrations as facilitatorMigrations } from "../../facilitator/migrations/all.ts";
import { createServer as createFacilitator } from "../../facilitator/server.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { migrations as marketplaceMigrations } from "../../marketplace/migrations/all.ts";
import { createServer } from "../../marketplace/server.ts";
import type { ApiError } from "../../shared/errors.ts";
import { createLog } from "../../shared/log.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { Reads } from "../../shared/reads.ts";
import { echoAgent, marketplaceContext, seedMarket } from "../support/marketplace.ts";
import { type Pair, startPair } from "../support/standby.ts";

/** Both services, each with a standby of its database; who looks how far it is are the tests. */
const test = base
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
  .extend("pair", { scope: "file" }, async ({}, { onCleanup }) => {
    const pair = await startPair({ marketplace: marketplaceMigrations, facilitator: facilitatorMigrations });
    onCleanup(() => pair.stop());
    return pair;
  })
  .extend("market", { scope: "file" }, async ({ pair }, { onCleanup }) => {
    const context = await marketplaceContext({
      MARKETPLACE_DATABASE_URL: pair.primary.urlOf("marketplace"),
      MARKETPLACE_DATABASE_READ_URL: pair.standbyUrlOf("marketplace"),
    });
    onCleanup(() => context.stop());
    return { context, app: createServer(context), seeded: await seedMarket(context) };
  })
  .extend("facilitator", { scope: "file" }, async ({ pair }, { onCleanup }) => {
    const context = await createContext(
      readConfig({
        LOG_LEVEL: "silent",
        FACILITATOR_DATABASE_URL: pair.primary.urlOf("facilitator"),
        FACILITATOR_DATABASE_READ_URL: pair.standbyUrlOf("facilitator"),
        EIP155_84532_RPC_URL: "http://127.0.0.1:1",
        EIP155_84532_SIGNERS: `0x${"1".repeat(64)}`,
      }),
    );
    onCleanup(() => context.stop());
    return { context, app: createFacilitator(context) };
  });

/** Two databases are made from nothing for the first of them. */
const slow = { timeout: 180_000 };

async function pauseReplay(pair: Pair): Promise<void> {
  await pair.tellStandby("select pg_wal_replay_pause()");
  await expect
    .poll(async () => (await pair.tellStandby("select pg_get_wal_replay_pause_state() as state"))[0].state)
    .toBe("paused");
}

const isReadFrom = (reads: Reads, from: "primary" | "replica") =>
  expect
    .poll(async () => {
      await reads.look();
      return reads.now.from;
    })
    .toBe(from);

test(
  "listings, the pages of visitors and the public record are read from a replica that keeps up",
  slow,
  async ({ pair, market, facilitator }) => {
    const lastAsked = async () => {
      const rows = await pair.tellStandby(
        "select max(query_start)::text as at from pg_stat_activity where application_name in ('marketplace', 'facilitator')",
      );
      return rows[0].at as string;
    };
    const agent = `/${market.seeded.agent.address}`;
    const asked = [
      ...["/api/v1/agents", `/api/v1/agents${agent}`].map((path) => ({ ...market, path })),
      ...["/", "/explore", agent, `${agent}/about`, `${agent}.md`, `/${market.seeded.creator.handle}`].map((path) => ({
        ...market,
        path,
      })),
      ...["/api/x402/catalog", "/.well-known/x402"].map((path) => ({ ...market, path })),
      ...["/stats", "/transactions", "/transactions.csv", "/discovery/resources", "/discovery/search?query=a"].map(
        (path) => ({
          ...facilitator,
          path,
        }),
      ),
      ...["/", "/resources", "/payers/0.0.5"].map((path) => ({ ...facilitator, path })),
    ];
    for (const { context, app, path } of asked) {
      const ask = async () => {
        await context.reads.look();
        const before = await lastAsked();
        const { status } = await supertest(app)
          .get(path)
          .set({ authorization: `Bearer ${market.seeded.key}` });
        return { path, status, isRead: (await lastAsked()) > before };
      };
      await expect.poll(ask).toEqual({ path, status: 200, isRead: true });
    }
    const health = (await supertest(facilitator.app).get("/health")).body;
    expect(health.reads).toEqual({ from: expect.stringMatching(/^(replica|primary)$/), behind: expect.any(Number) });
  },
);

test("what a creator has just done is shown to them at once, and to all others when the replica has it or is too far behind", async ({
  pair,
  market: { context, app, seeded },
}) => {
  const { token } = await createKey(context.db, { accountId: seeded.creator.id, name: "own" });
  const listed = async (path: string, key: string) => {
    const { body } = await supertest(app)
      .get(path)
      .set({ authorization: `Bearer ${key}` });
    return (body.agents as Array<{ agent: string }>).map(({ agent }) => agent);
  };
  await isReadFrom(context.reads, "replica");
  await pauseReplay(pair);
  const { address } = await publishAgent(context, seeded.creator, "newest", { ...echoAgent, name: "Newest" });
  await context.reads.look();
  expect(await listed(`/api/v1/agents?creator=${seeded.creator.handle}`, token)).toContain(address);
  // No visitor is told that it does not exist.
  expect((await supertest(app).get(`/${address}`)).status).toBe(200);
  await isReadFrom(context.reads, "primary");
  expect(await listed("/api/v1/agents", seeded.key)).toContain(address);
  await pair.tellStandby("select pg_wal_replay_resume()");
  await isReadFrom(context.reads, "replica");
  await expect.poll(() => listed("/api/v1/agents", seeded.key)).toContain(address);
});

test("of several servers behind the replica's address one that is too far behind is not read, and one that has caught up is", async ({
  pair,
}) => {
  const options = { poolMax: 2, applicationName: "reads" };
  const [primary, replica] = [1, 2].map(() => connect(pair.primary.urlOf("marketplace"), options)) as [
    Database,
    Database,
  ];
  const reads = new Reads(primary, replica, createLog("reads", "silent"));
  const isStandbyRead = async () => {
    await reads.look();
    const { rows } = await reads.run((db) => db.query<{ is: boolean }>("select pg_is_in_recovery() as is"));
    return rows[0]!.is;
  };
  await pauseReplay(pair);
  await primary.query("create table behind ()");
  const writtenAt = Date.now();
  // Until what was written is older than what is read may be.
  await expect
    .poll(async () => {
      await reads.look();
      return { from: reads.now.from, isOld: Date.now() - writtenAt > 2_100 };
    })
    .toEqual({ from: "replica", isOld: true });
  // From here on the address gives the other server to every new connection.
  const held = await replica.connect();
  (replica as unknown as { options: { connectionString: string } }).options.connectionString =
    pair.standbyUrlOf("marketplace");
  const { rows } = await reads.run((db) => db.query<{ is: boolean }>("select pg_is_in_recovery() as is"));
  expect(rows).toEqual([{ is: false }]);
  await pair.tellStandby("select pg_wal_replay_resume()");
  await expect.poll(isStandbyRead).toBe(true);
  held.release();
  await Promise.all([primary.end(), replica.end()]);
});

test("how far the replica is behind is known while slow reads have all the connections to the primary that reads may take", async ({
  pair,
}) => {
  const options = { poolMax: 1, applicationName: "reads" };
  const urls = [pair.primary.urlOf("marketplace"), pair.primary.urlOf("marketplace"), pair.standbyUrlOf("marketplace")];
  const [primary, watched, replica] = urls.map((url) => connect(url, options)) as [Database, Database, Database];
  const reads = new Reads(primary, replica, createLog("reads", "silent"), watched);
  const held = await primary.connect();
  const look = async () => {
    await reads.look();
    return reads.now;
  };
  await expect.poll(look).toEqual({ from: "replica", behind: expect.any(Number) });
  held.release();
  await Promise.all([primary, watched, replica].map((db) => db.end()));
});

test("what the replica takes too long to read is answered 503 and asked of no other server", async ({
  market: { context },
}) => {
  const read = async () => {
    await context.reads.look();
    let servers = 0;
    const failure = await context.reads
      .run(async (db) => {
        servers += 1;
        if (db !== context.db) await db.query("select pg_sleep(600)");
      })
      .catch((error: ApiError) => error.code);
    return { servers, failure };
  };
  await expect.poll(read).toEqual({ servers: 1, failure: "unavailable" });
});

test("a replica that goes away takes no answer with it, one of another database is not read, and one that is back is", async ({
  pair,
  market: { context, app, seeded },
}) => {
  await isReadFrom(context.reads, "replica");
  await pair.stopStandby();
  const paths = ["/api/v1/agents", `/api/v1/agents/${seeded.agent.address}`];
  for (const path of paths) {
    expect(
      (
        await supertest(app)
          .get(path)
          .set({ authorization: `Bearer ${seeded.key}` })
      ).status,
    ).toBe(200);
  }
  await isReadFrom(context.reads, "primary");
  await pair.startStandby();
  await isReadFrom(context.reads, "replica");

  const other = await marketplaceContext({
    MARKETPLACE_DATABASE_URL: pair.primary.urlOf("marketplace"),
    MARKETPLACE_DATABASE_READ_URL: pair.standbyUrlOf("facilitator"),
  });
  try {
    await other.reads.look();
    expect(other.reads.now).toEqual({ from: "primary", behind: null });
  } finally {
    await other.stop();
  }
});

test("while the primary is away visitors still read what the replica has, and health tells where", async ({
  pair,
  market: { context, app },
}) => {
  await isReadFrom(context.reads, "replica");
  await pair.primary.stop();
  const seen = async () => {
    await context.reads.look();
    const pages = ["/", "/explore"];
    const statuses = await Promise.all(pages.map(async (path) => (await supertest(app).get(path)).status));
    const { database, reads } = (await supertest(app).get("/health")).body;
    return { statuses, database, from: reads.from };
  };
  await expect.poll(seen).toEqual({ statuses: [200, 200], database: false, from: "replica" });
});
