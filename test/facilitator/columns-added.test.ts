import { expect } from "vitest";
import { paymentBody } from "../support/evm-payments.ts";
import type { RunningFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";

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
  ];
  for (const path of [...paths, `/payments/${transaction}`]) {
    const { status, body } = await facilitator.get(path);
    expect({ path, status, body }).toMatchObject({ status: 200 });
  }
  for (const page of [
    "/",
    `/payers/${payer}`,
    "/payees",
    "/transactions",
    `/tx/${transaction}`,
    "/resources",
    "/status",
  ]) {
    const response = await fetch(facilitator.url + page, { headers: { accept: "text/html" } });
    expect({ page, status: response.status }).toEqual({ page, status: 200 });
  }
}

test("a copy goes on as before while a newer version adds columns to every table", async ({ setting, facilitator }) => {
  const { db } = facilitator.context;
  const buyer = await setting.fundedBuyer();
  const bodies = () => Promise.all(Array.from({ length: 3 }, () => paymentBody(buyer, setting.terms)));
  await askEverything(facilitator, await bodies());
  const { rows } = await db.query("select tablename from pg_tables where schemaname = 'public'");
  for (const { tablename } of rows) await db.query(`alter table "${tablename}" add column added_later text`);
  await askEverything(facilitator, await bodies());
  expect(rows.length).toBeGreaterThan(20);
});
