import { expect } from "vitest";
import type { Database } from "../../shared/postgres.ts";
import { paymentBody } from "../support/evm-payments.ts";
import type { RunningFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";
import { isPooled, statements } from "../support/statements.ts";

const test = evmTest();

/** What clients ask; each of it prepares the statements that it takes on the connections that serve it. */
async function askEverything(facilitator: RunningFacilitator, bodies: readonly object[]) {
  const settled = [];
  for (const body of bodies) {
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: true });
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: true });
    const { body: answer } = await facilitator.settle(body);
    expect(answer).toMatchObject({ success: true });
    settled.push(answer);
  }
  const { transaction, payer } = settled[0];
  const paths = [
    "/health",
    "/supported",
    "/stats",
    "/transactions",
    `/transactions?payer=${payer}`,
    "/discovery/resources",
    "/discovery/resources?network=eip155:84532",
    "/discovery/search?query=weather",
  ];
  for (const path of [...paths, `/payments/${transaction}`]) {
    const { status, body } = await facilitator.get(path);
    expect({ path, status, body }).toMatchObject({ status: 200 });
  }
  for (const page of [
    "/",
    `/payers/${payer}`,
    "/payees",
    "/payees?self=hide",
    "/transactions",
    "/transactions?self=hide",
    `/tx/${transaction}`,
    "/resources",
    "/resources?q=weather",
    "/status",
  ]) {
    const response = await fetch(facilitator.url + page, { headers: { accept: "text/html" } });
    expect({ page, status: response.status }).toEqual({ page, status: 200 });
  }
}

interface Prepared {
  readonly name: string;
  readonly statement: string;
  readonly parameter_types: string;
  readonly result_types: string;
}

/** What any connection of the pool has prepared: each is taken at once, so that none is left out. */
async function preparedOf(db: Database): Promise<readonly Prepared[]> {
  const connections = await Promise.all(Array.from({ length: db.options.max }, () => db.connect()));
  try {
    const known = await Promise.all(
      connections.map((connection) =>
        connection.query<Prepared>(
          "select name, statement, array_to_string(parameter_types, ', ') as parameter_types, result_types::text from pg_prepared_statements where not from_sql",
        ),
      ),
    );
    return [...new Map(known.flatMap(({ rows }) => rows).map((row) => [row.statement, row])).values()];
  } finally {
    for (const connection of connections) connection.release();
  }
}

/** What PostgreSQL would refuse on a connection that has prepared it: "cached plan must not change result type". */
async function changedOf(db: Database, prepared: readonly Prepared[]): Promise<readonly string[]> {
  const changed: string[] = [];
  const connection = await db.connect();
  try {
    await connection.query("begin");
    for (const { name, statement, parameter_types, result_types } of prepared) {
      await connection.query(`prepare again ${parameter_types && `(${parameter_types})`} as ${statement}`);
      const { rows } = await connection.query(
        "select result_types::text from pg_prepared_statements where name = 'again'",
      );
      await connection.query("deallocate again");
      if (rows[0].result_types !== result_types) changed.push(name);
    }
    await connection.query("commit");
    return changed;
  } finally {
    connection.release();
  }
}

test("a copy goes on as before while a newer version adds columns to every table", async ({ setting, facilitator }) => {
  const { db } = facilitator.context;
  const buyer = await setting.fundedBuyer();
  const bodies = () => Promise.all(Array.from({ length: 3 }, () => paymentBody(buyer, setting.terms)));
  await askEverything(facilitator, await bodies());
  const prepared = await preparedOf(db);
  const { rows } = await db.query("select tablename from pg_tables where schemaname = 'public'");
  for (const { tablename } of rows) await db.query(`alter table "${tablename}" add column added_later text`);
  expect(await changedOf(db, prepared)).toEqual([]);
  await askEverything(facilitator, await bodies());
  expect(rows.length).toBeGreaterThan(20);
  if (statements === "named" && !isPooled) expect(prepared.length).toBeGreaterThan(20);
});
