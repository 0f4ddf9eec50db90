import { expect } from "vitest";
import { inTransaction } from "../../shared/postgres.ts";
import { paymentBody } from "../support/evm-payments.ts";
import type { RunningFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";
import { addColumns, changedOf, preparedOf } from "../support/prepared-statements.ts";
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

test("a copy goes on as before while a newer version adds columns to every table", async ({ setting, facilitator }) => {
  const { db } = facilitator.context;
  const buyer = await setting.fundedBuyer();
  const bodies = () => Promise.all(Array.from({ length: 3 }, () => paymentBody(buyer, setting.terms)));
  await askEverything(facilitator, await bodies());
  const prepared = await preparedOf(db);
  const tables = await addColumns(db);
  expect(await inTransaction(db, (tx) => changedOf(tx, prepared))).toEqual([]);
  await askEverything(facilitator, await bodies());
  expect(tables).toBeGreaterThan(20);
  if (statements === "named" && !isPooled) expect(prepared.length).toBeGreaterThan(20);
});
