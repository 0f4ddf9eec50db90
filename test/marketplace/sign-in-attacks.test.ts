import { describe, expect } from "vitest";
import { mailboxOf } from "../../marketplace/accounts/users.ts";
import { Browser, newEmail, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { type HostileProvider, type Lie, startHostileProvider } from "../support/hostile-provider.ts";
import { startMarketplace, type TestMarketplace } from "../support/marketplace.ts";
import { kept, part, perFile } from "../support/part.ts";

const clientId = "marketplace";
let provider: HostileProvider;
let market: TestMarketplace;
/** At a public name, where links are sent. */
let deployed: TestMarketplace;

const test = marketTest()
  .extend(
    "provider",
    perFile,
    part(() => startHostileProvider(clientId)),
  )
  .extend("options", perFile, ({ provider }) => ({
    env: { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: "secret" },
  }))
  .extend("deployed", perFile, ({ mail }, { onCleanup }) => {
    const mailed = { SMTP_URL: mail.url, MAIL_FROM: "Market <sign-in@market.example.com>" };
    return kept(
      startMarketplace({ env: { MARKETPLACE_PUBLIC_URL: "https://market.example.com", ...mailed } }),
      onCleanup,
    );
  });
test.beforeAll(({ provider: hostile, market: local, deployed: atPublicName }) => {
  [provider, market, deployed] = [hostile, local, atPublicName];
});

describe("by OpenID Connect", () => {
  async function comeBack(lie: Lie, lieOfNonce?: string): Promise<Browser> {
    const browser = new Browser(market.url);
    await answerTo(browser, lie, lieOfNonce);
    return browser;
  }

  async function answerTo(browser: Browser, lie: Lie, lieOfNonce?: string) {
    const { url } = (await browser.post("/api/account/sign-in/oidc", {})).body;
    const { searchParams } = new URL(url);
    provider.tell(lie, lieOfNonce ?? searchParams.get("nonce") ?? "");
    return browser.get(`/api/account/sign-in/callback/oidc?code=x&state=${searchParams.get("state")}`);
  }

  test.each([
    ["tokens", 503, { path: "/token", status: 500 }],
    ["tokens", 503, { path: "/token", status: 429 }],
    ["tokens", 401, { path: "/token", status: 400 }],
    ["profiles", 503, { path: "/userinfo", status: 502 }],
  ])(
    "of a provider whose address for %s fails it is said with %i that it cannot be asked",
    async (_what, status, failing) => {
      const { status: said, body } = await answerTo(new Browser(market.url), { claims: { email: undefined }, failing });
      expect([said, body.error]).toEqual([
        status,
        expect.stringContaining(status === 503 ? "try again shortly" : "begin again"),
      ]);
    },
  );

  test("of a provider whose keys cannot be read it is said that it cannot be asked", async ({ provider: hostile }) => {
    const env = { OIDC_ISSUER: hostile.issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: "secret" };
    const fresh = await startMarketplace({ env });
    try {
      const browser = new Browser(fresh.url);
      expect((await answerTo(browser, { failing: { path: "/keys", status: 503 } })).status).toBe(503);
      expect((await answerTo(browser, {})).status).toBe(303);
    } finally {
      await fresh.stop();
    }
  });

  test("a token that is in order signs in, meant for others beside us if it was issued to us", async () => {
    for (const claims of [{}, { azp: clientId }, { aud: [clientId] }, { aud: [clientId, "other"], azp: clientId }]) {
      const { status, body } = await (await comeBack({ claims })).get("/api/account");
      expect({ claims, status, email: body.email }).toEqual({ claims, status: 200, email: "person@example.com" });
    }
  });

  test.each<[string, Lie, string?]>([
    ["none at all", { noToken: true }],
    ["one with another nonce", {}, "another"],
    ["one without a nonce", { claims: { nonce: undefined } }],
    ["one for another audience", { claims: { aud: "other" } }],
    ["one for nobody", { claims: { aud: undefined } }],
    ["one for others beside us, issued to nobody", { claims: { aud: [clientId, "other"] } }],
    ["one for others beside us, issued to another", { claims: { aud: [clientId, "other"], azp: "other" } }],
    ["one for us, issued to another", { claims: { azp: "other" } }],
    ["one of another issuer", { claims: { iss: "https://other.example" } }],
    ["one that has ended", { claims: { exp: Math.floor(Date.now() / 1_000) - 600 } }],
    ["one without an end", { claims: { exp: undefined } }],
    ["one that is not yet good", { claims: { nbf: Math.floor(Date.now() / 1_000) + 600 } }],
    ["one without a subject", { claims: { sub: undefined } }],
    ["one of another person than the profile", { claims: { sub: "other" } }],
    ["one beside a profile of nobody", { profile: { sub: undefined } }],
    ["one that is signed with another key", { otherKey: true }],
    ["one that is not signed", { algorithm: "none" }],
    ["one that is said to be signed with the public key", { algorithm: "HS256" }],
  ])("with an ID token %s nobody is signed in", async (_what, lie, nonce) => {
    expect((await (await comeBack(lie, nonce)).get("/api/account")).status).toBe(401);
  });
});

describe("a page of another site", () => {
  const sites: Array<[string, Record<string, string>]> = [
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another site, with our origin", { "sec-fetch-site": "cross-site", origin: "OWN" }],
    ["a neighbour under the same domain", { "sec-fetch-site": "same-site" }],
    ["a site that the browser names in a way we do not know", { "sec-fetch-site": "elsewhere" }],
    ["another site, by its origin alone", { origin: "https://evil.example" }],
    ["a sandbox", { origin: "null" }],
  ];
  test.each(sites)("%s changes nothing with the session's cookie", async (_what, { origin, ...headers }) => {
    const { browser } = await withAccount(market);
    const sent = { ...headers, ...(origin && { origin: origin === "OWN" ? market.context.config.publicUrl : origin }) };
    const text = { "content-type": "text/plain" };
    for (const path of ["/api/account/keys", "/api/account/close", "/api/account/sign-out"]) {
      expect((await browser.post(path, { name: "stolen" }, { ...text, ...sent })).status).toBe(403);
    }
    expect((await browser.get("/api/account/keys")).body.keys).toEqual([]);
  });

  test("a page of ours, and the person themselves, may", async () => {
    const { browser } = await withAccount(market);
    for (const site of ["same-origin", "none"]) {
      const { status } = await browser.post("/api/account/keys", { name: site }, { "sec-fetch-site": site });
      expect(status).toBe(201);
    }
    // Coming here by a link changes nothing.
    expect((await browser.get("/api/account", { "sec-fetch-site": "cross-site" })).status).toBe(200);
  });

  test("signs nobody in", async () => {
    const headers = { "sec-fetch-site": "cross-site", "content-type": "text/plain" };
    const browser = new Browser(market.url);
    expect((await browser.post("/api/account/sign-in/email", { email: newEmail() }, headers)).status).toBe(403);
    expect((await browser.post("/api/account/sign-in/email/confirm", { token: "x" }, headers)).status).toBe(403);
  });
});

describe("one mail box", () => {
  test.each([
    ["someone@example.com", "Someone@Example.com", true],
    ["someone+a@example.com", "someone+b+c@example.com", true],
    ["some.one+a@gmail.com", "someone@googlemail.com", true],
    ["some.one@example.com", "someone@example.com", false],
    ["someone@example.com", "someone@example.org", false],
  ])("%s and %s: %s", (one, other, same) => expect(mailboxOf(one) === mailboxOf(other)).toBe(same));

  test("is not filled under many tags: five links a minute of one asker", async () => {
    const box = newEmail().replace("@", "+0@");
    const browser = new Browser(deployed.url);
    const ask = (n: number) => browser.post("/api/account/sign-in/email", { email: box.replace("+0", `+${n}`) });
    const statuses = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await ask(n)).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    const { rows } = await deployed.context.db.query("select address, letters from letters_sent");
    expect(rows).toEqual([{ address: mailboxOf(box), letters: 5 }]);
  });
});
