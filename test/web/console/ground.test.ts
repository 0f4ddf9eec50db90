import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { moveAccount } from "../../../marketplace/accounts/state.ts";
import { marketplaceEndpoints } from "../../../marketplace/endpoints.ts";
import { createSite } from "../../../marketplace/web/serve.ts";
import { startMarketplace, type TestMarketplace } from "../../support/marketplace.ts";
import { newcomer, newPerson } from "./person.ts";

let market: TestMarketplace;
beforeAll(async () => {
  market = await startMarketplace();
});
afterAll(() => market.stop());

/** All but the page that a mailed link opens, in any browser, and the one that is seen after an account is gone. */
const privatePaths = () =>
  createSite(market.context, marketplaceEndpoints(market.context))
    .pages.filter(({ path, isPrivate }) => isPrivate && !["/settings/account/email", "/settings/closed"].includes(path))
    .map(({ path }) => path.replaceAll(/\{\w+\}/g, "some-x"));

describe("every page of the console", () => {
  test("leads who is not signed in to the page to sign in on, and back; a form too", async () => {
    const asked = { redirect: "manual", headers: { accept: "text/html" } } as const;
    // The operators' pages are not there for anybody else, signed in or not.
    for (const path of privatePaths().filter((one) => !one.startsWith("/admin"))) {
      const answer = await fetch(`${market.url}${path}?x=1`, asked);
      expect([path, answer.status]).toEqual([path, 303]);
      expect(answer.headers.get("location")).toMatch(/^\/sign-in\?next=/);
    }
    const posted = await fetch(`${market.url}/settings/keys/new`, {
      ...asked,
      method: "POST",
      body: new URLSearchParams({ act: "create", name: "x" }),
    });
    expect([posted.status, posted.headers.get("location")]).toEqual([303, "/sign-in?next=%2Fsettings%2Fkeys%2Fnew"]);
  });

  test("is in no map of the site", async () => {
    const map = await (await fetch(`${market.url}/sitemap-pages.xml`)).text();
    for (const path of privatePaths()) expect(map).not.toContain(`${path}<`);
  });

  test("is kept by no cache, listed by no search engine, and posted to from its own origin alone", async () => {
    const person = await newPerson(market);
    const { status, headers, html } = await person.get("/settings/keys");
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(html).toContain('<meta name="robots" content="noindex"');
    expect(html).toContain('aria-current="page"');
    const foreign = await person.post(
      "/settings/keys/new",
      { act: "create", name: "x" },
      { origin: "https://evil.example" },
    );
    expect(foreign.status).toBe(403);
    expect((await person.post("/settings/keys/new", { act: "constructor" })).status).toBe(400);
  });

  test("opens for no account that is not open", async () => {
    const person = await newPerson(market);
    await moveAccount(market.context.db, await accountByHandle(market.context.db, person.handle), "suspend");
    const { status, html } = await person.get("/settings/keys");
    expect([status, html.includes("is suspended")]).toEqual([403, true]);
  });
});

describe("who signed in for the first time", () => {
  test("opens an account with a handle, and goes on to where they wanted to", async () => {
    const person = await newcomer(market);
    const led = await person.get("/settings/keys/new");
    expect([led.status, led.location]).toEqual([303, "/settings/open?next=%2Fsettings%2Fkeys%2Fnew"]);
    const page = await person.get(led.location as string);
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(page.html).toContain('value="/settings/keys/new"');
    for (const [handle, status] of [
      ["a", 422],
      ["settings", 422],
    ] as const) {
      const refused = await person.post("/settings/open", { handle, next: "/settings/keys/new" });
      expect([handle, refused.status]).toEqual([handle, status]);
      expect(refused.html).toContain('aria-invalid="true"');
      expect(refused.html).toContain(`value="${handle}"`);
    }
    const handle = `new-${Date.now().toString(36)}`;
    const opened = await person.post("/settings/open", { handle, next: "/settings/keys/new" });
    expect([opened.status, opened.location]).toEqual([303, "/settings/keys/new"]);
    expect((await person.get("/settings/keys/new")).status).toBe(200);
    expect((await person.get("/settings/open")).location).toBe("/settings/keys");
  });

  test("is told at the field that another has the handle, and is led to no other site", async () => {
    const [person, other] = await Promise.all([newcomer(market), newPerson(market)]);
    const refused = await person.post("/settings/open", { handle: other.handle, next: "https://evil.example" });
    expect([refused.status, refused.html.includes("is taken.")]).toEqual([409, true]);
    const opened = await person.post("/settings/open", { handle: `${other.handle}-2`, next: "//evil.example" });
    expect(opened.location).toBe("/settings/keys");
  });

  test("cannot open one with a wallet alone, and is told the way", async () => {
    const person = await newcomer(market);
    await market.context.db.query(
      `update sign_in_users set wallet_network = 'eip155:8453', wallet_address = '0xabc', email_verified = false
       where id = (select user_id from sign_in_sessions order by created_at desc limit 1)`,
    );
    const page = await person.get("/settings/open?next=/activity");
    expect(page.html).toContain("An account needs an e-mail address");
    expect((await person.post("/settings/open", { handle: "wallet-alone" })).status).toBe(403);
    const out = await person.post("/sign-out", { next: "/sign-in?next=%2Factivity" });
    expect(out.location).toBe("/sign-in?next=%2Factivity");
  });
});

describe("a secret", () => {
  test("is in one answer, and a form that is sent twice makes one", async () => {
    const person = await newPerson(market);
    const id = /name="id" value="(key_\w+)"/.exec((await person.get("/settings/keys/new")).html)?.[1] as string;
    const fields = { act: "create", id, name: "<b>ci</b>", rate_limit_per_minute: "60", max_credits_per_day: "" };
    const made = await person.post("/settings/keys/new", fields);
    const token = /amk_[0-9A-Za-z]{38}/.exec(made.html)?.[0] as string;
    expect([made.status, made.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(made.html).not.toContain("<b>ci");
    const answer = await fetch(`${market.url}/api/v1/balance`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    const again = await person.post("/settings/keys/new", fields);
    expect([again.status, again.html.includes("was made already")]).toEqual([409, true]);
    const { html } = await person.get("/settings/keys");
    expect(html).toContain("1 of 5 in use");
    expect(html).not.toContain(token);
  });

  test("is asked for by a form that names the field which is wrong, and keeps what was typed", async () => {
    const person = await newPerson(market);
    const { status, html } = await person.post("/settings/keys/new", {
      act: "create",
      name: "server",
      rate_limit_per_minute: "many",
    });
    expect(status).toBe(422);
    expect(html).toContain('value="server"');
    expect(html).toContain("Must be a whole number.");
  });
});

describe("what was done", () => {
  test("is said after a redirect, once asked for, and another's key is not there", async () => {
    const [person, other] = await Promise.all([newPerson(market), newPerson(market)]);
    const { id } = (await person.browser.post("/api/account/keys", { name: "server" })).body;
    const path = `/settings/keys/${id}/revoke`;
    expect((await other.get(path)).status).toBe(404);
    expect((await other.post(path, { act: "revoke" })).status).toBe(404);
    expect((await person.get(path)).html).toContain("Revoke “server”?");
    const revoked = await person.post(path, { act: "revoke" });
    expect([revoked.status, revoked.location]).toEqual([303, "/settings/keys?done=revoked"]);
    expect((await person.get("/settings/keys?done=revoked")).html).toContain("The key is revoked.");
    expect((await person.get("/settings/keys?done=constructor")).html).not.toContain("data-notice");
    expect((await person.get(path)).status).toBe(404);
  });
});
