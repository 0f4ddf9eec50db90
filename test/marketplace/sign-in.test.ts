import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { PrivateKey } from "@hashgraph/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import { type LocalHedera, startLocalHedera } from "../../infra/local-hedera/local-hedera.ts";
import { readConfig } from "../../marketplace/config.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import { Browser, newEmail, signedIn, tokenIn } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { startMarketplace, until } from "../support/marketplace.ts";
import { kept, part, perFile } from "../support/part.ts";
import { callbackOf, type MailServer, type OidcServer, startOidcProvider } from "../support/sign-in-servers.ts";

/** On a developer's machine, without a mail server. */
/** As deployed: with a mail server and an OpenID Connect provider. */
const test = marketTest()
  .extend(
    "ledger",
    perFile,
    part(() => startLocalHedera({ consensusDelayMs: 5 })),
  )
  .extend(
    "provider",
    perFile,
    part(() => startOidcProvider(publicUrl)),
  )
  .extend("local", perFile, ({ ledger, chain }, { onCleanup }) =>
    kept(
      startMarketplace({
        env: {
          HEDERA_MIRROR: ledger.mirrorUrl,
          HEDERA_NODES: "127.0.0.1:1=0.0.3",
          EVM_RPC_URLS: `eip155:84532=${chain.rpcUrl}`,
        },
      }),
      onCleanup,
    ),
  )
  .extend("deployed", perFile, ({ mail, provider }, { onCleanup }) =>
    kept(
      startMarketplace({
        env: {
          MARKETPLACE_PUBLIC_URL: publicUrl,
          SMTP_URL: mail.url,
          MAIL_FROM: "Market <sign-in@market.example.com>",
          OIDC_ISSUER: provider.issuer,
          OIDC_CLIENT_ID: "marketplace",
          OIDC_CLIENT_SECRET: "a client secret",
          OIDC_NAME: "Example",
        },
      }),
      onCleanup,
    ),
  );

const publicUrl = "https://market.example.com";

describe("by e-mail", () => {
  test("a link from the mail signs in once; the session cookie is out of reach of scripts and other sites", async ({
    mail,
    deployed,
  }) => {
    const email = newEmail();
    const browser = new Browser(deployed.url);
    const asked = await browser.post("/api/account/sign-in/email", { email });
    expect(asked.body).toEqual({ sent_to: email, expires_in_seconds: 900 });
    const link = await linkTo(mail, email);
    expect(link).toMatch(/^https:\/\/market\.example\.com\/sign-in\?token=\w+$/);
    const confirmed = await browser.post("/api/account/sign-in/email/confirm", { token: tokenIn(link) });
    expect(confirmed.status).toBe(200);
    const [cookie = ""] = confirmed.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-marketplace\.session_token=/);
    for (const attribute of [/HttpOnly/i, /; Secure/i, /SameSite=Lax/i, /Path=\/(;|$)/i])
      expect(cookie).toMatch(attribute);
    expect(cookie).not.toMatch(/Domain/i);
    expect((await browser.get("/api/account")).body).toEqual({ email, wallet: null, account: null });
    const again = await new Browser(deployed.url).post("/api/account/sign-in/email/confirm", { token: tokenIn(link) });
    expect(again.status).toBe(401);
  });

  test("the OpenAPI document names the cookie that signing in sets, at an https address and at another", async ({
    provider,
    deployed,
    local,
  }) => {
    const onHttps = new Browser(deployed.url);
    await throughProvider(provider, onHttps, newEmail());
    for (const browser of [onHttps, await signedIn(local)]) {
      const { name } = (await browser.get("/openapi.json")).body.components.securitySchemes.session;
      expect(browser.cookie.split("; ").map((cookie) => cookie.split("=")[0])).toContain(name);
    }
  });

  test("a link opened by twenty at once signs one of them in", async ({ local }) => {
    const { link } = (await new Browser(local.url).post("/api/account/sign-in/email", { email: newEmail() })).body;
    const body = { token: tokenIn(link) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => new Browser(local.url).post("/api/account/sign-in/email/confirm", body)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  test("a newer link ends those of its asker before it, also when all are opened together", async ({ local }) => {
    const email = newEmail();
    const asker = new Browser(local.url);
    const ask = async () => (await asker.post("/api/account/sign-in/email", { email })).body.link;
    const links = [await ask(), await ask(), await ask(), await ask()];
    const stranger = (await new Browser(local.url).post("/api/account/sign-in/email", { email: newEmail() })).body.link;
    const open = (link: string) =>
      new Browser(local.url).post("/api/account/sign-in/email/confirm", { token: tokenIn(link) });
    expect((await Promise.all(links.map(open))).map(({ status }) => status)).toEqual([401, 401, 401, 200]);
    expect((await open(stranger)).status).toBe(200);
    expect((await open(links[0])).status).toBe(401);
    expect((await open(await ask())).status).toBe(200);
  });

  test("a link that a stranger asks for ends nobody else's", async ({ local }) => {
    const email = newEmail();
    const ask = async (browser: Browser) => (await browser.post("/api/account/sign-in/email", { email })).body.link;
    const open = (browser: Browser, link: string) =>
      browser.post("/api/account/sign-in/email/confirm", { token: tokenIn(link) });
    const known = new Browser(local.url);
    expect((await open(known, await ask(known))).status).toBe(200);
    const links = [await ask(known), await ask(known)];
    await ask(new Browser(local.url));
    expect((await open(known, links[0])).status).toBe(401);
    expect((await open(known, links[1])).status).toBe(200);
  });

  test("a link too old is refused, and the token is not in the database", async ({ local }) => {
    const browser = new Browser(local.url);
    const token = tokenIn((await browser.post("/api/account/sign-in/email", { email: newEmail() })).body.link);
    const { rows } = await local.context.db.query("select * from sign_in_verifications");
    expect(JSON.stringify(rows)).not.toContain(token);
    await local.context.db.query("update sign_in_verifications set expires_at = now() - interval '1 second'");
    expect((await browser.post("/api/account/sign-in/email/confirm", { token })).status).toBe(401);
  });

  test("somebody else's mail box is not filled: 429 after five links a minute, and addresses must be one address", async ({
    local,
  }) => {
    const browser = new Browser(local.url);
    const email = newEmail();
    for (let n = 0; n < 5; n += 1)
      expect((await browser.post("/api/account/sign-in/email", { email })).status).toBe(202);
    const { status, headers } = await browser.post("/api/account/sign-in/email", { email: email.toUpperCase() });
    expect({ status, wait: Number(headers.get("retry-after")) > 0 }).toEqual({ status: 429, wait: true });
    for (const wrong of [
      "",
      "nobody",
      "a@example.com, b@example.com",
      "a@example.com\r\nBcc: b@example.com",
      5,
      null,
    ]) {
      const { status, body } = await browser.post("/api/account/sign-in/email", { email: wrong });
      expect({ wrong, status, field: body.field }).toEqual({ wrong, status: 400, field: "email" });
    }
  });

  test("nobody keeps another from signing in: a day's links to a mailbox are five for each asker and thirty for strangers, beside ten for browsers that it signed in to before", async ({
    mail,
    deployed,
  }) => {
    const { db } = deployed.context;
    const email = newEmail();
    const ask = async (browser: Browser) => {
      await db.query("delete from rate_limits");
      return (await browser.post("/api/account/sign-in/email", { email })).status;
    };
    const known = new Browser(deployed.url, "198.51.100.7");
    expect(await ask(known)).toBe(202);
    const opened = await known.post("/api/account/sign-in/email/confirm", {
      token: tokenIn(await linkTo(mail, email)),
    });
    const cookies = opened.headers.getSetCookie().filter((line) => line.startsWith("signed_in_as="));
    expect(cookies.map((line) => /Path=([^;]+)/.exec(line)?.[1])).toEqual(["/sign-in", "/api/account/sign-in"]);
    for (const line of cookies) expect(line).toMatch(/HttpOnly; Secure; SameSite=Lax/);

    const strangers = [1, 2].map((n) => new Browser(deployed.url, `2001:db8:0:9::${n}`));
    for (let n = 0; n < 5; n += 1) expect(await ask(strangers[n % 2]!)).toBe(202);
    expect(await ask(strangers[0]!)).toBe(429);
    expect(await ask(new Browser(deployed.url, "203.0.113.1"))).toBe(202);

    await db.query("update letters_sent set letters = 29 where address = $1", [email]);
    expect(await ask(new Browser(deployed.url, "203.0.113.2"))).toBe(202);
    expect(await ask(new Browser(deployed.url, "203.0.113.3"))).toBe(429);
    const forged = { cookie: `signed_in_as=${"A".repeat(43)}` };
    expect((await new Browser(deployed.url).post("/api/account/sign-in/email", { email }, forged)).status).toBe(429);
    for (let n = 0; n < 10; n += 1) expect(await ask(known)).toBe(202);
    expect(await ask(known)).toBe(429);
    // To another mailbox this browser is a stranger.
    expect((await known.post("/api/account/sign-in/email", { email: newEmail() })).status).toBe(202);
  });

  test("one address has five hundred links sent in a day to all mailboxes together, its site sixteen times as many, and what is refused or not sent counts nothing", async ({
    mail,
    deployed,
  }) => {
    const { db } = deployed.context;
    const ask = async (from: string, email = newEmail()) => {
      await db.query("delete from rate_limits");
      return (await new Browser(deployed.url, from).post("/api/account/sign-in/email", { email })).status;
    };
    const linksOf = async (client: string) =>
      (await db.query("select links from links_from where client = $1", [client])).rows[0]?.links;
    const here = "198.51.100.77";
    expect(await ask(here)).toBe(202);
    await db.query("update links_from set links = 499 where client = $1", [here]);
    mail.refuse(true);
    try {
      expect(await ask(here)).toBe(503);
    } finally {
      mail.refuse(false);
    }
    expect(await linksOf(here)).toBe(499);
    expect(await ask(here)).toBe(202);
    const unasked = newEmail();
    expect(await ask(here, unasked)).toBe(429);
    expect((await db.query("select from asked_links where mailbox = $1", [unasked])).rows).toHaveLength(0);
    expect(mail.emailsTo(unasked)).toBe(0);
    expect(await ask("198.51.100.78", unasked)).toBe(202);

    const site = "2001:db8:12::/48";
    expect(await ask("2001:db8:12:1::1")).toBe(202);
    expect(await linksOf(site)).toBe(1);
    await db.query("update links_from set links = 8000 where client = $1", [site]);
    expect(await ask("2001:db8:12:2::1")).toBe(429);
    expect(await linksOf("2001:db8:12:2::/64")).toBeUndefined();
    await db.query("update links_from set day = day - 2");
    await deleteExpiredRows(db);
    expect((await db.query("select from links_from")).rows).toHaveLength(0);
  });

  test("nor are links guessed from one place: 429 after sixty attempts a minute, there alone", async ({ local }) => {
    const guesser = new Browser(local.url, "192.0.2.7");
    const guess = () => guesser.post("/api/account/sign-in/email/confirm", { token: "guess" });
    const answers = await Promise.all(Array.from({ length: 70 }, guess));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    const neighbour = (n: number) => new Browser(local.url, `2001:db8:0:7::${n}`);
    const body = { token: "guess" };
    const near = await Promise.all(
      Array.from({ length: 70 }, (_one, n) => neighbour(n + 1).post("/api/account/sign-in/email/confirm", body)),
    );
    expect(near.filter(({ status }) => status === 429)).toHaveLength(10);
    expect((await new Browser(local.url).post("/api/account/sign-in/email", { email: newEmail() })).status).toBe(202);
  });

  test("a mail server that is away is a 503, and no link is logged", async () => {
    const lonely = await startMarketplace({
      env: { MARKETPLACE_PUBLIC_URL: publicUrl },
    });
    try {
      const answer = await new Browser(lonely.url).post("/api/account/sign-in/email", { email: newEmail() });
      expect(answer.status).toBe(503);
      expect(lonely.lines.join("")).not.toContain("token=");
    } finally {
      await lonely.stop();
    }
  });

  test("links that the mail server did not take are none of the day's", async ({ mail, deployed }) => {
    const { db } = deployed.context;
    const email = newEmail();
    const browser = new Browser(deployed.url);
    const ask = async () => {
      await db.query("delete from rate_limits");
      return (await browser.post("/api/account/sign-in/email", { email })).status;
    };
    mail.refuse(true);
    try {
      for (let n = 0; n < 6; n += 1) expect(await ask()).toBe(503);
    } finally {
      mail.refuse(false);
    }
    for (let n = 0; n < 5; n += 1) expect(await ask()).toBe(202);
    expect(await ask()).toBe(429);
    const { rows } = await db.query("select letters from letters_sent where address = $1", [email]);
    expect([rows[0].letters, mail.emailsTo(email)]).toEqual([5, 5]);
  });

  test("a link that the mail server may have taken, for its answer was lost, is one of the day's", async () => {
    const server = createSocketServer((socket) => {
      socket.on("error", () => {}).write("220 here\r\n");
      socket.on("data", (said) => {
        if (String(said).includes("\r\n.\r\n")) socket.destroy();
        else socket.write(/^DATA/i.test(String(said)) ? "354 go on\r\n" : "250 well\r\n");
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const market = await startMarketplace({
      env: { MARKETPLACE_PUBLIC_URL: publicUrl, SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: "a@example.com" },
    });
    try {
      const email = newEmail();
      const browser = new Browser(market.url);
      for (let n = 0; n < 5; n += 1)
        expect((await browser.post("/api/account/sign-in/email", { email })).status).toBe(503);
      await market.context.db.query("delete from rate_limits");
      expect((await browser.post("/api/account/sign-in/email", { email })).status).toBe(429);
    } finally {
      await market.stop();
      server.close();
    }
  });

  test("a change of the address that is asked for too often leaves the link that was sent last as it is", async ({
    mail,
    deployed,
  }) => {
    const { db } = deployed.context;
    const [email, wanted] = [newEmail(), newEmail()];
    const browser = new Browser(deployed.url);
    await signInByMail(browser, mail, email);
    await browser.post("/api/account", { handle: `often-${email.slice(0, 6)}` });
    const ask = async () => {
      await db.query("delete from rate_limits");
      return (await browser.post("/api/account/email", { email: wanted })).status;
    };
    for (let n = 0; n < 5; n += 1) expect(await ask()).toBe(202);
    expect(await ask()).toBe(429);
    const body = { token: tokenIn(await linkTo(mail, wanted)) };
    expect(await browser.post("/api/account/email/confirm", body)).toMatchObject({
      status: 200,
      body: { email: wanted },
    });
  });

  test.for([
    ["listens to the network", { MARKETPLACE_HOST: "0.0.0.0" }],
    ["listens to the network of IPv6", { MARKETPLACE_HOST: "::" }],
    ["has a public name", { MARKETPLACE_PUBLIC_URL: publicUrl }],
    ["has a name that begins like a loopback address", { MARKETPLACE_PUBLIC_URL: "https://127.0.0.1.example.com" }],
    ["is in production", { NODE_ENV: "production" }],
  ] as const)(
    "a service that %s starts with a way to send links, a provider, or not at all",
    ([_what, env], { local }) => {
      const variables = { ...local.environment, ...env };
      expect(() => readConfig(variables)).toThrow(/SMTP_URL and MAIL_FROM, or OIDC_ISSUER/);
      const mailed = { SMTP_URL: "smtp://mail", MAIL_FROM: "a@example.com" };
      expect(readConfig({ ...variables, ...mailed }).signIn.showsLinks).toBe(false);
      const provided = { OIDC_ISSUER: "https://issuer.example", OIDC_CLIENT_ID: "a", OIDC_CLIENT_SECRET: "b" };
      expect(readConfig({ ...variables, ...provided }).signIn.showsLinks).toBe(false);
      expect(readConfig({ ...variables, SESSION_SECRET: "" }).signIn.showsLinks).toBe(false);
    },
  );

  test("a service with a provider and no mail server shows no link to anybody", async ({ provider }) => {
    const provided = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: "a", OIDC_CLIENT_SECRET: "b" };
    const shy = await startMarketplace({ env: { NODE_ENV: "production", ...provided } });
    try {
      const answer = await new Browser(shy.url).post("/api/account/sign-in/email", { email: newEmail() });
      expect({ status: answer.status, link: answer.body.link }).toEqual({ status: 404, link: undefined });
    } finally {
      await shy.stop();
    }
  });
});

describe("by OpenID Connect", () => {
  test("whoever the provider vouches for is signed in, and is the same person as by e-mail", async ({
    mail,
    provider,
    deployed,
  }) => {
    const email = newEmail();
    const browser = new Browser(deployed.url);
    expect(await throughProvider(provider, browser, email)).toMatchObject({ status: 303, location: `${publicUrl}/` });
    expect((await browser.get("/api/account")).body.email).toBe(email);
    await browser.post("/api/account", { handle: `oidc-${email.slice(0, 6)}` });

    const other = new Browser(deployed.url);
    await signInByMail(other, mail, email);
    expect((await other.get("/api/account")).body.account.handle).toBe(`oidc-${email.slice(0, 6)}`);
    const { rows } = await deployed.context.db.query(
      "select access_token, refresh_token, id_token from sign_in_identities",
    );
    for (const row of rows) expect(Object.values(row)).toEqual([null, null, null]);
  });

  test.for(["is new here", "signed in by e-mail before"])(
    "each of five first sign-ins at once of a person who %s works, and all are the one person",
    async (who, { mail, provider, deployed }) => {
      const email = newEmail();
      if (who !== "is new here") await signInByMail(new Browser(deployed.url), mail, email);
      const browsers = Array.from({ length: 5 }, () => new Browser(deployed.url));
      const returns: string[] = [];
      for (const browser of browsers) returns.push(await callbackOf(provider, browser, email));
      const answers = await Promise.all(browsers.map((browser, n) => browser.get(returns[n] as string)));
      expect(answers.map(({ status }) => status)).toEqual(browsers.map(() => 303));
      await browsers[0]?.post("/api/account", { handle: `five-${email.slice(0, 6)}` });
      for (const browser of browsers) {
        expect((await browser.get("/api/account")).body.account?.handle).toBe(`five-${email.slice(0, 6)}`);
      }
    },
  );

  test("the holder of an account gets an e-mail when a provider is added to it, once", async ({
    mail,
    provider,
    deployed,
  }) => {
    const email = newEmail();
    const browser = new Browser(deployed.url);
    await signInByMail(browser, mail, email);
    await browser.post("/api/account", { handle: `told-${email.slice(0, 6)}` });
    const before = mail.emailsTo(email);
    for (let n = 0; n < 2; n += 1) {
      expect((await throughProvider(provider, new Browser(deployed.url), email)).status).toBe(303);
    }
    const waiting = async () =>
      (
        await deployed.context.db.query(
          "select from account_letters where account_id = (select account_id from sign_in_users where email = $1)",
          [email],
        )
      ).rowCount;
    await until(async () => mail.emailsTo(email) > before && (await waiting()) === 0);
    expect(await mail.emailTo(email)).toContain("Signing in by Example was added to your account");
    expect(mail.emailsTo(email)).toBe(before + 1);
  });

  test.for([
    ["that the provider has not verified", `unverified-${newEmail()}`],
    ["that it says is verified in words only", `worded-${newEmail()}`],
    ["that looks like another in lower case", "mar\u212A@example.com"],
    ["that stands for a wallet", "0x0000000000000000000000000000000000000001@eip155-84532.wallet.invalid"],
  ] as const)(
    "an address %s lets nobody in, and keeps nothing from its owner",
    async ([_what, email], { mail, provider, deployed }) => {
      const owned = email.toLowerCase();
      if (/^[\x20-\x7e]+$/.test(email) && !email.endsWith(".invalid")) {
        const owner = new Browser(deployed.url);
        await owner.post("/api/account/sign-in/email", { email });
        await owner.post("/api/account/sign-in/email/confirm", { token: tokenIn(await linkTo(mail, owned)) });
        expect((await owner.get("/api/account")).body.email).toBe(owned);
      }
      const browser = new Browser(deployed.url);
      expect((await throughProvider(provider, browser, email)).status).toBe(401);
      expect((await browser.get("/api/account")).status).toBe(401);
      const { rows } = await deployed.context.db.query("select from sign_in_identities where account_id = $1", [email]);
      expect(rows).toHaveLength(0);
    },
  );

  test("a callback without its state, with another browser's, or posted twice signs nobody in", async ({
    provider,
    deployed,
  }) => {
    const browser = new Browser(deployed.url);
    const back = await callbackOf(provider, browser, newEmail());
    expect((await new Browser(deployed.url).get(back)).status).toBe(401);
    expect((await browser.get(back.replace(/state=[^&]+/, "state=made-up"))).status).toBe(401);
    expect((await browser.get("/api/account/sign-in/callback/oidc?code=x")).status).toBe(401);
    const own = await callbackOf(provider, browser, newEmail());
    expect((await browser.get(own)).status).toBe(303);
    expect((await new Browser(deployed.url).get(own)).status).toBe(401);
  });

  test("while the database fails it is a 503, and goes on from there", async ({ provider, deployed }) => {
    const { db } = deployed.context;
    for (const table of ["sign_in_verifications", "sign_in_sessions"]) {
      const browser = new Browser(deployed.url);
      const back = await callbackOf(provider, browser, newEmail());
      await db.query(`alter table ${table} rename to away`);
      try {
        expect(await browser.get(back), table).toMatchObject({ status: 503 });
      } finally {
        await db.query(`alter table away rename to ${table}`);
      }
      const again = table === "sign_in_verifications" ? back : await callbackOf(provider, browser, newEmail());
      expect((await browser.get(again)).status, table).toBe(303);
    }
  });

  test("what an address says of an error is told where it is a word, and what no database keeps is a 401", async ({
    provider,
    deployed,
  }) => {
    const told = async (error: string) => {
      const browser = new Browser(deployed.url);
      const back = await callbackOf(provider, browser, newEmail());
      const state = new URL(back, publicUrl).searchParams.get("state") ?? "";
      const { status, body } = await browser.get(
        `/api/account/sign-in/callback/oidc?${new URLSearchParams({ error, state })}`,
      );
      return { status, error: body.error };
    };
    expect(await told("access_denied")).toEqual({ status: 401, error: expect.stringContaining("(access_denied)") });
    const lure = await told("Your account is locked, go to evil.example");
    expect(lure).toEqual({ status: 401, error: expect.not.stringContaining("evil.example") });
    const browser = new Browser(deployed.url);
    expect((await browser.get("/api/account/sign-in/callback/oidc?code=x&state=%00")).status).toBe(401);
  });

  test("it goes on only to paths of this service", async ({ deployed }) => {
    const browser = new Browser(deployed.url);
    for (const next of ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "x"]) {
      const { status, body } = await browser.post("/api/account/sign-in/oidc", { next });
      expect({ next, status, field: body.field }).toEqual({ next, status: 400, field: "next" });
    }
  });

  test("a provider that was away at the start is a 503 until it is there", async () => {
    const late = await startOidcProvider(publicUrl, { listen: false });
    const market = await startMarketplace({
      env: { OIDC_ISSUER: late.issuer, OIDC_CLIENT_ID: "marketplace", OIDC_CLIENT_SECRET: "a client secret" },
    });
    try {
      const browser = new Browser(market.url);
      expect((await browser.post("/api/account/sign-in/oidc", {})).status).toBe(503);
      await late.listen();
      expect((await browser.post("/api/account/sign-in/oidc", {})).status).toBe(200);
    } finally {
      await Promise.all([market.stop(), late.stop()]);
    }
  });

  test("a provider that takes calls and says nothing keeps nobody from signing in otherwise", async () => {
    const silent = createServer(() => {});
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const issuer = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const market = await startMarketplace({
      env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: "marketplace", OIDC_CLIENT_SECRET: "a client secret" },
    });
    try {
      const asked = new Browser(market.url).post("/api/account/sign-in/oidc", {});
      const browser = await signedIn(market);
      expect((await browser.get("/api/account")).status).toBe(200);
      expect((await asked).status).toBe(503);
    } finally {
      await market.stop();
      silent.closeAllConnections();
      silent.close();
    }
  });

  test("where there is none, it is a 404", async ({ local }) => {
    expect((await new Browser(local.url).post("/api/account/sign-in/oidc", {})).status).toBe(404);
  });
});

describe("with a wallet alone", () => {
  const ed25519 = PrivateKey.generateED25519();
  const ecdsa = PrivateKey.generateECDSA();
  const onHedera = (ledger: LocalHedera, key: PrivateKey) =>
    ledger.faucet.createAccount({ publicKey: key.publicKey.toStringRaw() }).accountId;
  const prefixed = (message: string) => `\x19Hedera Signed Message:\n${message.length}${message}`;
  const evmKey = generatePrivateKey();
  const evm = privateKeyToAccount(evmKey);

  test.for<[string, (ledger: LocalHedera) => string[], (text: string) => string | Promise<string>]>([
    ["an EVM wallet", () => ["eip155:84532", evm.address], (text) => signByEvm(evmKey, text)],
    [
      "ED25519 over the text",
      (ledger) => ["hedera:testnet", onHedera(ledger, ed25519)],
      (text) => hexBy(ed25519, text),
    ],
    [
      "ED25519 as hedera_signMessage does",
      (ledger) => ["hedera:testnet", onHedera(ledger, ed25519)],
      (text) => signatureMap(ed25519, prefixed(text)),
    ],
    ["ECDSA over the text", (ledger) => ["hedera:testnet", onHedera(ledger, ecdsa)], (text) => hexBy(ecdsa, text)],
    [
      "ECDSA as personal_sign does",
      (ledger) => ["hedera:testnet", onHedera(ledger, ecdsa)],
      (text) => signByEvm(`0x${ecdsa.toStringRaw()}`, text),
    ],
  ])(
    "%s opens a session that has no account, and gets 403 for keys",
    async ([_name, wallet, sign], { ledger, local }) => {
      const [network, address] = wallet(ledger);
      const browser = new Browser(local.url);
      const challenge = await browser.post("/api/account/sign-in/wallet/challenge", { network, address });
      expect(challenge.body.message).toContain(address);
      const signature = await sign(challenge.body.message);
      const answer = { challenge_id: challenge.body.challenge_id, signature };
      expect((await browser.post("/api/account/sign-in/wallet", answer)).status).toBe(200);
      expect((await browser.get("/api/account")).body).toEqual({
        email: null,
        wallet: { network, address },
        account: null,
      });
      for (const refused of [
        () => browser.post("/api/account/keys", { name: "mine" }),
        () => browser.get("/api/account/keys"),
        () => browser.get("/api/account/agents"),
        () => browser.post("/api/account", { handle: "wallet-person" }),
      ]) {
        expect((await refused()).status).toBe(403);
      }
      expect((await new Browser(local.url).post("/api/account/sign-in/wallet", answer)).status).toBe(422);
    },
  );

  test("another's signature, one of another text, and nonsense are refused, naming the field", async ({ local }) => {
    const stranger = generatePrivateKey();
    const browser = new Browser(local.url);
    for (const sign of [
      (text: string) => signByEvm(stranger, text),
      () => signByEvm(evmKey, "another text"),
      () => "0x",
      () => "nonsense",
      () => `0x${"00".repeat(65)}`,
      () => `0x${"ff".repeat(4_000)}`,
    ]) {
      const wallet = { network: "eip155:84532", address: evm.address };
      const { challenge_id, message } = (await browser.post("/api/account/sign-in/wallet/challenge", wallet)).body;
      const signature = await sign(message);
      const { status, body } = await browser.post("/api/account/sign-in/wallet", { challenge_id, signature });
      expect({ signature, status, field: body.field }).toEqual({ signature, status: 422, field: "signature" });
      expect((await browser.get("/api/account")).status).toBe(401);
    }
  });

  test("a challenge is good once, also for two at once, and still while the chain does not answer", async ({
    local,
  }) => {
    const browser = new Browser(local.url);
    const ask = async (at: Browser) =>
      (await at.post("/api/account/sign-in/wallet/challenge", { network: "eip155:84532", address: evm.address })).body;
    const { challenge_id, message } = await ask(browser);
    const signed = { challenge_id, signature: await signByEvm(evmKey, message) };
    const both = await Promise.all([1, 2].map(() => browser.post("/api/account/sign-in/wallet", signed)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 422]);

    const lonely = await startMarketplace({ env: { EVM_RPC_URLS: "eip155:84532=http://127.0.0.1:1" } });
    try {
      const there = new Browser(lonely.url);
      const asked = await ask(there);
      // As of a contract, which the chain alone knows.
      const unknown = { challenge_id: asked.challenge_id, signature: `0x${"11".repeat(65)}` };
      for (let n = 0; n < 2; n += 1)
        expect((await there.post("/api/account/sign-in/wallet", unknown)).status).toBe(503);
      const own = { ...unknown, signature: await signByEvm(evmKey, asked.message) };
      expect((await there.post("/api/account/sign-in/wallet", own)).status).toBe(200);
      expect((await there.post("/api/account/sign-in/wallet", own)).status).toBe(422);
    } finally {
      await lonely.stop();
    }
  });

  test("an address that shows new wallets without end keeps few rows, and those that it showed, and other addresses, still sign in", async ({
    local,
  }) => {
    const { db } = local.context;
    const enter = async (from: string, key: `0x${string}`) => {
      await db.query("delete from rate_limits");
      const browser = new Browser(local.url, from);
      const wallet = { network: "eip155:84532", address: privateKeyToAccount(key).address };
      const { challenge_id, message } = (await browser.post("/api/account/sign-in/wallet/challenge", wallet)).body;
      const signature = await signByEvm(key, message);
      return browser.post("/api/account/sign-in/wallet", { challenge_id, signature });
    };
    const keys = Array.from({ length: 4 }, () => generatePrivateKey());
    const here = "198.51.100.201";
    const statuses = [(await enter(here, keys[0]!)).status];
    await db.query("update new_wallets set wallets = wallets + 497 where client = $1", [here]);
    for (const key of keys.slice(1)) statuses.push((await enter(here, key)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const refused = await enter(here, generatePrivateKey());
    expect(refused.body.error).toContain("paying per call needs no signing in");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    for (let n = 0; n < 12; n += 1) expect((await enter(here, keys[0]!)).status).toBe(200);
    expect((await enter("198.51.100.202", keys[3]!)).status).toBe(200);
    const { rows } = await db.query(
      "select count(*)::integer as kept from sign_in_sessions s join sign_in_users u on u.id = s.user_id where u.wallet_address = $1",
      [privateKeyToAccount(keys[0]!).address],
    );
    expect(rows).toEqual([{ kept: 10 }]);
  });

  test("an account with several keys is told to use another", async ({ local }) => {
    const browser = new Browser(local.url);
    const wallet = { network: "hedera:testnet", address: "0.0.2" };
    const { challenge_id } = (await browser.post("/api/account/sign-in/wallet/challenge", wallet)).body;
    const { status } = await browser.post("/api/account/sign-in/wallet", { challenge_id, signature: "00".repeat(64) });
    expect(status).toBe(422);
  });
});

describe("a session", () => {
  test("is needed, ends by signing out, and everywhere at once", async ({ local }) => {
    const email = newEmail();
    const [here, there] = [await signedIn(local, email), await signedIn(local, email)];
    const stolen = here.cookie;
    expect((await here.post("/api/account/sign-out")).body).toEqual({ signed_in: false });
    expect((await new Browser(local.url).get("/api/account", { cookie: stolen })).status).toBe(401);
    const third = await signedIn(local, email);
    expect((await there.post("/api/account/sign-out", { everywhere: true })).status).toBe(200);
    for (const browser of [here, there, third]) expect((await browser.get("/api/account")).status).toBe(401);
    expect((await new Browser(local.url).get("/api/account")).headers.get("www-authenticate")).toContain("Session");
  });

  test("of one person is among a hundred at most: at one more the oldest ends", async ({ local }) => {
    const { db } = local.context;
    const email = newEmail();
    const first = await signedIn(local, email);
    await db.query(
      `insert into sign_in_sessions (id, user_id, token, expires_at, updated_at)
       select $1 || n, id, $1 || n, now() + interval '7 days', now() + interval '1 second'
       from sign_in_users, generate_series(1, 99) n where email = $1`,
      [email],
    );
    expect((await first.get("/api/account")).status).toBe(200);
    const last = await signedIn(local, email);
    expect((await last.get("/api/account/sessions")).body.sessions).toHaveLength(100);
    expect((await first.get("/api/account")).status).toBe(401);
  });

  test("keeps of what a browser calls itself no more than tells it from others", async ({ local }) => {
    const browser = new Browser(local.url);
    const long = { "user-agent": `Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0 ${"x".repeat(12_000)}` };
    const { link } = (await browser.post("/api/account/sign-in/email", { email: newEmail() })).body;
    expect((await browser.post("/api/account/sign-in/email/confirm", { token: tokenIn(link) }, long)).status).toBe(200);
    const { sessions } = (await browser.get("/api/account/sessions")).body;
    expect(sessions).toMatchObject([{ device: "Firefox on Linux" }]);
    const { rows } = await local.context.db.query(
      "select length(user_agent) as kept from sign_in_sessions where id = $1",
      [sessions[0].id],
    );
    expect(rows).toEqual([{ kept: 500 }]);
  });

  test("is not taken from a cookie that was changed or made up", async ({ local }) => {
    const { cookie } = await signedIn(local);
    const changed = cookie.replace(/=(..)/, (_all, two) => `=${two === "AA" ? "BB" : "AA"}`);
    for (const forged of [changed, cookie.split(".").slice(0, 2).join("."), "marketplace.session_token=x"]) {
      expect((await new Browser(local.url).get("/api/account", { cookie: forged })).status).toBe(401);
    }
  });

  test("is good on every copy of the service, and for one past its end on none", async ({ local }) => {
    const second = await startMarketplace({ databaseUrl: local.databaseUrl });
    try {
      const { cookie } = await signedIn(local);
      expect((await new Browser(second.url).get("/api/account", { cookie })).status).toBe(200);
      await local.context.db.query("update sign_in_sessions set expires_at = now() - interval '1 second'");
      for (const market of [local, second]) {
        expect((await new Browser(market.url).get("/api/account", { cookie })).status).toBe(401);
      }
    } finally {
      await second.stop();
    }
  });

  test("cannot be used by pages of another origin", async ({ local }) => {
    const browser = await signedIn(local);
    const from = (origin: string) => ({ origin });
    expect((await browser.post("/api/account", { handle: "forged" }, from("https://evil.example"))).status).toBe(403);
    expect((await browser.post("/api/account", { handle: "forged" }, from("null"))).status).toBe(403);
    expect(
      (await browser.get("/api/account", { "sec-fetch-site": "cross-site", origin: "https://e.example" })).status,
    ).toBe(403);
    expect((await browser.get("/api/account", from(local.url))).status).toBe(200);
  });

  test("where no session secret is set, sign-in is a 503 and all else works", async () => {
    const closed = await startMarketplace({ env: { SESSION_SECRET: "" } });
    try {
      const browser = new Browser(closed.url);
      expect((await browser.post("/api/account/sign-in/email", { email: newEmail() })).status).toBe(503);
      expect((await browser.get("/health")).status).toBe(200);
      expect(await (await fetch(`${closed.url}/sign-in`)).text()).toContain("not set up");
    } finally {
      await closed.stop();
    }
  });
});

const signByEvm = (privateKey: `0x${string}`, message: string) =>
  privateKeyToAccount(privateKey).signMessage({ message });
const hexBy = async (key: PrivateKey, text: string) => Buffer.from(key.sign(Buffer.from(text))).toString("hex");

/** As wallets answer `hedera_signMessage`: a SignatureMap in base64. */
async function signatureMap(key: PrivateKey, text: string): Promise<string> {
  const { proto } = await import("@hiero-ledger/proto");
  const pair = { pubKeyPrefix: key.publicKey.toBytesRaw(), ed25519: key.sign(Buffer.from(text)) };
  return Buffer.from(proto.SignatureMap.encode({ sigPair: [pair] }).finish()).toString("base64");
}

async function signInByMail(browser: Browser, mail: MailServer, email: string): Promise<void> {
  await browser.post("/api/account/sign-in/email", { email });
  await browser.post("/api/account/sign-in/email/confirm", { token: tokenIn(await linkTo(mail, email)) });
}

async function linkTo(mail: MailServer, email: string): Promise<string> {
  return /https:\S+/.exec(await mail.emailTo(email))?.[0] ?? "";
}

async function throughProvider(provider: OidcServer, browser: Browser, email: string) {
  const { status, headers } = await browser.get(await callbackOf(provider, browser, email));
  return { status, location: headers.get("location") };
}
