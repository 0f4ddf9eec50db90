import { afterEach, expect, test } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { runHomeTry } from "../../marketplace/runs/home-try.ts";
import { echoAgent, proveLedger, spendable, startMarketplace, type TestMarketplace } from "../support/marketplace.ts";

let market: TestMarketplace;
afterEach(() => market.stop());

/** A first page with an agent of 5 credits to try. */
async function start(env: Record<string, string> = {}) {
  market = await startMarketplace({
    env: { HOME_AGENT: "maker/echo", HOME_PAYER: "operator-shop", HOME_CREDITS_PER_DAY: "1000", ...env },
  });
  const creator = await createAccount(market.context.db, { handle: "maker" });
  const payer = await createAccount(market.context.db, { handle: "operator-shop" });
  await grant(market.context.db, { accountId: payer.id, credits: credits(1_000n) });
  await publishAgent(market.context, creator, "echo", echoAgent);
  const tryFrom = (address: string, text = "hello") => runHomeTry(market.context, address, { text });
  return { payer, tryFrom };
}

const codeOf = (error: { code: string }) => error.code;

test("a visitor runs the first page's agent; the operator's account pays, as any buyer does", async () => {
  const { payer, tryFrom } = await start();
  expect(await tryFrom("192.0.2.1")).toMatchObject({ success: true, credits_used: 5 });
  expect(await spendable(market.context, payer)).toBe(995);
  // What a visitor asked is not the payer's to read.
  const { rows } = await market.context.db.query("select input from runs where account_id = $1", [payer.id]);
  expect(rows).toEqual([{ input: null }]);
  await proveLedger(market.context);
});

test("of a hundred at once no more run than the day's credits pay for", async () => {
  const { payer, tryFrom } = await start({ HOME_CREDITS_PER_DAY: "22" });
  const tries = Array.from({ length: 100 }, (_one, n) => tryFrom(`192.0.2.${n}`).catch(codeOf));
  const ended = await Promise.all(tries);
  expect(ended.filter((end) => typeof end === "object")).toHaveLength(4);
  expect(ended.filter((end) => end === "rate_limited")).toHaveLength(96);
  expect(await spendable(market.context, payer)).toBe(980);
});

test("an address has so many a day, an IPv6 network of one customer as many as one address", async () => {
  const { tryFrom } = await start({ LIMIT_HOME_TRIES_PER_ADDRESS: "2" });
  for (const address of ["192.0.2.1", "192.0.2.1", "2001:db8:0:7::1", "2001:db8:0:7::2"]) {
    expect((await tryFrom(address)).success).toBe(true);
  }
  await expect(tryFrom("192.0.2.1")).rejects.toMatchObject({ code: "rate_limited" });
  await expect(tryFrom("2001:db8:0:7::3")).rejects.toMatchObject({ code: "rate_limited" });
  expect((await tryFrom("2001:db8:0:8::1")).success).toBe(true);
});

test("an input that is refused and a run that fails are no tries and cost nothing", async () => {
  const { payer, tryFrom } = await start({ LIMIT_HOME_TRIES_PER_ADDRESS: "1" });
  await expect(tryFrom("192.0.2.1", "x".repeat(51))).rejects.toMatchObject({ code: "invalid_value" });
  market.model.injectFault({ status: 400, times: 1 });
  expect((await tryFrom("192.0.2.1")).success).toBe(false);
  expect(await spendable(market.context, payer)).toBe(1_000);
  expect((await tryFrom("192.0.2.1")).success).toBe(true);
});

test("a visitor whose tries fail at the creator's cost uses up no other visitor's", async () => {
  const { tryFrom } = await start({ LLM_MODELS: "gpt-4o-mini=2:4000:200000", LIMIT_MODEL_FAILURES_PER_HOUR: "2" });
  market.model.injectFault({ truncate: true, times: 2 });
  for (let n = 0; n < 2; n += 1) expect((await tryFrom("192.0.2.1")).success).toBe(false);
  await expect(tryFrom("192.0.2.1")).rejects.toMatchObject({ code: "rate_limited" });
  expect((await tryFrom("192.0.2.2")).success).toBe(true);
  await proveLedger(market.context);
});

test("an operator's account without credits is a day that is used up, and nothing is owed", async () => {
  const { payer, tryFrom } = await start();
  await market.context.db.query("update balances set spendable = 0 where account_id = $1", [payer.id]);
  await expect(tryFrom("192.0.2.1")).rejects.toMatchObject({ code: "rate_limited" });
});

test("where no agent is named there is nothing to try", async () => {
  const { tryFrom } = await start({ HOME_AGENT: "" });
  await expect(tryFrom("192.0.2.1")).rejects.toMatchObject({ code: "not_found" });
});
