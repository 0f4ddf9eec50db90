import { gzipSync } from "node:zlib";
import { describe, expect } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { moveAccount } from "../../../marketplace/accounts/state.ts";
import { marketplaceEndpoints } from "../../../marketplace/endpoints.ts";
import type { Endpoint } from "../../../marketplace/http/endpoint.ts";
import type { Page } from "../../../marketplace/web/page.ts";
import { createSite } from "../../../marketplace/web/serve.ts";
import { marketTest } from "../../support/fixtures.ts";
import { type Answer, call, type TestMarketplace } from "../../support/marketplace.ts";
import { type FullAccount, isOwn, newFullAccount } from "./full-account.ts";
import { type Answered, newcomer, newPerson, type Person } from "./person.ts";
import { allFormsIn } from "./posted-form.ts";

let market: TestMarketplace;
let ann: FullAccount;
/** All that ann reads, before another account asks for it. */
let before: Record<string, string>;
/** The pages of the console as she sees them. */
const own = new Map<Page, Answered>();
const test = marketTest();
test.beforeAll(async ({ market: started }) => {
  market = started;
  ann = await newFullAccount(market);
  before = await ann.read();
  // A client's request belongs to no account before it is answered; operators' pages are not there at all.
  const pages = site().pages.filter(({ path, isPrivate }) => isPrivate && !/^\/(admin|consent)\b/.test(path));
  for (const page of pages) own.set(page, await ann.holder.get(ann.filled(page.path)));
});

const endpoints = () => marketplaceEndpoints(market.context);
const site = () => createSite(market.context, endpoints());

/** All but the page that a mailed link opens, in any browser, and the one that is seen after an account is gone. */
const privatePaths = () =>
  site()
    .pages.filter(({ path, isPrivate }) => isPrivate && !["/settings/account/email", "/settings/closed"].includes(path))
    .map(({ path }) => path.replaceAll(/\{\w+\}/g, "some-x"));

describe("every page of the console", () => {
  test("leads who is not signed in to the page to sign in on, and back; a form is kept to be sent again", async () => {
    const asked = { redirect: "manual", headers: { accept: "text/html" } } as const;
    // The operators' pages are not there for other visitors, signed in or not.
    for (const path of privatePaths().filter((one) => !one.startsWith("/admin"))) {
      const answer = await fetch(`${market.url}${path}?x=1`, asked);
      expect([path, answer.status]).toEqual([path, 303]);
      expect(answer.headers.get("location")).toMatch(/^\/sign-in\?next=/);
    }
    const posted = await fetch(`${market.url}/settings/keys/new`, {
      ...asked,
      method: "POST",
      body: new URLSearchParams([
        ["act", "create"],
        ["name", '"&<b'],
        ["agents", "a/1"],
        ["agents", "a/2"],
      ]),
    });
    expect([posted.status, posted.headers.get("cache-control")]).toEqual([401, "no-store"]);
    const page = await posted.text();
    expect(page).toContain('href="/sign-in?next=%2Fsettings%2Fkeys%2Fnew"');
    const [again] = allFormsIn(page).filter(({ action }) => action === "/settings/keys/new");
    expect(again?.fields).toEqual({ act: "create", name: '"&<b', agents: "a/2" });
    expect(page).toMatch(/name="agents" value="a\/1".*name="agents" value="a\/2"/s);
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

  test("is not there under an id that names nothing", async () => {
    const person = await newPerson(market);
    for (const path of ["/settings/keys/%00", "/settings/keys/a%00b/revoke", "/runs/%00", "/build/%00/history"]) {
      expect([path, (await person.get(path)).status]).toEqual([path, 404]);
    }
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

/** Asks as the endpoint's own example does. */
function asks(person: Person, key: string, { method, path, body, access }: Endpoint): Promise<Answer> {
  const at = ann.filled(path);
  const example = body?.example;
  if (access === "apiKey") return call(market.url, at, { method: method.toUpperCase(), key, body: example });
  const { browser } = person;
  switch (method) {
    case "get":
      return browser.get(at);
    case "delete":
      return browser.delete(at);
    case "put":
      return browser.put(at, example ?? {});
    case "patch":
      return browser.patch(at, example ?? {});
    default:
      return browser.post(at, example);
  }
}

/** A slug is each account's own: these make or keep an agent of the caller. */
const ownUnderSlug = ["saveAgentVersion", "updateAgentDraft"];
/** What is listed for everybody. */
const open = ["getAgent"];

describe("what is another account's", () => {
  test("is not there by any route of the API, and stays as it is", async () => {
    const bob = await newPerson(market);
    const { token } = (await bob.browser.post("/api/account/keys", { name: "bob's" })).body;
    const named = endpoints().filter(
      (one) => one.path.includes("{") && (isOwn(one) || one.access === "apiKey") && !open.includes(one.id),
    );
    expect(named.length).toBeGreaterThan(25);
    for (const endpoint of named.filter(({ id }) => !ownUnderSlug.includes(id))) {
      const { status, text } = await asks(bob, token, endpoint);
      // Nothing is thrown away: 409 where the state that was read before is asked for.
      expect([404, 409], `${endpoint.id}: ${status} ${text}`).toContain(status);
      expect(text, endpoint.id).not.toMatch(new RegExp(`private words|ann's|${ann.holder.handle}/`));
    }
    for (const endpoint of named.filter(({ id }) => ownUnderSlug.includes(id))) {
      expect((await asks(bob, token, endpoint)).text, endpoint.id).not.toContain(ann.holder.handle);
    }
    expect(await ann.read()).toEqual(before);
  });

  test("is on no page, and no form of its pages changes it when another sends it", async () => {
    const [bob, carl] = await Promise.all([newPerson(market), newPerson(market)]);
    let sent = 0;
    for (const [{ path, submit }, { status: shown, html: hers }] of own) {
      const at = ann.filled(path);
      if (path.includes("{")) {
        const { status, html } = await bob.get(at);
        expect([at, status]).toEqual([at, 404]);
        expect(html).not.toContain("private words");
      }
      if (!submit || shown !== 200) continue;
      for (const { action, fields } of allFormsIn(hers).filter((form) => !form.action.startsWith("/sign-out"))) {
        // Whom it was shown to is no secret that guards anything: who means harm leaves it out.
        const { account: _, ...sentFields } = fields;
        // Few enough of each that no limit keeps them from being read.
        const { status, html } = await (sent % 2 ? bob : carl).post(action || at, sentFields);
        expect(status, `${action || at} ${JSON.stringify(fields)}: ${html}`).not.toBe(429);
        expect(status, action || at).toBeLessThan(500);
        sent += 1;
      }
    }
    expect(sent).toBeGreaterThan(20);
    expect(await ann.read()).toEqual(before);
  });
});

describe("what a person sees of the console", () => {
  /** Some lead on: to the newest agent, or to what an account is opened for. */
  const shownPages = () => [...own].filter(([, { status }]) => status !== 303);

  test("leads to nothing that is not there", async () => {
    const paths = new Set<string>();
    for (const [{ path }, { html }] of shownPages()) {
      for (const [, to = "", part] of html.matchAll(/<a [^>]*?href="(\/[^"#]*)?(?:#([^"]+))?"/g)) {
        if (to === "" && part) expect(html, `${path}#${part}`).toContain(` id="${part}"`);
        // The API answers for itself.
        if (to !== "" && !to.startsWith("/api/")) paths.add(to.replaceAll("&amp;", "&"));
      }
    }
    for (const [{ path }] of shownPages()) paths.delete(ann.filled(path));
    expect(paths.size).toBeGreaterThan(20);
    const asked = [...paths].map(async (path) => [path, (await ann.holder.get(path)).status] as const);
    expect((await Promise.all(asked)).filter(([, status]) => ![200, 303].includes(status))).toEqual([]);
  });

  test("loads no more JavaScript than its budget, at most 30 kB, and the editor 45", async () => {
    const weights = new Map<string, Promise<number>>();
    const weigh = async (url: string) =>
      gzipSync(Buffer.from(await (await fetch(market.url + url)).arrayBuffer()), { level: 9 }).length;
    for (const [{ path, scriptBytesMax }, { html }] of shownPages()) {
      const scripts = html.matchAll(/(?:<script[^>]* src|<link rel="modulepreload" href)="(\/assets\/[^"]+)"/g);
      const urls = [...new Set([...scripts].map(([, url]) => url as string))];
      expect(urls.length, path).toBeGreaterThan(0);
      for (const url of urls) if (!weights.has(url)) weights.set(url, weigh(url));
      const bytes = (await Promise.all(urls.map((url) => weights.get(url)!))).reduce((sum, one) => sum + one, 0);
      expect(bytes, path).toBeLessThanOrEqual(scriptBytesMax);
      expect(scriptBytesMax, path).toBeLessThanOrEqual(path === "/build/{slug}" ? 45_000 : 30_000);
    }
  });
});
