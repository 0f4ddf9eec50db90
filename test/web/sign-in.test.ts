import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect } from "vitest";
import { landingPath } from "../../marketplace/sign-in/enter.ts";
import { newEmail, tokenIn } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { startMarketplace, type TestMarketplace } from "../support/marketplace.ts";
import { part, perFile } from "../support/part.ts";
import { type MailServer, startOidcProvider } from "../support/sign-in-servers.ts";

const publicUrl = "https://market.example.com";

const test = marketTest()
  .extend(
    "provider",
    perFile,
    part(() => startOidcProvider(publicUrl)),
  )
  .extend("options", perFile, ({ mail, provider }) => ({
    env: {
      MARKETPLACE_PUBLIC_URL: publicUrl,
      SMTP_URL: mail.url,
      MAIL_FROM: "Market <sign-in@market.example.com>",
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: "marketplace",
      OIDC_CLIENT_SECRET: "a client secret",
      OIDC_NAME: "Example",
    },
  }));

const headers = { accept: "text/html", host: "market.example.com", origin: publicUrl };

/** A form without a browser: what the service answers to its fields. */
async function submit(market: TestMarketplace, fields: Record<string, string>, cookie = "") {
  const body = new URLSearchParams(fields);
  const answer = await fetch(`${market.url}/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { ...headers, cookie, "x-forwarded-for": `10.1.${Math.floor(Math.random() * 250)}.9` },
    body,
  });
  return { answer, text: await answer.text() };
}

async function linkFor(mail: MailServer, market: TestMarketplace, email: string, next: string): Promise<string> {
  const { answer, text } = await submit(market, { way: "email", email, next });
  expect([answer.status, text.includes(email)]).toEqual([200, true]);
  return /https:\S+/.exec(await mail.emailTo(email))?.[0] ?? "";
}

describe("the page to sign in on", () => {
  test("offers what is set up, and is kept by no cache", async ({ market }) => {
    const answer = await fetch(`${market.url}/sign-in`, { headers });
    const text = await answer.text();
    expect(text).toContain('name="email"');
    expect(text).toContain("Example</button>");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("a mailed link leads back to where one wanted to go, signed in, without JavaScript", async ({
    mail,
    market,
  }) => {
    const link = await linkFor(mail, market, newEmail(), "/ada/summarizer?tab=api");
    const page = await (await fetch(market.url + link.slice(publicUrl.length), { headers })).text();
    expect(page).toContain('name="token"');
    const { answer } = await submit(market, {
      way: "link",
      token: tokenIn(link),
      next: new URL(link).searchParams.get("next") ?? "",
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/ada/summarizer?tab=api"]);
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-marketplace\.session_token=/);
    const signedIn = await fetch(`${market.url}/sign-in?next=/explore`, {
      redirect: "manual",
      headers: { ...headers, cookie: cookie.split(";")[0] as string },
    });
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/explore"]);
  });

  test("says who signs in by a mailed link, and who was signed in before: another's link, pressed unread, would have one pay for them", async ({
    mail,
    market,
  }) => {
    const [own, other] = [newEmail(), newEmail()];
    const pageOf = async (link: string, cookie = "") =>
      (await fetch(market.url + link.slice(publicUrl.length), { headers: { ...headers, cookie } })).text();
    const mine = await linkFor(mail, market, own, "/");
    expect(await pageOf(mine)).toContain(`You sign in as <b class="strong">${own}</b>`);
    const { answer } = await submit(market, { way: "link", token: tokenIn(mine) });
    const cookie = answer.headers.getSetCookie()[0]!.split(";")[0]!;
    const theirs = await linkFor(mail, market, other, "/settings/credits");
    const page = await pageOf(theirs, cookie);
    expect(page).toContain(`You sign in as <b class="strong">${other}</b>`);
    expect(page).toContain(`This browser is signed in as ${own}`);
    const again = await pageOf(await linkFor(mail, market, own, "/"), cookie);
    expect(again).toContain(`You sign in as <b class="strong">${own}</b>`);
    expect(again).not.toContain("This browser is signed in as");
    expect(await pageOf(mine, cookie)).not.toContain("You sign in as");
  });

  test("says of a link that is used, unknown or not the newest that it opens nothing, at once; loading a good one uses nothing up", async ({
    mail,
    market,
  }) => {
    const pageOf = async (link: string, cookie = "") => {
      const answer = await fetch(market.url + link.slice(publicUrl.length), { headers: { ...headers, cookie } });
      const html = await answer.text();
      return { status: answer.status, hasButton: html.includes('name="token"'), html };
    };
    const email = newEmail();
    const opens = { status: 200, hasButton: true };
    const ended = { status: 401, hasButton: false, html: expect.stringContaining("This link was used already") };
    const link = await linkFor(mail, market, email, "/explore");
    for (const _scan of [1, 2, 3]) expect(await pageOf(link)).toMatchObject(opens);
    const { answer } = await submit(market, { way: "link", token: tokenIn(link) });
    expect(answer.status).toBe(303);
    const cookie = answer.headers.getSetCookie()[0]!.split(";")[0]!;
    for (const dead of [link, `${publicUrl}/sign-in?token=made-up`, `${publicUrl}/sign-in?token=`]) {
      const page = await pageOf(dead);
      expect(page).toMatchObject(ended);
      expect(page.html).toContain("Send the link");
    }
    const again = await pageOf(link, cookie);
    expect(again).toMatchObject(ended);
    expect(again.html).toContain(`This browser is signed in as ${email}`);
    expect(again.html).toContain('href="/explore"');
    const { db } = market.context;
    const newer = await linkFor(mail, market, email, "/");
    await db.query("update newest_links set token_hash = 'of one sent since' where address = $1", [email]);
    expect(await pageOf(newer)).toMatchObject(ended);
  });

  test("never leads to another site, nor to what only programs read", async ({ mail, market }) => {
    for (const next of [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "/api/account",
    ]) {
      const link = await linkFor(mail, market, newEmail(), next);
      expect(new URL(link).searchParams.get("next"), next).toBe(landingPath);
      const { answer } = await submit(market, { way: "link", token: tokenIn(link), next });
      expect([next, answer.status, answer.headers.get("location")]).toEqual([next, 303, landingPath]);
    }
  });

  test("says beside the field what is wrong with an address, and keeps what was typed", async ({ market }) => {
    const { answer, text } = await submit(market, { way: "email", email: "nobody", next: "/explore" });
    expect(answer.status).toBe(400);
    expect(text).toContain("That is no e-mail address.");
    expect(text).toContain('value="nobody"');
    expect(text).toContain('aria-invalid="true"');
    expect(text).toContain('value="/explore"');
  });

  test("a link used twice is a page that offers another", async ({ mail, market }) => {
    const link = await linkFor(mail, market, newEmail(), "/");
    await submit(market, { way: "link", token: tokenIn(link) });
    const { answer, text } = await submit(market, { way: "link", token: tokenIn(link) });
    expect(answer.status).toBe(401);
    expect(text).toContain("used already");
    expect(text).toContain("Send the link");
  });

  test("goes on to the provider by a page, and back to a page when the provider refused", async ({
    provider,
    market,
  }) => {
    const { answer, text } = await submit(market, { way: "provider", next: "/explore" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("refresh")).toContain(`0;url=${provider.issuer}`);
    expect(text).toContain("Continue");
    const cookie = answer.headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");
    const state = new URL(answer.headers.get("refresh")?.slice(6) ?? "").searchParams.get("state");
    const back = await fetch(`${market.url}/api/account/sign-in/callback/oidc?error=access_denied&state=${state}`, {
      redirect: "manual",
      headers: { ...headers, cookie },
    });
    expect([back.status, back.headers.get("location")]).toEqual([303, "/sign-in?refused=provider"]);
    const refused = await (await fetch(`${market.url}/sign-in?refused=provider`, { headers })).text();
    expect(refused).toContain("Single sign-on did not work");
  });

  test("is posted to from its own origin alone", async ({ market }) => {
    const foreign = { ...headers, origin: "https://evil.example" };
    const body = new URLSearchParams({ way: "email", email: newEmail() });
    expect((await fetch(`${market.url}/sign-in`, { method: "POST", headers: foreign, body })).status).toBe(403);
  });

  test("a page that refuses leads to no other site, whatever the address looks like", async ({ market }) => {
    const foreign = { ...headers, origin: "https://evil.example" };
    const paths = { "//evil.example/x": 404, "/\\evil.example/x": 403, "/sign-in": 403 };
    for (const [path, status] of Object.entries(paths)) {
      const { hostname, port } = new URL(market.url);
      const asked = request({ hostname, port, path, method: "POST", headers: foreign }).end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      const page = await text(answer);
      expect([path, answer.statusCode]).toEqual([path, status]);
      expect(page).not.toMatch(/href="[/\\]{2}/);
      expect(page.includes('href="/sign-in"')).toBe(path === "/sign-in");
    }
  });

  test("what is not possible right now is a page with the request's id, which says that no money moved", async () => {
    const closed = await startMarketplace({ env: { SESSION_SECRET: "" } });
    const before = await (await fetch(`${closed.url}/status`, { headers: { accept: "text/html" } })).text();
    const body = new URLSearchParams({ way: "email", email: newEmail() });
    const answer = await fetch(`${closed.url}/sign-in`, { method: "POST", headers: { accept: "text/html" }, body });
    const text = await answer.text();
    await closed.stop();
    expect([answer.status, answer.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
    expect(text).toContain(answer.headers.get("x-request-id"));
    expect(text).toContain("No money moved");
    expect(text).toContain("What works and what does not");
    // The foot of every other page says how the services were when last seen.
    const standing = /<a href="\/status"><span class="badge/;
    expect([standing.test(before), standing.test(text)]).toEqual([true, false]);
    expect(answer.headers.get("retry-after")).toBe("5");
  });
});
