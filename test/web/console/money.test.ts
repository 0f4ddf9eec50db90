import { privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../../marketplace/ids.ts";
import { createServer } from "../../../marketplace/server.ts";
import { createMailer } from "../../../marketplace/sign-in/mail.ts";
import { Secret } from "../../../shared/env.ts";
import { type Listening, listen } from "../../../shared/http.ts";
import { marketTest } from "../../support/fixtures.ts";
import { echoAgent, run, type TestMarketplace } from "../../support/marketplace.ts";
import { perFile } from "../../support/part.ts";
import { newPerson, Person } from "./person.ts";
import { allFormsIn } from "./posted-form.ts";

const base = "eip155:84532";

const test = marketTest().extend("options", perFile, ({ chain }) => ({
  env: { EVM_RPC_URLS: `${base}=${chain.rpcUrl}`, PLATFORM_WALLETS: `${base}=0x${"5".repeat(40)}` },
}));
test.afterAll(async () => {
  for (const listening of alsoListening) await listening.stop();
});

const alsoListening: Listening[] = [];

/** The same marketplace as it answers where it can send mail. */
async function withMail(market: TestMarketplace): Promise<string> {
  const { signIn } = market.context;
  const mail = { smtpUrl: new Secret("smtp://127.0.0.1:1"), from: "market@example.com" };
  const mailer = createMailer({ mail } as Parameters<typeof createMailer>[0], "market.example.com");
  const app = createServer({ ...market.context, signIn: { ...signIn, mailer } });
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  alsoListening.push(listening);
  return listening.url;
}

/** A person who earned four credits of their hundred by running their own agent. */
async function newSeller(market: TestMarketplace): Promise<Person> {
  const person = await newPerson(market);
  const { rows } = await market.context.db.query<{ id: AccountId }>("select id from accounts where handle = $1", [
    person.handle,
  ]);
  await grant(market.context.db, { accountId: rows[0]!.id, credits: credits(100n), note: "<b>hello</b>" });
  await person.browser.put("/api/account/agents/echo", { ...echoAgent, price_credits: 4 });
  await person.browser.post("/api/account/agents/echo/publish");
  const { token } = (await person.browser.post("/api/account/keys", { name: "<i>server" })).body;
  await run(market, token, `${person.handle}/echo`);
  return person;
}

const post = (person: Person, fields: Record<string, string>) => person.post("/settings/credits", fields);

describe("the credits page without JavaScript", () => {
  test("shows the statement with totals that add up, and every text as text", async ({ market }) => {
    const person = await newSeller(market);
    const { html } = await person.get("/settings/credits");
    const text = html.replaceAll(/<[^>]*>/g, "");
    expect(text).toContain("opened with 0, granted +100, runs −4, ends with 96");
    expect(text).toMatch(/Earned: opened with 0, sold \+\d, ends with \d/);
    expect(html).toContain("&lt;b>hello");
    expect(html).not.toMatch(/<b>hello|<i>server/);
    const filtered = await person.get("/settings/credits?kind=grant&month=all");
    expect(filtered.html.replaceAll(/<[^>]*>/g, "")).toContain("All of time, selected: 1 posting, granted +100");
    expect(filtered.html).toContain("/api/account/ledger.csv?kind=grant");
    const sales = (await person.get("/settings/credits?kind=capture&month=all")).html.replaceAll(/<[^>]*>/g, "");
    expect(sales).toMatch(/selected: 1 posting\s*Earned, sold \+\d/);
    expect((await person.get("/settings/credits?kind=tips")).status).toBe(400);
  });

  test("says that wallets need JavaScript and how credits are bought without it, and offers no form for it", async ({
    market,
  }) => {
    const { html } = await (await newPerson(market)).get("/settings/credits");
    const [card = ""] = /<section[^>]* id="buy".*?<\/section>/s.exec(html) ?? [];
    expect(/<noscript>(.*?)<\/noscript>/s.exec(card)?.[1]).toMatch(
      /by JavaScript.*an API key.*\/docs\/api\/purchaseCredits/s,
    );
    expect(card).toMatch(/<form class="[^"]*if-scripts[^"]*" id="buy-form"/);
    expect(card).toMatch(/<div class="if-scripts">(?:(?!<\/div>).)*<div class="callout">.*You may reload this page/s);
  });

  test("says what is set aside for the models of one's agents, so that what the balance lacks is found", async ({
    market,
  }) => {
    const person = await newSeller(market);
    const held = async () => (await person.get("/settings/credits")).html.replaceAll(/<[^>]*>/g, "");
    expect(await held()).not.toContain("set aside");
    await market.context.db.query(
      `insert into model_days (agent_id, day, account_id, taken, spent)
       select id, (now() at time zone 'utc')::date, account_id, 100, 7 from agents where handle = $1`,
      [person.handle],
    );
    expect(await held()).toContain("93 credits more set aside for your agents’ models");
  });

  test("moves nothing more when the same form is posted again, and another form's post moves again", async ({
    market,
  }) => {
    const person = await newSeller(market);
    const shown = async () => {
      const { html } = await person.get("/settings/credits");
      return allFormsIn(html).find(({ fields }) => fields.act === "move")!.fields;
    };
    const standing = async () => (await person.browser.get("/api/account/credits")).body;
    const before = await standing();
    const form = { ...(await shown()), credits: "1" };
    const answers = await Promise.all(Array.from({ length: 3 }, () => post(person, form)));
    expect(answers.map(({ location }) => location).toSorted()).toEqual([
      "/settings/credits?done=moved",
      "/settings/credits?done=moved-before",
      "/settings/credits?done=moved-before",
    ]);
    expect((await person.get("/settings/credits?done=moved-before")).html).toContain("it moved no more now");
    expect(await standing()).toMatchObject({ earned_credits: before.earned_credits - 1, credits: before.credits + 1 });
    expect((await post(person, { ...(await shown()), credits: "1" })).location).toBe("/settings/credits?done=moved");
    expect(await standing()).toMatchObject({ earned_credits: before.earned_credits - 2 });
  });

  test("moves what was earned, and says at the field what is too much", async ({ market }) => {
    const person = await newSeller(market);
    const { earned_credits: earned } = (await person.browser.get("/api/account/credits")).body;
    const refused = await post(person, { act: "move", credits: "50" });
    expect([refused.status, refused.html.includes('value="50"')]).toEqual([422, true]);
    expect(refused.html).toContain(`Must be at most ${earned}`);
    expect((await post(person, { act: "move", credits: "" })).status).toBe(422);
    const moved = await post(person, { act: "move", credits: String(earned) });
    expect([moved.status, moved.location]).toEqual([303, "/settings/credits?done=moved"]);
    expect((await person.browser.get("/api/account/credits")).body.earned_credits).toBe(0);
  });

  test("keeps no alert where no mail is sent, and names a mark that is none", async ({ market }) => {
    const person = await newPerson(market);
    expect((await person.get("/settings/credits")).html).toContain("no mail is sent here");
    const wrong = { act: "alerts", by_balance: "on", balance_below: "-3", cap_percent: "80" };
    expect((await post(person, wrong)).html).toContain("Must be a whole number.");
    expect((await post(person, { ...wrong, balance_below: "3" })).status).toBe(409);
  });

  test("keeps what another tab set of the alerts since it was opened", async ({ market }) => {
    const url = await withMail(market);
    const { browser, handle } = await newPerson(market);
    const person = new Person(url, browser, handle);
    const path = "/settings/credits";
    const formNow = async () => asForm((await person.get(path)).html);
    const asForm = (html: string) => allFormsIn(html).find(({ fields }) => fields.act === "alerts")!.fields;
    const kept = async () => (await browser.get("/api/account/alerts")).body;
    const opened = await formNow();
    const first = await post(person, { ...opened, by_balance: "on", balance_below: "200" });
    // The other tab still shows no alert.
    const refused = await post(person, { ...opened, by_cap: "on", cap_percent: "" });
    expect(refused.html).toMatch(/id="cap-percent"[^>]* aria-invalid/);
    const second = await post(person, { ...asForm(refused.html), cap_percent: "70" });
    expect([first.status, refused.status, second.status]).toEqual([303, 422, 303]);
    expect(await kept()).toMatchObject({ balance_below: 200, cap_percent: 70 });
    const { by_balance: _, ...off } = await formNow();
    expect((await post(person, off)).location).toBe(`${path}?done=alerts`);
    expect(await kept()).toMatchObject({ balance_below: null, cap_percent: 70 });
  });
});

describe("the wallets page without JavaScript", () => {
  const wallet = privateKeyToAccount(`0x${"7".repeat(64)}`);
  const at = "/settings/wallets";

  async function proposed(person: Person): Promise<{ id: string; message: string }> {
    const { status, location } = await person.post(at, { act: "add", network: base, address: wallet.address });
    expect(status).toBe(303);
    const id = /sign=(wal_\w+)/.exec(location ?? "")?.[1] as string;
    expect((await person.get(location as string)).html).toContain("Text to sign");
    const { wallets } = (await person.browser.get("/api/account/wallets")).body;
    return { id, message: wallets[0].challenge.message };
  }

  test("adds a wallet by a signature that is pasted, checks it, and says what its removal means", async ({
    market,
  }) => {
    const person = await newSeller(market);
    const { id, message } = await proposed(person);
    expect((await person.get(at)).html).toContain("Sold for credits alone until a wallet can be paid");
    const wrong = await person.post(at, { act: "prove", id, signature: `0x${"1b".repeat(65)}` });
    expect([wrong.status, wrong.html.includes("Is not this wallet’s signature")]).toEqual([422, false]);
    expect(wrong.html).toContain("signature of the message");
    const proved = await person.post(at, { act: "prove", id, signature: await wallet.signMessage({ message }) });
    expect(proved.location).toBe(`${at}?done=proved#top`);
    const { html } = await person.get(at);
    expect(html).toContain("can receive USDC");
    expect(html).toContain("Paid to these wallets");
    expect(html).not.toContain("USDC paid to you");
    await market.context.db.query(
      `insert into agent_days (agent_id, day, payer, runs, failed, credits, units)
       select id, (now() at time zone 'utc')::date - ago, $2, 1, 0, 0, 310500 from agents, unnest(array[0, 1, 40]) ago where handle = $1`,
      [person.handle, base],
    );
    expect((await person.get(at)).html).toContain("0.621 USDC paid to you on Base Sepolia in 30 days");
    expect(html).toContain(`${person.handle}/echo`);
    expect((await person.post(at, { act: "check", id })).location).toBe(`${at}?done=payable`);
    await market.context.db.query(
      "update payout_wallets set reason = 'another_key', problem = 'It has another key.' where id = $1",
      [id],
    );
    const changed = (await person.get(at)).html;
    expect(changed).toContain("Your agents do not act with this wallet");
    expect(changed).toContain("It has another key. Press Replace, give the same account");
    expect(changed).toContain("can receive USDC");
    const question = await person.get(`${at}/${id}/remove`);
    expect(question.html).toContain("Your agent can no longer be paid on Base Sepolia. No wallet is left then");
    expect((await person.post(`${at}/${id}/remove`, { act: "remove" })).location).toBe(`${at}?done=removed`);
  });

  test("keeps a signature, and the answer whether to remove, until its sender has signed in again", async ({
    market,
  }) => {
    const person = await newSeller(market);
    const { db } = market.context;
    const signedIn = (minutes: number) =>
      db.query(
        `update sign_in_sessions s set created_at = now() - $2::integer * interval '1 minute'
         from sign_in_users u join accounts a on a.id = u.account_id where u.id = s.user_id and a.handle = $1`,
        [person.handle, minutes],
      );
    const { id, message } = await proposed(person);
    expect((await person.get(at)).html).not.toContain("within 10 minutes of signing in");
    await signedIn(11);
    expect((await person.get(`${at}?sign=${id}`)).html).toContain("within 10 minutes of signing in");
    const proof = { act: "prove", id, signature: await wallet.signMessage({ message }) };
    const early = await person.post(at, proof);
    expect([early.status, early.html.includes("Sign out and in again in a new tab")]).toEqual([401, true]);
    const kept = allFormsIn(early.html).find(({ fields }) => fields.act === "prove")!.fields;
    expect(kept).toMatchObject(proof);
    await signedIn(1);
    expect((await person.post(at, kept)).location).toBe(`${at}?done=proved#top`);
    await signedIn(11);
    const removal = `${at}/${id}/remove`;
    expect((await person.get(removal)).html).toContain("within 10 minutes of signing in");
    expect((await person.post(removal, { act: "remove" })).status).toBe(401);
    await db.query("insert into operators (account_id, totp_secret) select id, 'x' from accounts where handle = $1", [
      person.handle,
    ]);
    expect((await person.post(removal, { act: "remove" })).html).toContain(
      `/admin/confirm?next=${encodeURIComponent(removal)}`,
    );
    await db.query("delete from operators where account_id = (select id from accounts where handle = $1)", [
      person.handle,
    ]);
    await signedIn(1);
    expect((await person.post(removal, { act: "remove" })).location).toBe(`${at}?done=removed`);
  });

  test("counts every agent that is paid to the wallets", async ({ market }) => {
    const person = await newPerson(market);
    const account = await accountByHandle(market.context.db, person.handle);
    for (let n = 0; n < 101; n += 1) await publishAgent(market.context, account, `paid-${n}`, echoAgent);
    await proposed(person);
    expect((await person.get(at)).html).toContain(" and 91 more.");
  });

  test("shows nobody another's wallet, nor lets them touch it", async ({ market }) => {
    const [owner, other] = [await newPerson(market), await newPerson(market)];
    const { id } = await proposed(owner);
    expect((await other.get(`${at}?sign=${id}`)).html).not.toContain(wallet.address);
    for (const act of ["prove", "check"]) {
      expect((await other.post(at, { act, id, signature: "0x00" })).status).toBe(404);
    }
    expect((await other.get(`${at}/${id}/remove`)).status).toBe(404);
    expect((await other.post(`${at}/${id}/remove`, { act: "remove" })).status).toBe(404);
  });

  test("tells a tab whose text was replaced or whose wallet was removed in another tab, and shows what there is now", async ({
    market,
  }) => {
    const person = await newPerson(market);
    const { id } = await proposed(person);
    await proposed(person);
    const late = await person.post(at, { act: "prove", id, signature: "0x00" });
    expect(late.status).toBe(404);
    expect(late.html).toContain("What this form was about is not there any more");
    expect(late.html).toContain(`Copy ${wallet.address}`);
  });

  test("names a wrong account at its field", async ({ market }) => {
    const person = await newPerson(market);
    const refused = await person.post(at, { act: "add", network: base, address: "0.0.77<script>" });
    expect(refused.status).toBe(422);
    expect(refused.html).toContain("0x and 40 hexadecimal digits");
    expect(refused.html).not.toContain("77<script>");
  });
});
