import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proveLedger } from "../../marketplace/credits/prove.ts";
import { asApiError } from "../../shared/http.ts";
import { connect, type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { elapse } from "../support/elapse.ts";
import { freshDatabase } from "../support/postgres.ts";

let db: Database;
let other: Database;
beforeAll(async () => {
  const url = await freshDatabase("marketplace");
  db = connect(url, { poolMax: 3, applicationName: "under-test" });
  other = connect(url, { poolMax: 1, applicationName: "other" });
  await db.query("create table marks (mark int)");
});
afterAll(async () => {
  await db?.end();
  await other?.end();
});

const pidOf = async (queryable: Queryable): Promise<number> =>
  (await queryable.query("select pg_backend_pid() as pid")).rows[0].pid;

/** Ends a connection; answers once it is gone. */
async function end(pid: number): Promise<void> {
  await other.query("select pg_terminate_backend($1, 60000)", [pid]);
}

const away = (error: unknown) => {
  const { status, headers } = asApiError(error);
  return status === 503 && Number(headers["retry-after"]) > 0;
};

describe("a connection that ends", () => {
  test("while it is idle is replaced, and nobody notices", async () => {
    const connections = db.totalCount;
    await end(await pidOf(db));
    await expect.poll(() => db.totalCount).toBe(connections - 1);
    expect((await db.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("while a statement is under way fails it as one to be repeated, 503 with Retry-After", async () => {
    const statement = db.query("select pg_sleep(50)").catch((error: unknown) => error);
    const ended = () =>
      other.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(50)' and application_name = 'under-test'",
      );
    await expect.poll(async () => (await ended()).rowCount).toBeGreaterThan(0);
    expect(away(await statement)).toBe(true);
    expect((await db.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("between two statements of a transaction fails it the same way, and nothing of it is kept", async () => {
    const work = inTransaction(db, async (tx) => {
      await tx.query("insert into marks values (1)");
      await end(await pidOf(tx));
      await tx.query("insert into marks values (2)");
    });
    expect(away(await work.catch((error: unknown) => error))).toBe(true);
    expect((await db.query("select from marks")).rowCount).toBe(0);
  });

  test("before a transaction commits is no success", async () => {
    const work = inTransaction(db, async (tx) => {
      await tx.query("insert into marks values (3)");
      await end(await pidOf(tx));
    });
    expect(away(await work.catch((error: unknown) => error))).toBe(true);
    expect((await db.query("select from marks")).rowCount).toBe(0);
  });

  test("in the hands of whoever checked it out, for as long as they please, does no harm", async () => {
    const client = await db.connect();
    const heard = new Promise<void>((resolve) => client.once("end", () => resolve()));
    await end(await pidOf(client));
    await heard;
    await expect(client.query("select 1")).rejects.toSatisfy(away);
    client.release();
    expect((await db.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("while the credits ledger is proved fails the proof and nothing else", async () => {
    const proving = proveLedger(db).then(
      () => undefined,
      (error: unknown) => error,
    );
    for (let ended = false; !ended; ) {
      const { rowCount } = await other.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'under-test' and state <> 'idle'",
      );
      ended =
        (rowCount ?? 0) > 0 ||
        (await Promise.race([proving.then(() => true), elapse(1, "until it is looked at again").then(() => false)]));
    }
    const error = await proving;
    expect(error === undefined || away(error)).toBe(true);
    expect((await proveLedger(db)).promises.length).toBeGreaterThan(0);
  });
});

test.each([
  [{ code: "57P01" }],
  [{ code: "57P03" }],
  [{ code: "53300" }],
  [{ code: "08006" }],
  [{ code: "25006" }],
  [{ code: "ENOTFOUND" }],
  [new Error("Client has encountered a connection error and is not queryable")],
  [new Error("Connection terminated unexpectedly")],
  [new Error("timeout exceeded when trying to connect")],
])("%o says that the database is away", (error) => {
  expect(away(error)).toBe(true);
});

test.each([[{ code: "40P01" }], [{ code: "40001" }]])("%o gave way to another, and may be asked again", (error) => {
  expect(asApiError(error)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
});

test.each([[new Error("no")], [{ code: "23505" }], [{ code: 8, message: {} }], [undefined], ["text"]])(
  "%o says nothing of the database",
  (error) => {
    expect(asApiError(error ?? {}).status).toBe(500);
  },
);
