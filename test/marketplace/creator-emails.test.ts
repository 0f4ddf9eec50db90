import { describe, expect } from "vitest";
import {
  noteEmail,
  prepareEmail,
  securityEmail,
  sendAccountEmails,
} from "../../marketplace/accounts/account-emails.ts";
import { createAccount, findAccount } from "../../marketplace/accounts/create.ts";
import { noteMove, sendSuspensionEmails } from "../../marketplace/accounts/suspension-emails.ts";
import { linkEmail } from "../../marketplace/accounts/users.ts";
import { moveAccountAs } from "../../marketplace/admin/act-on.ts";
import type { Operator } from "../../marketplace/admin/operators.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { createMailer, type Mailer } from "../../marketplace/sign-in/mail.ts";
import { Secret } from "../../shared/env.ts";
import { inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { type Browser, newEmail, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { type Answer, call, echoAgent, startMarketplace, type TestMarketplace, until } from "../support/marketplace.ts";
import { kept, perFile } from "../support/part.ts";
import { type MailServer, startMailServer } from "../support/sign-in-servers.ts";

const env = {
  LLM_MODELS: "small=1:500:2000,large=20:500:2000",
  TRY_CREDITS_PER_ACCOUNT_DAY: "3",
  TRY_CREDITS_PER_DAY: "5",
  LIMIT_FREE_CALLS_PER_ADDRESS: "0",
};

const mailEnv = (mail: MailServer) => ({ ...env, SMTP_URL: mail.url, MAIL_FROM: "market@example.com" });

const test = marketTest({ env }).extend("mailing", perFile, ({ market: { databaseUrl, model }, mail }, { onCleanup }) =>
  kept(startMarketplace({ databaseUrl, model, env: mailEnv(mail) }), onCleanup),
);

interface Creator {
  readonly browser: Browser;
  readonly handle: string;
  readonly agent: string;
  readonly give: (amount: number) => Promise<unknown>;
}

async function creator(market: TestMarketplace, definition: object = {}): Promise<Creator> {
  const { browser, handle } = await withAccount(market);
  const slug = "greeter";
  await browser.put(`/api/account/agents/${slug}`, { ...echoAgent, price_credits: 0, ...definition });
  await browser.post(`/api/account/agents/${slug}/publish`);
  const { id: accountId } = (await findAccount(market.context.db, handle))!;
  const give = (amount: number) =>
    grant(market.context.db, { accountId, credits: credits(BigInt(amount)), reference: `${handle} ${amount}` });
  return { browser, handle, agent: `${handle}/${slug}`, give };
}

const anonymously = (mailing: TestMarketplace, agent: string, url = mailing.url): Promise<Answer> =>
  call(url, `/api/agent/${agent}`, { body: { text: "hello" } });

const modelOf = async ({ browser }: Creator) => (await browser.get("/api/account/agents/greeter")).body.model;

describe("a creator whose agent or account is suspended", () => {
  const written = async (market: TestMarketplace) => {
    const { browser, handle, agent } = await creator(market);
    const { email } = (await browser.get("/api/account")).body;
    return { handle, agent, email };
  };
  const operator = async (market: TestMarketplace) => {
    const { handle } = await creator(market);
    await runCommand(["operator", "add", "--account", handle], market.environment);
    return { ...(await findAccount(market.context.db, handle))!, confirmedUntil: new Date() } satisfies Operator;
  };
  const send = (mailing: TestMarketplace, context = mailing.context) =>
    sendSuspensionEmails({ db: context.db, mailer: context.signIn.mailer, publicUrl: mailing.url });

  test("is told why by one e-mail, though every copy sends them, and the mail server was away first", async ({
    market,
    mailing,
    mail,
  }) => {
    const { agent, email, handle } = await written(market);
    const { db } = market.context;
    const away = await startMailServer();
    const mailer = createMailer({ mail: { smtpUrl: new Secret(away.url), from: "a@example.com" } } as never, "a")!;
    await away.stop();
    await inTransaction(db, async (tx) => {
      await tx.query("update agents set state = 'suspended', suspended_from = state where handle = $1", [handle]);
      const { id: accountId } = (await findAccount(tx, handle))!;
      await noteMove(tx, { move: "suspend", accountId, subject: agent, reason: "It copies others' texts." });
      await expect(sendSuspensionEmails({ db: tx, mailer, publicUrl: mailing.url })).rejects.toThrow(
        "could not be sent",
      );
    });
    mailer.stop();
    await Promise.all(Array.from({ length: 6 }, () => send(mailing)));
    await until(() => mail.emailsTo(email) > 0);
    await send(mailing);
    expect(mail.emailsTo(email)).toBe(1);
    const letter = await mail.emailTo(email);
    expect(letter).toContain("It copies others' texts.");
    expect(letter).toContain(agent);
  });

  test("is told by whichever way an operator does it, again when it happens again, and of nothing that was restored", async ({
    market,
    mailing,
    mail,
  }) => {
    const [{ handle, email }, one] = [await written(market), await operator(market)];
    const { db } = market.context;
    await moveAccountAs(db, one, handle, { move: "suspend", reason: "Its cards were stolen.", note: "case 5" });
    await send(mailing);
    await until(() => mail.emailsTo(email) === 1);
    const letter = await mail.emailTo(email);
    expect([letter.includes("Its cards were stolen."), letter.includes("case 5")]).toEqual([true, false]);
    await moveAccountAs(db, one, handle, { move: "restore", reason: "They were not." });
    await runCommand(["account", "suspend", "--account", handle, "--reason", "They were."], market.environment);
    await send(mailing);
    await until(() => mail.emailsTo(email) === 2);
    const { id: accountId } = (await findAccount(db, handle))!;
    await inTransaction(db, async (tx) => {
      await noteMove(tx, { move: "suspend", accountId, subject: handle, reason: "By mistake." });
      await noteMove(tx, { move: "restore", accountId, subject: handle, reason: "It was a mistake." });
    });
    await send(mailing);
    expect(mail.emailsTo(email)).toBe(2);
  });

  test("is told though the copy that was sending it ended, and of a new suspension that came while the e-mail was sent", async ({
    market,
    mailing,
    mail,
  }) => {
    const { handle, email } = await written(market);
    const { db, signIn } = mailing.context;
    const { id: accountId } = (await findAccount(db, handle))!;
    const suspend = (reason: string, tx: Queryable) =>
      noteMove(tx as Transaction, { move: "suspend", accountId, subject: handle, reason });
    const claimUntil = (until: string, tx: Queryable) =>
      tx.query(`update suspension_letters set claimed_until = now() + interval '${until}' where account_id = $1`, [
        accountId,
      ]);
    await inTransaction(db, async (tx) => {
      await suspend("The first time.", tx);
      await claimUntil("1 hour", tx);
    });
    await send(mailing);
    expect(mail.emailsTo(email)).toBe(0);
    const mailer: Mailer = {
      ...signIn.mailer!,
      send: async (...letter) => {
        if (letter[0] === email) await inTransaction(db, (tx) => suspend("The second time.", tx));
        await signIn.mailer!.send(...letter);
      },
    };
    // The claim of the copy that ended is over in the moment in which it is claimed here, for the services send, too.
    let isOver = false;
    const query = async (text: string, values?: unknown[]) => {
      if (isOver) return db.query(text, values);
      isOver = true;
      return inTransaction(db, async (tx) => {
        await claimUntil("-1 second", tx);
        return tx.query(text, values);
      });
    };
    await sendSuspensionEmails({ db: { query } as Queryable, mailer, publicUrl: mailing.url });
    await until(() => mail.emailsTo(email) >= 1);
    await send(mailing);
    await until(() => mail.emailsTo(email) === 2);
    expect(await mail.emailTo(email)).toContain("The second time.");
    await send(mailing);
    expect(mail.emailsTo(email)).toBe(2);
  });
});

test("what changed in how an account is entered is told by one e-mail, though every copy sends them, and the mail server was away first", async ({
  market,
  mailing,
  mail,
}) => {
  const { browser, handle } = await creator(market);
  const { email } = (await browser.get("/api/account")).body;
  const away = await startMailServer();
  const mailer = createMailer({ mail: { smtpUrl: new Secret(away.url), from: "a@example.com" } } as never, "a")!;
  await away.stop();
  await inTransaction(market.context.db, async (tx) => {
    const { id } = (await findAccount(tx, handle))!;
    await noteEmail(tx, id, securityEmail(mailing.url, "passkey", "A passkey was added", "It signs in."));
    await expect(sendAccountEmails({ db: tx, mailer })).rejects.toThrow("could not be sent");
  });
  mailer.stop();
  const { db, signIn } = mailing.context;
  await Promise.all([1, 2, 3].map(() => sendAccountEmails({ db, mailer: signIn.mailer })));
  await until(() => mail.emailsTo(email) > 0);
  await sendAccountEmails({ db, mailer: signIn.mailer });
  expect(mail.emailsTo(email)).toBe(1);
  expect(await mail.emailTo(email)).toContain(`${mailing.url}/settings/keys`);
});

test("an e-mail outlives the copy that was sending it, one of a passkey that never came is not sent, and clients' e-mails displace no passkey's; where none can be kept nothing is changed", async ({
  market,
  mailing,
  mail,
}) => {
  const { browser, handle } = await creator(market);
  const { email } = (await browser.get("/api/account")).body;
  const { db, signIn } = mailing.context;
  const { id } = (await findAccount(db, handle))!;
  const letter = (kind: "passkey" | "client", subject: string) => securityEmail(mailing.url, kind, subject, "It.");
  await inTransaction(db, async (tx) => {
    for (let n = 0; n < 20; n += 1) await noteEmail(tx, id, letter("client", "A client was allowed"));
    await expect(noteEmail(tx, id, letter("client", "One more"))).rejects.toMatchObject({ code: "rate_limited" });
    await noteEmail(tx, id, letter("passkey", "A passkey was added"));
    await prepareEmail(tx, id, letter("passkey", "A passkey never came"), "never-stored");
    await tx.query("update account_letters set claimed_until = now() + interval '1 hour' where account_id = $1", [id]);
  });
  const send = () => sendAccountEmails({ db, mailer: signIn.mailer });
  const kept = async () => {
    const asked =
      "select subject, count(*)::integer as n from account_letters where account_id = $1 group by 1 order by 1";
    return (await db.query<{ subject: string; n: number }>(asked, [id])).rows.map(({ n }) => n);
  };
  await send();
  expect(mail.emailsTo(email)).toBe(0);
  expect(await kept()).toEqual([20, 1, 1]);
  await db.query("delete from account_letters where account_id = $1 and kind = 'client'", [id]);
  await db.query("update account_letters set claimed_until = now() - interval '1 minute' where account_id = $1", [id]);
  await send();
  await expect.poll(kept).toEqual([]);
  expect(mail.emailsTo(email)).toBe(1);
  expect(await mail.emailTo(email)).toContain("A passkey was added");
});

test("e-mails that their mailbox refuses keep no other account's waiting", async ({ market, mailing }) => {
  const [refusing, other] = [await creator(market), await creator(market)];
  const emails = await Promise.all(
    [refusing, other].map(async ({ browser }) => (await browser.get("/api/account")).body.email as string),
  );
  const sent: string[] = [];
  const mailer: Mailer = {
    ...mailing.context.signIn.mailer!,
    send: async (to) => {
      if (to === emails[0]) throw new Error("550 no such mailbox");
      sent.push(to);
    },
  };
  await inTransaction(market.context.db, async (tx) => {
    const idOf = async ({ handle }: Creator) => (await findAccount(tx, handle))!.id;
    const [first, second] = [await idOf(refusing), await idOf(other)];
    const letter = securityEmail(mailing.url, "client", "A client was allowed", "It.");
    for (let n = 0; n < 20; n += 1) await noteEmail(tx, first, letter);
    const before =
      "update account_letters set since = since - interval '1 minute', claimed_until = claimed_until - interval '1 second'";
    await tx.query(`${before} where account_id = $1`, [first]);
    await noteEmail(tx, second, letter);
    await expect(sendAccountEmails({ db: tx, mailer })).rejects.toThrow("550");
    await tx.query(`${before} where account_id = $1`, [first]);
    await expect(sendAccountEmails({ db: tx, mailer })).rejects.toThrow("550");
    expect(sent).toContain(emails[1]);
    await tx.query("delete from account_letters where account_id = $1", [first]);
  });
});

describe("the creator of an agent that has stopped", () => {
  test("gets one e-mail a day for each reason, over all copies, and sees why in the account", async ({
    market,
    mailing,
    mail,
  }) => {
    const { db } = market.context;
    const handle = `written-${Math.random().toString(36).slice(2, 8)}`;
    const [owner, email] = [await createAccount(db, { handle }), newEmail()];
    await linkEmail(db, owner, email);
    const { address } = await publishAgent(market.context, owner, "greeter", { ...echoAgent, price_credits: 0 });
    const other = await startMarketplace({ databaseUrl: market.databaseUrl, model: market.model, env: mailEnv(mail) });
    for (let n = 0; n < 6; n += 1) {
      expect((await anonymously(mailing, address, n % 2 ? other.url : mailing.url)).status).toBe(503);
    }
    await Promise.all([mailing.context.backgroundWork.idle(), other.context.backgroundWork.idle()]);
    await other.stop();
    expect(mail.emailsTo(email)).toBe(1);
    const letter = await mail.emailTo(email);
    expect(letter).toContain(`Subject: ${address} has stopped answering`);
    expect(letter).toContain("balance");
    const { rows } = await market.context.db.query(
      "select reason from agent_letters l join agents a on a.id = l.agent_id where a.handle = $1",
      [handle],
    );
    expect(rows).toEqual([{ reason: "model_balance_spent" }]);
  });

  test("sees what a run costs, what the day allows and has cost, why it stopped, and when it goes on", async ({
    market,
    mailing,
  }) => {
    const one = await creator(market);
    expect(await modelOf(one)).toEqual({
      credits_per_run: 1,
      credits_per_day: 1_000,
      credits_used_today: 0,
      stopped_for: "model_balance_spent",
    });
    await one.give(50);
    expect((await modelOf(one)).stopped_for).toBeNull();
    const allowed = await one.browser.put("/api/account/agents/greeter/model-budget", { credits_per_day: 2 });
    expect(allowed.body).toMatchObject({ agent: one.agent, model: { credits_per_day: 2, stopped_for: null } });
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push((await anonymously(mailing, one.agent)).status);
    expect(answers).toEqual([200, 200, 503, 503]);
    await mailing.context.backgroundWork.idle();
    await until(async () => (await modelOf(one)).stopped_for === "model_budget_spent");
    expect(await modelOf(one)).toMatchObject({ credits_per_day: 2, credits_used_today: 2 });
    const { body } = await one.browser.get("/api/account/agents/greeter");
    expect(body.notices).toMatchObject([{ kind: "model_budget_spent", text: expect.stringContaining("a day") }]);
    await one.browser.put("/api/account/agents/greeter/model-budget", { credits_per_day: null });
    expect((await modelOf(one)).credits_per_day).toBe(1_000);
    expect((await anonymously(mailing, one.agent)).status).toBe(200);
    for (const credits_per_day of [-1, 1.5, "many", 1_000_000_001]) {
      const refused = await one.browser.put("/api/account/agents/greeter/model-budget", { credits_per_day });
      expect(refused).toMatchObject({ status: 400, body: { field: "credits_per_day" } });
    }
  });

  test("hears that the model left the list or became dearer than the price", async ({ market, mailing }) => {
    const one = await creator(market, { price_credits: 20, settings: { prompt: "{{text}}", model: "large" } });
    for (const [models, reason] of [
      ["small=1:500:2000", "model_not_offered"],
      ["small=1:500:2000,large=21:500:2000", "model_dearer_than_price"],
    ] as const) {
      const changed = await startMarketplace({
        databaseUrl: market.databaseUrl,
        model: market.model,
        env: { ...env, LLM_MODELS: models },
      });
      const answer = await anonymously(mailing, one.agent, changed.url);
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      await changed.context.backgroundWork.idle();
      const { rows } = await market.context.db.query(
        "select 1 from agent_notices n join agents a on a.id = n.agent_id where a.handle = $1 and n.kind = $2",
        [one.handle, reason],
      );
      expect(rows).toHaveLength(1);
      await changed.stop();
    }
  });
});

describe("trying an agent", () => {
  const attempt = ({ browser }: Creator) => browser.post("/api/account/agents/greeter/try", { input: { text: "x" } });

  test("is the platform's cost within a day's allowance, of an account and of all, over all copies", async ({
    market,
  }) => {
    await market.context.db.query("delete from try_days");
    const [one, two] = [await creator(market), await creator(market)];
    // What the model refused is not counted.
    market.model.injectFault({ status: 500 });
    expect((await attempt(one)).body.success).toBe(false);
    const mine = await Promise.all([1, 2, 3, 4, 5].map(() => attempt(one)));
    expect(mine.filter(({ status }) => status === 200)).toHaveLength(3);
    const theirs = await Promise.all([1, 2, 3, 4].map(() => attempt(two)));
    expect(theirs.filter(({ status }) => status === 200)).toHaveLength(2);
    for (const { status, headers } of [...mine, ...theirs]) {
      if (status === 200) continue;
      expect(status).toBe(429);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    await market.context.db.query("delete from try_days");
  });

  test("costs the creator nothing and asks for no balance", async ({ market }) => {
    const one = await creator(market, { price_credits: 5 });
    expect((await attempt(one)).body).toMatchObject({ success: true });
    expect((await one.browser.get("/api/account")).body.account.credits).toBe(0);
  });

  test("a model that is too dear for a day's allowance is refused", async ({ market }) => {
    const one = await creator(market, { settings: { prompt: "{{text}}", model: "large" } });
    expect((await attempt(one)).status).toBe(429);
  });
});
