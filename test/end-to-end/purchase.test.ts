import { describe, expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { moveAccount } from "../../marketplace/accounts/state.ts";
import { readBalances } from "../../marketplace/credits/balance.ts";
import { deleteDeliveredResults } from "../../marketplace/payments/paid-calls/delete-results.ts";
import { creditAbandonedPurchases } from "../../marketplace/payments/purchase.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { withAccount } from "../support/browser.ts";
import { paidTest } from "../support/fixtures.ts";
import { balanceOf, proveLedger, until } from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { perFile } from "../support/part.ts";
import { encodeHeader, payQuote, post, quoteIn } from "../support/pay-call.ts";

// Pages of a developer's machine are let in, and a person signs in by a link that is shown.
const local = { MARKETPLACE_PUBLIC_URL: "http://127.0.0.1:1", NODE_ENV: "development", SMTP_URL: "", MAIL_FROM: "" };
const test = paidTest({ env: local })
  .extend("url", perFile, ({ paid }) => `${paid.marketplace.url}/api/v1/credits/purchase`)
  .extend("buy", perFile, ({ paid, url }) => {
    return (credits: unknown, proof?: object, key = paid.market.key) =>
      post(url, { key, body: { credits }, ...(proof && { proof }) });
  })
  .extend("balance", perFile, ({ paid }) => {
    return async () => (await balanceOf(paid.marketplace, paid.market.key)).credits as number;
  });

describe("buying credits", () => {
  test("credits are quoted at a cent each, to the platform's wallets", async ({ buy, paid }) => {
    const answer = await buy(250);
    expect(answer.status).toBe(402);
    expect(quoteIn(answer).accepts).toMatchObject([
      { network: "hedera:testnet", amount: "2500000", payTo: paid.ledger.accounts.platform.accountId },
      { network: "eip155:84532", amount: "2500000", payTo: paid.platformWallet },
    ]);
  });

  test.for(["hedera", "evm"] as const)(
    "with a payment on %s adds them, once",
    async (chain, { balance, paid, buy }) => {
      const before = await balance();
      const proof = await payQuote(paid, chain, await buy(7));
      const answers = await Promise.all([buy(7, proof), buy(7, proof), buy(7, proof)]);
      for (const { status, body } of answers) {
        expect({ status, body }).toMatchObject({
          status: 200,
          body: { success: true, output: { data: { credits: 7 } } },
        });
      }
      expect((await buy(7, proof)).status).toBe(402);
      expect(await balance()).toBe(before + 7);
      await proveLedger(paid.marketplace.context);
    },
  );

  test("needs a key, and a whole number of credits within bounds, named when it is wrong", async ({ url, buy }) => {
    expect((await post(url, { body: { credits: 5 } })).status).toBe(401);
    for (const credits of [0, -1, 1.5, "5", 1_000_001, undefined]) {
      const { status, body } = await buy(credits);
      expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringContaining("credits") });
    }
  });

  test("credits are not bought with a payment for another account or another number of them", async ({
    balance,
    paid,
    buy,
  }) => {
    const before = await balance();
    const proof = await payQuote(paid, "evm", await buy(3));
    expect((await buy(3, proof)).status).toBe(200);
    expect((await buy(4, proof)).status).toBe(402);
    expect(await balance()).toBe(before + 3);
  });

  test("a purchase that was settled but not credited when the buyer left is credited by itself, once", async ({
    balance,
    paid,
    buy,
  }) => {
    const before = await balance();
    const proof = await payQuote(paid, "evm", await buy(11));
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await buy(11, proof)).status).toBe(503);
    expect(await balance()).toBe(before);
    paid.toFacilitator.behave(() => "pass");
    await expect.poll(balance).toBe(before + 11);
    expect((await buy(11, proof)).status).toBe(200);
    expect(await balance()).toBe(before + 11);
    await proveLedger(paid.marketplace.context);
  });

  test("a purchase whose copy was killed once it was settled is credited once, though its buyer asks two other copies as they credit it", async ({
    balance,
    paid,
    copy,
    buy,
  }) => {
    const before = await balance();
    const { context, environment, url } = paid.marketplace;
    const proof = await payQuote(paid, "evm", await buy(37));
    const buyAt = (service: string) =>
      post(`${service}/api/v1/credits/purchase`, { key: paid.market.key, body: { credits: 37 }, proof });
    const doomed = await startProcess(environment);
    let settles = 0;
    paid.toFacilitator.behave((path) => {
      if (path !== "/settle") return "pass";
      settles += 1;
      return settles === 1 ? "lose-answer" : "hold";
    });
    const died = buyAt(doomed.url).catch(() => "died");
    await until(() => paid.toFacilitator.held() > 0);
    doomed.child.kill("SIGKILL");
    expect(await died).toBe("died");
    paid.toFacilitator.behave(() => "pass");
    await context.db.query(
      "update paid_calls set lease_until = now() - interval '1 s', updated_at = now() - interval '3 s' where product like 'credits:%:37'",
    );
    const { signal } = new AbortController();
    const crediting = [context, copy.context].map((one) => creditAbandonedPurchases(one)(signal));
    const answers = await Promise.all([buyAt(url), buyAt(copy.url)]);
    await Promise.all(crediting);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 200, body: { success: true, output: { data: { credits: 37 } } } });
    }
    expect((await buyAt(url)).status).toBe(402);
    expect(await balance()).toBe(before + 37);
    await proveLedger(context);
  });

  test("a payment with a text that the database cannot read keeps no other purchase from being credited", async ({
    balance,
    paid,
    buy,
  }) => {
    const before = await balance();
    const odd = { ...(await payQuote(paid, "evm", await buy(1))), note: "\ud800 \u0000" };
    const proof = await payQuote(paid, "evm", await buy(29));
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await buy(1, odd)).status).toBe(503);
    expect((await buy(29, proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    await expect.poll(balance).toBe(before + 30);
  });

  test("a purchase that cannot be credited keeps no later one waiting, and is credited once it can be", async ({
    balance,
    paid,
    buy,
  }) => {
    const { db } = paid.marketplace.context;
    const before = await balance();
    const proofs = [await payQuote(paid, "evm", await buy(13)), await payQuote(paid, "evm", await buy(17))];
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await buy(13, proofs[0])).status).toBe(503);
    expect((await buy(17, proofs[1])).status).toBe(503);
    await db.query(`
      create function refuse_one() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse_one before update on paid_calls for each row
        when (old.product like 'credits:%:13') execute function refuse_one()`);
    try {
      paid.toFacilitator.behave(() => "pass");
      await expect.poll(balance).toBe(before + 17);
    } finally {
      await db.query("drop function refuse_one cascade");
    }
    await expect.poll(balance).toBe(before + 13 + 17);
    await proveLedger(paid.marketplace.context);
  });

  test("sixty older purchases that cannot be credited keep no later one waiting", async ({ balance, paid, buy }) => {
    // More than all rounds take that begin within the two seconds for which a call that was tried is left alone.
    const { db } = paid.marketplace.context;
    const before = await balance();
    const proof = await payQuote(paid, "evm", await buy(29));
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await buy(29, proof)).status).toBe(503);
    const stuck = "payment_key like '%-stuck%'";
    await db.query(`
      insert into paid_calls (network, payment_key, product, call_digest, requirements, proof, run_id, transaction_id, created_at)
      select network, payment_key || '-stuck' || n, product, call_digest, requirements, proof, run_id, 'settled',
        created_at - interval '1 minute'
      from paid_calls, generate_series(1, 60) n where product like 'credits:%:29';
      create function refuse_stuck() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse_stuck before insert on postings for each row
        when (new.reference like '%-stuck%') execute function refuse_stuck()`);
    try {
      paid.toFacilitator.behave(() => "pass");
      await expect.poll(balance).toBe(before + 29);
    } finally {
      await db.query(`delete from paid_calls where ${stuck}; drop function refuse_stuck cascade`);
    }
    await proveLedger(paid.marketplace.context);
  });

  test("purchases on a network whose facilitator does not answer keep none on another waiting", async ({
    balance,
    paid,
    buy,
  }) => {
    const before = await balance();
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    for (const credits of [2, 3, 4]) {
      expect((await buy(credits, await payQuote(paid, "hedera", await buy(credits)))).status).toBe(503);
    }
    let losesSettlements = true;
    paid.toFacilitator.behave((path, body) => {
      if (body.includes('"hedera:testnet"')) return "hold";
      return losesSettlements && path === "/settle" ? "lose-answer" : "pass";
    });
    try {
      // Credited before it was held, or held.
      await until(async () => paid.toFacilitator.held() > 0 || (await balance()) === before + 9);
      expect(paid.toFacilitator.held()).toBeGreaterThan(0);
      const between = await balance();
      const proof = await payQuote(paid, "evm", await buy(31));
      expect((await buy(31, proof)).status).toBe(503);
      losesSettlements = false;
      await expect.poll(balance).toBe(between + 31);
    } finally {
      paid.toFacilitator.behave(() => "pass");
    }
    await expect.poll(balance).toBe(before + 9 + 31);
    await proveLedger(paid.marketplace.context);
  });

  test("older purchases on a network that is offered no more keep no later one waiting", async ({
    balance,
    paid,
    buy,
  }) => {
    const { db } = paid.marketplace.context;
    const before = await balance();
    await db.query(`
      insert into paid_calls (network, payment_key, product, call_digest, requirements, proof, run_id, updated_at)
      select 'eip155:424242', 'gone' || n, 'credits:none:1', '', '{}',
        '{"paymentPayload": {"x402Version": 2, "accepted": {"network": "eip155:424242"}, "payload": {}}}', 'run_none',
        now() - interval '1 hour'
      from generate_series(1, 210) n`);
    try {
      paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
      const proof = await payQuote(paid, "evm", await buy(37));
      expect((await buy(37, proof)).status).toBe(503);
      paid.toFacilitator.behave(() => "pass");
      await expect.poll(balance).toBe(before + 37);
    } finally {
      await db.query("delete from paid_calls where network = 'eip155:424242'");
    }
  });

  describe("for an account that is closed meanwhile", () => {
    const path = "/api/account/credits/purchase";
    /** A new account that has signed a payment for so many credits, to post. */
    const buying = test.extend("buyer", async ({ paid }) => {
      const { browser, handle } = await withAccount(paid.marketplace);
      const proof = await payQuote(paid, "evm", await browser.post(path, { credits: 5 }));
      const pay = () => browser.post(path, { credits: 5 }, { "payment-signature": encodeHeader(proof) });
      const close = () => browser.post("/api/account/close", { handle, give_up_credits: true });
      const { db } = paid.marketplace.context;
      const calls = async () => {
        const product = "'credits:' || (select id from accounts where handle = $1) || ':5'";
        return (await db.query(`select from paid_calls where product = ${product}`, [handle])).rowCount;
      };
      return { handle, pay, close, calls };
    });
    /** Until a statement of that kind waits for a lock; the service's own jobs may wait beside it. */
    const isWaiting = async (db: Database, kind: string) => {
      const text = `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like $1`;
      await until(async () => ((await db.query(text, [kind])).rowCount ?? 0) > 0);
    };
    /** What holds a lock here may take long to be waited for. */
    const holding = (db: Database, work: (tx: Transaction) => Promise<void>) =>
      inTransaction(db, async (tx) => {
        await tx.query("set local idle_in_transaction_session_timeout = 0");
        await work(tx);
      });

    buying("buys nothing and costs nothing when it is posted during the closing", async ({ paid, buyer }) => {
      const { db } = paid.marketplace.context;
      const posted: Array<ReturnType<typeof buyer.pay>> = [];
      await holding(db, async (tx) => {
        await tx.query("select from accounts where handle = $1 for no key update", [buyer.handle]);
        posted.push(buyer.pay());
        await isWaiting(db, "%from accounts%for share%");
        await tx.query("update accounts set state = 'closed' where handle = $1", [buyer.handle]);
      });
      const { status, body } = await posted[0]!;
      expect({ status, body }).toMatchObject({ status: 401, body: { error: expect.stringContaining("closed") } });
      expect(await buyer.calls()).toBe(0);
    });

    buying(
      "refuses the closing, which waits for one that begins, until the credits are there",
      async ({ paid, buyer }) => {
        const { db } = paid.marketplace.context;
        paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
        const posted: Array<ReturnType<typeof buyer.pay>> = [];
        const closed: Array<ReturnType<typeof buyer.close>> = [];
        await holding(db, async (tx) => {
          // Nothing is begun, and everything can be read.
          await tx.query("lock table paid_calls in share mode");
          posted.push(buyer.pay());
          await isWaiting(db, "%insert into paid_calls%");
          closed.push(buyer.close());
          await isWaiting(db, "%from accounts%for update%");
        });
        expect((await posted[0]!).status).toBe(503);
        const onTheirWay = { status: 409, body: { error: expect.stringContaining("on their way") } };
        expect(await closed[0]!).toMatchObject(onTheirWay);
        const account = await accountByHandle(db, buyer.handle);
        await expect(moveAccount(db, account, "close")).rejects.toMatchObject({ code: "conflict" });
        paid.toFacilitator.behave(() => "pass");
        await until(async () => (await readBalances(db, [account.id]))[0]!.credits === 5n);
        expect((await buyer.close()).status).toBe(200);
        await proveLedger(paid.marketplace.context);
      },
    );
  });

  test("what was delivered is deleted after thirty days, and never that its payment was used", async ({
    paid,
    buy,
  }) => {
    const { db } = paid.marketplace.context;
    const proofs = [await payQuote(paid, "evm", await buy(19)), await payQuote(paid, "evm", await buy(23))] as const;
    for (const [index, credits] of [19, 23].entries()) expect((await buy(credits, proofs[index])).status).toBe(200);
    const rows = async () => {
      const { rows } = await db.query(
        `select product, output, delivered_at is not null as delivered from paid_calls
          where product like 'credits:%:19' or product like 'credits:%:23' order by product`,
      );
      return rows as Array<{ output: object; delivered: boolean }>;
    };
    await until(async () => (await rows()).every(({ delivered }) => delivered));
    const [, young] = await rows();
    await db.query("update paid_calls set result_at = now() - interval '29 days' where product like 'credits:%:23'");
    await db.query("update paid_calls set result_at = now() - interval '31 days' where product like 'credits:%:19'");
    await deleteDeliveredResults(db);
    expect(await rows()).toMatchObject([{ output: {}, delivered: true }, young!]);
    expect((await rows())[0]?.output).toEqual({});
    const used = { status: 402, body: { charged: true, error: expect.stringContaining("already_settled") } };
    expect(await buy(19, proofs[0])).toMatchObject(used);

    // One that its buyer has still to fetch.
    await db.query(
      "update paid_calls set delivered_at = null, result_at = now() - interval '31 days' where product like 'credits:%:23'",
    );
    await deleteDeliveredResults(db);
    expect((await rows())[1]?.output).toEqual(young!.output);
    expect((await buy(23, proofs[1])).status).toBe(200);
  });

  test("who buys credits signed in gets them on their own account, once, from two tabs and by both routes", async ({
    paid,
    buy,
  }) => {
    const { browser } = await withAccount(paid.marketplace);
    const path = "/api/account/credits/purchase";
    const quote = await browser.post(path, { credits: 9 });
    expect(quote.status).toBe(402);
    const proof = await payQuote(paid, "evm", quote);
    const pay = (who: typeof browser, credits: number) =>
      who.post(path, { credits }, { "payment-signature": encodeHeader(proof) });
    const answers = await Promise.all([pay(browser, 9), pay(browser, 9)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await browser.get("/api/account/credits")).body.credits).toBe(9);
    const key = (await browser.post("/api/account/keys", { name: "mine" })).body.token;
    expect((await buy(9, proof, key)).body.error).toContain("already_settled");

    // Another number, another account: not what was paid for.
    expect((await pay(browser, 10)).status).toBe(402);
    const { browser: stranger } = await withAccount(paid.marketplace);
    expect((await pay(stranger, 9)).status).toBe(402);
    expect((await stranger.get("/api/account/credits")).body.credits).toBe(0);

    const { body } = await browser.get("/api/account/ledger");
    expect(body.totals).toEqual([{ kind: "purchase", postings: 1, credits: 9, earned_credits: 0 }]);
    expect(body.postings[0].payment).toEqual({ network: "eip155:84532", transaction: expect.stringMatching(/^0x/) });
    await proveLedger(paid.marketplace.context);
  });
});
