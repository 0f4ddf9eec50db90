import { expect } from "vitest";
import { type Alerts, setAlerts } from "../../marketplace/credits/alerts.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { sendAlerts } from "../../marketplace/credits/send-alerts.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { createMailer, type Mailer } from "../../marketplace/sign-in/mail.ts";
import { Secret } from "../../shared/env.ts";
import { withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { echoAgent, run, type TestMarketplace } from "../support/marketplace.ts";
import type { MailServer } from "../support/sign-in-servers.ts";

const test = marketTest();
test.afterAll(() => {
  for (const mailer of mailers) mailer.stop();
});

const mailers: Mailer[] = [];

function mailerAt(url: string): Mailer {
  const config = { mail: { smtpUrl: new Secret(url), from: "market@example.com" } };
  const mailer = createMailer(config as Parameters<typeof createMailer>[0], "market.example.com") as Mailer;
  mailers.push(mailer);
  return mailer;
}

/** As each copy of the service does it every minute. */
const send = (market: TestMarketplace, mail: MailServer, url = mail.url) =>
  sendAlerts({ db: market.context.db, mailer: mailerAt(url), publicUrl: "https://market.example.com" });

/** An account with 20 credits, an agent for 5, and a key that may spend 10 a day. */
async function newHolder(market: TestMarketplace, mail: MailServer, alerts: Omit<Alerts, "email">) {
  const { browser, handle } = await withAccount(market);
  const { db } = market.context;
  const { rows } = await db.query<{ id: AccountId; email: string }>(
    "select a.id, email from accounts a join sign_in_users on account_id = a.id where handle = $1",
    [handle],
  );
  const { id, email } = rows[0]!;
  const give = (amount: bigint) => grant(db, { accountId: id, credits: credits(amount) });
  await give(20n);
  await setAlerts({ db, sendsMail: true }, id, alerts);
  await browser.put("/api/account/agents/echo", echoAgent);
  await browser.post("/api/account/agents/echo/publish");
  const { token } = (await browser.post("/api/account/keys", { name: "ci\r\nBcc: x", max_credits_per_day: 10 })).body;
  const buy = async () => expect((await run(market, token, `${handle}/echo`)).status).toBe(200);
  const emails = () => mail.emailsTo(email);
  return { browser, id, email, give, buy, emails };
}

const anHourAgo = (market: TestMarketplace, id: AccountId) =>
  market.context.db.query("update credit_alerts set told_at = told_at - interval '61 minutes' where account_id = $1", [
    id,
  ]);

test("a balance that falls below its mark is told once, over several copies, and again when it falls again", async ({
  market,
  mail,
}) => {
  const { id, email, give, buy, emails } = await newHolder(market, mail, { balance_below: 20, cap_percent: null });
  await send(market, mail);
  expect(emails()).toBe(0);
  await buy();
  await Promise.all([send(market, mail), send(market, mail), send(market, mail)]);
  await send(market, mail);
  expect(emails()).toBe(1);
  const sent = await mail.emailTo(email);
  expect(sent).toContain("15 are left");
  expect(sent).toContain("https://market.example.com/settings/credits");

  await give(5n);
  await send(market, mail);
  await buy();
  await send(market, mail);
  expect(emails(), "no more than once an hour").toBe(1);
  await anHourAgo(market, id);
  await Promise.all([send(market, mail), send(market, mail)]);
  expect(emails()).toBe(2);
});

test("a key that spent its share of the cap is told once a day", async ({ market, mail }) => {
  const { email, buy, emails } = await newHolder(market, mail, { balance_below: null, cap_percent: 80 });
  await buy();
  await send(market, mail);
  expect(emails()).toBe(0);
  await buy();
  await Promise.all([send(market, mail), send(market, mail)]);
  await send(market, mail);
  expect(emails()).toBe(1);
  const sent = await mail.emailTo(email);
  expect(sent).toContain('"ci Bcc: x"');
  expect(sent).toContain("10 of its 10 credits");
});

test("a key that spent its share of a month's cap alone is told once, and of no day", async ({ market, mail }) => {
  const { browser, email, buy, emails } = await newHolder(market, mail, { balance_below: null, cap_percent: 50 });
  const { keys } = (await browser.get("/api/account/keys")).body;
  const change = { max_credits_per_day: null, max_credits_per_month: 20 };
  expect((await browser.patch(`/api/account/keys/${keys[0].id}`, change)).status).toBe(200);
  await buy();
  await send(market, mail);
  expect(emails()).toBe(0);
  await buy();
  await Promise.all([send(market, mail), send(market, mail)]);
  expect(emails()).toBe(1);
  expect(await mail.emailTo(email)).toContain("10 of its 20 credits for this month");
});

test("an e-mail that the mail server does not take is sent later", async ({ market, mail }) => {
  const { buy, emails } = await newHolder(market, mail, { balance_below: 20, cap_percent: 50 });
  await buy();
  await expect(send(market, mail, "smtp://127.0.0.1:1")).rejects.toThrow("could not be sent");
  expect(emails()).toBe(0);
  await send(market, mail);
  expect(emails()).toBe(2);
});

test("mailboxes that refuse, more than are written to in one go, keep nobody else's alerts waiting", async ({
  market,
}) => {
  const { db } = market.context;
  await db.query(`
    with made as (
      insert into accounts (id, handle) select 'acc_refused' || n, 'refused-' || n from generate_series(1, 51) n returning id, handle
    ), emptied as (
      insert into balances (account_id) select id from made
    ), named as (
      insert into sign_in_users (id, name, email, email_verified, account_id)
      select 'usr_' || handle, '', handle || '@refused.example', true, id from made
    ), capped as (
      insert into api_keys (id, account_id, slot, name, digest, start, last4, scope, rate_limit_per_minute, max_credits_per_day)
      select 'key_' || handle, id, 1, 'ci', sha256(handle::bytea), 'amk_', 'last', 'own_agents', 60, 1 from made returning id
    ), spent as (
      insert into key_days (key_id, day, spent, cap) select id, (now() at time zone 'utc')::date, 1, 1 from capped
    )
    insert into credit_alerts (account_id, balance_below, cap_percent) select id, 10, 50 from made`);
  // The newest, and so the last that would be read without an order.
  const last = "refused-51@refused.example";
  const told: string[] = [];
  const mailer: Mailer = {
    sendLink: async () => {},
    send: async (to, subject) => {
      if (to !== last) throw new Error("550 no such mailbox");
      told.push(subject);
    },
    stop: () => {},
  };
  const round = () => sendAlerts({ db, mailer, publicUrl: "https://market.example.com" });
  // Chance may leave one out of fifty in the first round, and not in the next.
  for (let n = 0; n < 2; n += 1) await expect(round()).rejects.toThrow("550");
  expect(told.toSorted()).toEqual(["refused-51: 0 credits left", "refused-51: 100 % of a key's cap spent"]);
  await db.query("delete from credit_alerts where account_id like 'acc_refused%'");
});

test("nobody is written to who did not ask for it, or asks no more", async ({ market, mail }) => {
  const { id, buy, emails } = await newHolder(market, mail, { balance_below: 20, cap_percent: 50 });
  await setAlerts({ db: market.context.db, sendsMail: true }, id, { balance_below: null, cap_percent: null });
  await buy();
  await send(market, mail);
  expect(emails()).toBe(0);
});

test("alerts are read, refused where no e-mail is sent, and named when wrong", async ({ market }) => {
  const { browser } = await withAccount(market);
  const none = { balance_below: null, cap_percent: null, email: null };
  expect((await browser.get("/api/account/alerts")).body).toEqual(none);
  expect((await browser.put("/api/account/alerts", { balance_below: 5, cap_percent: null })).status).toBe(409);
  for (const [wrong, field] of [
    [{ balance_below: 0, cap_percent: null }, "balance_below"],
    [{ balance_below: 5, cap_percent: 101 }, "cap_percent"],
  ] as const) {
    expect(await browser.put("/api/account/alerts", wrong)).toMatchObject({ status: 400, body: { field } });
  }
  expect((await browser.put("/api/account/alerts", { balance_below: null, cap_percent: null })).body).toEqual(none);
});
