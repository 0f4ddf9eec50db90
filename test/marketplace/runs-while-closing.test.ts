import supertest from "supertest";
import { expect } from "vitest";
import { moveAccount } from "../../marketplace/accounts/state.ts";
import type { Context } from "../../marketplace/context.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { hold } from "../../marketplace/credits/holds.ts";
import { newId } from "../../marketplace/ids.ts";
import { inTransaction, type Queryable } from "../../shared/postgres.ts";
import { appTest } from "../support/fixtures.ts";
import { type Market, proveLedger, seedMarket, until } from "../support/marketplace.ts";

const test = appTest();

const begin = (db: Queryable, { buyer, agent }: Market, price: bigint) =>
  hold(db, {
    id: newId("run"),
    accountId: buyer.id,
    agentId: agent.agentId,
    agentVersion: agent.version,
    priceCredits: credits(price),
    leaseMs: 600_000,
  });

/** Until a statement waits for a lock, or `work` is over. */
async function untilWaiting({ db }: Context, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await until(async () => isOver || ((await db.query(waiting)).rowCount ?? 0) > 0);
}

/** Whose account is closed while a run begins, what the run costs, and what its buyer is told where the closing came first. */
const cases = [
  ["its holder's run", "buyer", 5n, 401, "The account is not open."],
  ["its holder's run that costs nothing", "buyer", 0n, 401, "The account is not open."],
  ["a sale of its agent", "creator", 5n, 404, "There is no such agent."],
] as const;

for (const [what, who, price, status, error] of cases) {
  test(`closing an account waits for ${what} that is just beginning, and is refused`, async ({ context }) => {
    const market = await seedMarket(context);
    let closing: Promise<unknown> | undefined;
    const { outcome } = await inTransaction(context.db, async (tx) => {
      const held = await begin(tx, market, price);
      const close = moveAccount(context.db, market[who], "close");
      closing = close.catch((refusal: unknown) => refusal);
      await untilWaiting(context, closing);
      return held;
    });
    expect([outcome, await closing]).toEqual(["held", expect.objectContaining({ code: "conflict" })]);
    await proveLedger(context);
  });

  test(`${what} that begins while the account is being closed is refused once it is`, async ({ context, app }) => {
    const { key, agent, ...market } = await seedMarket(context, { price: Number(price) });
    let answer: Promise<supertest.Response> | undefined;
    const record = async () => {
      const body = { agent: agent.address, input: { text: "hello" } };
      const request = supertest(app).post("/api/v1/run").set("authorization", `Bearer ${key}`).send(body);
      answer = request.then((response) => response);
      await untilWaiting(context, answer);
    };
    await moveAccount(context.db, market[who], "close", { record });
    expect(await answer).toMatchObject({ status, body: { error } });
    await proveLedger(context);
  });
}
