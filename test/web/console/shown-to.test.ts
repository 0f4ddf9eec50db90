import { describe, expect } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { readBalances } from "../../../marketplace/credits/balance.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { marketplaceEndpoints } from "../../../marketplace/endpoints.ts";
import { createSite } from "../../../marketplace/web/serve.ts";
import { marketTest } from "../../support/fixtures.ts";
import { echoAgent, type TestMarketplace } from "../../support/marketplace.ts";
import { newFullAccount } from "./full-account.ts";
import { newcomer, newPerson, type Person } from "./person.ts";
import { allFormsIn } from "./posted-form.ts";

const test = marketTest();

const accountOf = ({ context }: TestMarketplace, { handle }: Person) => accountByHandle(context.db, handle);

async function withCredits(market: TestMarketplace, amount: bigint) {
  const person = await newPerson(market);
  const { db } = market.context;
  const { id } = await accountOf(market, person);
  await grant(db, { accountId: id, credits: credits(amount) });
  return { person, id, left: async () => (await readBalances(db, [id]))[0]?.credits };
}

describe("a page that was shown to one account, posted by another that signed in meanwhile", () => {
  test("of the console is kept, and nothing it asks for is done", async ({ market }) => {
    const ann = await newFullAccount(market);
    const before = await ann.read();
    const bob = await newPerson(market);
    const { pages } = createSite(market.context, marketplaceEndpoints(market.context));
    const own = pages.filter(({ path, isPrivate }) => isPrivate && !/^\/(admin|consent)\b/.test(path));
    let forms = 0;
    for (const { path } of own) {
      const { status, html } = await ann.holder.get(ann.filled(path));
      // These end a session or begin one, whose ever it is.
      const posted = status === 200 ? allFormsIn(html).filter(({ action }) => !/^\/sign-(in|out)/.test(action)) : [];
      for (const { action, fields } of posted) {
        // The page of a mailed link's change is for whoever has the link.
        if (action === "/settings/account/email") continue;
        forms += 1;
        expect([path, action, fields.account]).toEqual([path, action, expect.stringMatching(/./)]);
        const answer = await bob.post(action === "" ? ann.filled(path) : action, fields);
        expect([path, action, answer.status]).toEqual([path, action, 401]);
        expect(answer.html).toContain("You are signed in as another account");
        expect(allFormsIn(answer.html).map((form) => form.fields.account)).toContain(fields.account);
      }
    }
    expect(forms).toBeGreaterThan(20);
    expect((await bob.browser.get("/api/account/keys")).body.keys).toEqual([]);
    expect(await ann.read()).toEqual(before);
  });

  test("runs and draws nothing for credits", async ({ market }) => {
    const creator = await accountOf(market, await newPerson(market));
    const { address } = await publishAgent(market.context, creator, "shown", { ...echoAgent, price_credits: 5 });
    const [ann, bob] = [await withCredits(market, 20n), await withCredits(market, 20n)];
    const asked = { agent: address, input: { text: "hi" } };
    const refused = await bob.person.browser.post("/api/account/run", asked, { "x-account": ann.id });
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining("shown to another account")]);
    const drawn = await bob.person.browser.post(
      "/api/account/svg/generate",
      { prompt: "a fox" },
      { "x-account": ann.id },
    );
    expect(drawn.status).toBe(403);
    const quote = await bob.person.browser.post(
      "/api/account/credits/purchase",
      { credits: 100 },
      { "x-account": ann.id },
    );
    expect(quote.status).toBe(403);

    const run = allFormsIn((await ann.person.get(`/${address}`)).html).find(({ fields }) => "max_credits" in fields);
    const posted = await bob.person.post(`/${address}`, { ...run?.fields, by: "credits", "in.text": "hi" });
    expect(posted.html).toContain("shown to another account");
    const bench = allFormsIn((await ann.person.get("/svg")).html).find(({ action }) => action === "/svg");
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...bench?.fields, make: "draw", prompt: "a fox" })) {
      body.set(name, value);
    }
    const headers = { accept: "text/html", cookie: bob.person.browser.cookie };
    const page = await (await fetch(`${market.url}/svg`, { method: "POST", headers, body })).text();
    expect(page).toContain("shown to another account");
    expect([await ann.left(), await bob.left()]).toEqual([20n, 20n]);

    const mine = await bob.person.browser.post("/api/account/run", asked, { "x-account": bob.id });
    expect([mine.status, mine.body.success]).toEqual([200, true]);
    expect(await bob.left()).toBe(15n);
  });
});

test("the address is changed after signing in again, from the page that keeps what was typed", async ({ market }) => {
  const person = await newPerson(market);
  const { id } = await accountOf(market, person);
  await market.context.db.query(
    `update sign_in_sessions set created_at = now() - interval '11 minutes'
     where user_id in (select id from sign_in_users where account_id = $1)`,
    [id],
  );
  const fields = { act: "change-email", email: "new@example.com" };
  const answer = await person.post("/settings/account", fields);
  expect(answer.html).toContain("Sign out and in again first");
  expect(allFormsIn(answer.html)).toContainEqual({ action: "/settings/account", fields });
});

test("an account is closed after signing in again, from the page that keeps what was typed", async ({ market }) => {
  const person = await newPerson(market);
  const { id } = await accountOf(market, person);
  const page = "/settings/account/close";
  expect((await person.get(page)).html).not.toContain("Sign in again");
  await market.context.db.query(
    `update sign_in_sessions set created_at = now() - interval '11 minutes'
     where user_id in (select id from sign_in_users where account_id = $1)`,
    [id],
  );
  const before = await person.get(page);
  expect(before.html).toContain("within 10 minutes of signing in");
  expect(allFormsIn(before.html)).toContainEqual({
    action: "/sign-out",
    fields: expect.objectContaining({ next: expect.stringContaining(encodeURIComponent(page)) }),
  });
  const fields = { act: "close", handle: person.handle };
  const answer = await person.post(page, fields);
  expect(answer.html).toContain("Sign out and in again first");
  expect(allFormsIn(answer.html)).toContainEqual({ action: page, fields });
});

test("who opens an account goes on to where they wanted to, though they had to sign in on the way", async ({
  market,
}) => {
  const next = "/consent/some-request";
  const led = await fetch(`${market.url}/settings/open?next=${encodeURIComponent(next)}`, {
    redirect: "manual",
    headers: { accept: "text/html" },
  });
  const at = new URL(led.headers.get("location") ?? "", market.url).searchParams.get("next") ?? "";
  expect((await (await newcomer(market)).get(at)).html).toContain(`value="${next}"`);
  const fields = { next, handle: "typed-before" };
  const posted = await fetch(`${market.url}/settings/open`, {
    method: "POST",
    headers: { accept: "text/html", origin: market.url },
    body: new URLSearchParams(fields),
  });
  expect([posted.status, allFormsIn(await posted.text())]).toEqual([
    401,
    expect.arrayContaining([{ action: "/settings/open", fields }]),
  ]);
});
