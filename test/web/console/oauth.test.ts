import { createHash, randomBytes } from "node:crypto";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { describe, expect } from "vitest";
import { freePort } from "../../../infra/free-port.ts";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { deleteExpiredRows } from "../../../marketplace/expired-rows.ts";
import { forgetOldest } from "../../../marketplace/oauth/clients.ts";
import { renewalsKept } from "../../../marketplace/oauth/grants.ts";
import { marketTest } from "../../support/fixtures.ts";
import { echoAgent, type TestMarketplace } from "../../support/marketplace.ts";
import { allTools, callTool, textOf } from "../../support/mcp.ts";
import { perFile } from "../../support/part.ts";
import { newPerson, type Person } from "./person.ts";

const callback = "http://127.0.0.1:9/callback";
let market: TestMarketplace;
let person: Person;
let tool: string;
const test = marketTest().extend("options", perFile, async () => {
  const port = String(await freePort());
  const publicUrl = `http://127.0.0.1:${port}`;
  // Links are shown there instead of mailed.
  return { env: { MARKETPLACE_PORT: port, MARKETPLACE_PUBLIC_URL: publicUrl, SMTP_URL: "", MAIL_FROM: "" } };
});
test.beforeAll(async ({ market: started }) => {
  market = started;
  person = await newPerson(market);
  const { db } = market.context;
  const account = await accountByHandle(db, person.handle);
  await grant(db, { accountId: account.id, credits: credits(1_000n) });
  await publishAgent(market.context, account, "echo", { ...echoAgent, price_credits: 5 });
  tool = `${person.handle}--echo`;
});

// No mail server takes here what is told of each client, and no more clients are allowed than e-mails can wait.
test.beforeEach(async () => {
  await market.context.db.query("delete from account_letters");
});

/** What the SDK's own OAuth client asks its program to keep. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly clientMetadata = { client_name: "Paper Desk", redirect_uris: [callback] };
  information: OAuthClientInformationMixed | undefined;
  kept: OAuthTokens | undefined;
  verifier = "";
  asked: URL | undefined;
  clientInformation = () => this.information;
  saveClientInformation = (given: OAuthClientInformationMixed) => {
    this.information = given;
  };
  tokens = () => this.kept;
  saveTokens = (given: OAuthTokens) => {
    this.kept = given;
  };
  redirectToAuthorization = (url: URL) => {
    this.asked = url;
  };
  saveCodeVerifier = (given: string) => {
    this.verifier = given;
  };
  codeVerifier = () => this.verifier;
}

const fields = { name: "Paper Desk", scope: "own_agents", rate_limit_per_minute: "30", max_credits_per_day: "12" };
const pathOf = (url: URL | string) => String(url).replace(market.url, "");

let asking = 0;

/** Each time from another address, so that limits of one are not met. */
async function follow(asked: URL) {
  const headers = { "x-forwarded-for": `10.5.${asking++}.1`, accept: "text/html" };
  const answer = await fetch(asked, { headers, redirect: "manual" });
  return { status: answer.status, location: answer.headers.get("location"), html: await answer.text() };
}

/** The person follows the client's address, reads the page and allows it. */
async function allow(asked: URL, more: Record<string, string> = {}): Promise<URL> {
  const { location } = await follow(asked);
  const answer = await person.post(location ?? "", { ...fields, ...more, act: "allow" });
  return new URL(answer.location ?? "");
}

const newTransport = (authProvider: OAuthClientProvider) =>
  new StreamableHTTPClientTransport(new URL(`${market.url}/api/mcp`), { authProvider });
const newClient = () => new Client({ name: "test", version: "1" });

async function signIn() {
  const keeper = new Keeper();
  const transport = newTransport(keeper);
  await expect(newClient().connect(transport as never)).rejects.toThrow(UnauthorizedError);
  const back = await allow(keeper.asked!);
  await transport.finishAuth(back.searchParams.get("code") ?? "");
  const client = newClient();
  await client.connect(newTransport(keeper) as never);
  return { keeper, client, back };
}

let registered = 0;
const addressOf = (n: number) => `10.1.${n}.1`;

/** The same by hand, so that each part can be made wrong. */
async function register(more: object = {}, from = addressOf(registered++)) {
  const body = JSON.stringify({ client_name: "By hand", redirect_uris: [callback], ...more });
  const headers = { "content-type": "application/json", "x-forwarded-for": from };
  const answer = await fetch(`${market.url}/api/oauth/register`, { method: "POST", headers, body });
  return { status: answer.status, body: (await answer.json()) as { client_id: string; error?: string } };
}
const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");
function addressFor(clientId: string, verifier: string, more: Record<string, string> = {}): URL {
  const asked = {
    client_id: clientId,
    redirect_uri: callback,
    response_type: "code",
    code_challenge: challengeOf(verifier),
    code_challenge_method: "S256",
    state: "kept",
    ...more,
  };
  return new URL(`${market.url}/api/oauth/authorize?${new URLSearchParams(asked)}`);
}
async function askToken(given: Record<string, string>) {
  const answer = await fetch(`${market.url}/api/oauth/token`, { method: "POST", body: new URLSearchParams(given) });
  return { status: answer.status, body: (await answer.json()) as OAuthTokens & { error?: string } };
}
async function newCode() {
  const client_id = (await register()).body.client_id;
  const code_verifier = randomBytes(32).toString("base64url");
  const back = await allow(addressFor(client_id, code_verifier));
  const code = back.searchParams.get("code") ?? "";
  return { grant_type: "authorization_code", client_id, code, code_verifier, redirect_uri: callback };
}
const renewal = (client_id: string, refresh_token = "") => ({ grant_type: "refresh_token", client_id, refresh_token });
const listWith = (token: string, path = "/api/mcp") =>
  fetch(market.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });

test("the SDK's own client signs in by itself, and runs agents within what the person set", async () => {
  const { client, keeper, back } = await signIn();
  expect(back.searchParams.get("iss")).toBe(market.url);
  const { rows: letters } = await market.context.db.query("select subject, text from account_letters order by since");
  expect(letters.at(-1)).toMatchObject({
    subject: expect.stringMatching("A client was allowed"),
    text: expect.stringMatching("“Paper Desk”"),
  });
  expect((await allTools(client)).map(({ name }) => name)).toContain(tool);
  expect((await callTool(client, tool, { text: "hello" }))._meta).toMatchObject({ credits_used: 5 });
  await callTool(client, tool, { text: "hello" });
  const capped = await callTool(client, tool, { text: "hello" });
  expect(capped).toMatchObject({ isError: true, _meta: { limit_source: "key" } });
  expect(textOf(capped)).toContain("12 credits a day");
  const { html } = await person.get("/settings/keys");
  expect(html).toContain("Clients that you allowed");
  const [, id] = /\/settings\/keys\/(key_\w+)\/revoke/.exec(html) ?? [];
  expect((await person.post(`/settings/keys/${id}/revoke`, { act: "revoke" })).status).toBe(303);
  expect((await listWith(keeper.kept!.access_token)).status).toBe(401);
  expect((await askToken(renewal(keeper.information!.client_id, keeper.kept!.refresh_token))).body.error).toBe(
    "invalid_grant",
  );
});

test("a token renews itself in the SDK's client, and opens the tool server alone", async () => {
  const { keeper } = await signIn();
  const { access_token: old, refresh_token: first } = keeper.kept!;
  await market.context.db.query("update oauth_secrets set expires_at = now() where kind = 'access'");
  expect((await listWith(old)).status).toBe(401);
  const client = newClient();
  await client.connect(newTransport(keeper) as never);
  expect(await allTools(client)).not.toHaveLength(0);
  expect(keeper.kept!.refresh_token).not.toBe(first);
  const headers = { authorization: `Bearer ${keeper.kept!.access_token}` };
  for (const path of ["/api/account/keys", "/api/account", "/api/v1/balance", "/api/v1/runs", "/api/operator/acts"]) {
    expect((await fetch(market.url + path, { headers })).status, path).toBeGreaterThanOrEqual(401);
  }
  const made = await fetch(`${market.url}/api/account/keys`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "more" }),
  });
  expect(made.status).toBe(401);
});

describe("a code", () => {
  test("is good once: shown again, also at once, it ends what came of it", async () => {
    const shown = await newCode();
    const answers = await Promise.all([askToken(shown), askToken(shown), askToken(shown)]);
    const good = answers.filter(({ status }) => status === 200);
    expect(good.length).toBeLessThanOrEqual(1);
    expect((await askToken(shown)).body.error).toBe("invalid_grant");
    for (const { body } of good) expect((await listWith(body.access_token)).status).toBe(401);
  });

  test.each([
    ["with another verifier", { code_verifier: "x".repeat(43) }, "invalid_grant"],
    ["without one", { code_verifier: "" }, "invalid_request"],
    ["from another redirect address", { redirect_uri: "http://127.0.0.1:10/callback" }, "invalid_grant"],
    ["by a client that is none", { client_id: "cli_another" }, "invalid_client"],
    ["for another resource", { resource: "https://elsewhere.example/mcp" }, "invalid_target"],
    ["by a grant that is none", { grant_type: "password" }, "unsupported_grant_type"],
  ])("buys nothing %s", async (_what, wrong, error) => {
    expect(await askToken({ ...(await newCode()), ...wrong })).toMatchObject({ status: 400, body: { error } });
  });
});

test("what tokens are renewed with is good once: used again, by whomever, it ends the whole family", async () => {
  const shown = await newCode();
  const first = (await askToken(shown)).body;
  const second = (await askToken(renewal(shown.client_id, first.refresh_token))).body;
  expect((await listWith(second.access_token)).status).toBe(200);
  const another = (await register()).body.client_id;
  expect((await askToken(renewal(another, second.refresh_token))).body.error).toBe("invalid_grant");
  expect((await askToken(renewal(shown.client_id, first.refresh_token))).body.error).toBe("invalid_grant");
  expect((await listWith(second.access_token)).status).toBe(401);
  expect((await askToken(renewal(shown.client_id, second.refresh_token))).body.error).toBe("invalid_grant");
});

const registrationEnd = async (client: string) =>
  (await market.context.db.query("select expires_at from oauth_clients where id = $1", [client])).rows[0]?.expires_at;
const endRegistration = (client: string) =>
  market.context.db.query("update oauth_clients set expires_at = now() - interval '1 day' where id = $1", [client]);

test("a client that is forgotten and whose token is no good is told to register anew; one that is known, that its token is no good", async () => {
  const shown = await newCode();
  const { refresh_token } = (await askToken(shown)).body;
  await market.context.db.query("update api_keys set revoked_at = now() where client = $1", [shown.client_id]);
  const errors = async () => {
    const asked = [shown.client_id, "cli_none"].flatMap((id) => [
      askToken(renewal(id, refresh_token)),
      askToken(renewal(id, "amr_none")),
      askToken({ ...shown, client_id: id, code: "amc_none" }),
    ]);
    return (await Promise.all(asked)).map(({ status, body }) => [status, body.error]);
  };
  const [known, unknown] = [Array(3).fill([400, "invalid_grant"]), Array(3).fill([400, "invalid_client"])];
  expect(await errors()).toEqual([...known, ...unknown]);
  await endRegistration(shown.client_id);
  expect(await errors()).toEqual([...unknown, ...unknown]);
});

test("a client that renews its tokens stays registered, and renews them although its registration is over", async () => {
  const shown = await newCode();
  const first = (await askToken(shown)).body;
  await endRegistration(shown.client_id);
  const second = await askToken(renewal(shown.client_id, first.refresh_token));
  expect(second.status).toBe(200);
  const keptDays = (+(await registrationEnd(shown.client_id)) - Date.now()) / 86_400_000;
  expect(keptDays).toBeGreaterThan(89);
  await market.context.db.query("delete from oauth_clients where id = $1", [shown.client_id]);
  expect((await askToken(renewal(shown.client_id, second.body.refresh_token))).status).toBe(200);
});

test.each(["/api/mcp/", "/API/mcp", "/api/MCP/"])("the tool server is also at %s, for clients too", async (path) => {
  const { access_token } = (await askToken(await newCode())).body;
  expect((await listWith(access_token, path)).status).toBe(200);
  const refused = await listWith("amt_none", path);
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toContain(
    `resource_metadata="${market.url}/.well-known/oauth-protected-resource/api/mcp"`,
  );
});

test("a client gives back what it was allowed", async () => {
  const shown = await newCode();
  const { access_token, refresh_token = "" } = (await askToken(shown)).body;
  const body = new URLSearchParams({ token: refresh_token, client_id: shown.client_id });
  expect((await fetch(`${market.url}/api/oauth/revoke`, { method: "POST", body })).status).toBe(200);
  expect((await listWith(access_token)).status).toBe(401);
});

describe("a request for access", () => {
  test("of a client that is none, or to an address that it did not register, leads nowhere", async () => {
    const { client_id } = (await register()).body;
    for (const address of [
      addressFor("cli_none", "v"),
      addressFor("cli_\0none", "v"),
      addressFor("https://client.example/a/../claude.json", "v"),
      addressFor("https://CLAUDE.example/client.json", "v"),
      addressFor(client_id, "v", { redirect_uri: `${callback}\0` }),
      addressFor("https://127.0.0.1/client.json", "v"),
      addressFor("https://metadata.google.internal/client.json", "v"),
      addressFor(client_id, "v", { redirect_uri: `${callback}/more` }),
      addressFor(client_id, "v", { redirect_uri: "https://evil.example/callback" }),
    ]) {
      expect(await person.get(pathOf(address))).toMatchObject({ status: 400, location: null });
    }
  });

  test.each([
    ["http://127.0.0.1/callback", "http://127.0.0.1:41001/callback"],
    ["http://127.0.0.1:9/callback?of=it", "http://127.0.0.1:41001/callback?of=it"],
    ["http://127.0.0.1:9/callback", "http://127.0.0.1/callback"],
    ["http://localhost/callback", "http://localhost:41001/callback"],
    ["http://[::1]:9/callback", "http://[::1]:41001/callback"],
  ])(
    "of a client registered at %s is answered at %s, whichever port of the machine was free",
    async (at, redirect_uri) => {
      const { client_id } = (await register({ redirect_uris: [at] })).body;
      const code_verifier = randomBytes(32).toString("base64url");
      const asked = addressFor(client_id, code_verifier, { redirect_uri });
      const { location } = await follow(asked);
      expect((await person.get(location ?? "")).html).toContain(new URL(redirect_uri).host);
      const back = await allow(asked);
      expect(back.href.startsWith(redirect_uri)).toBe(true);
      const code = back.searchParams.get("code") ?? "";
      const shown = { grant_type: "authorization_code", client_id, code, code_verifier };
      expect((await askToken({ ...shown, redirect_uri: at })).body.error).toBe("invalid_grant");
      expect((await askToken({ ...shown, redirect_uri })).status).toBe(200);
    },
  );

  test("of a port of the machine leads nowhere else: no other path, host, scheme or name, and no other port of a website", async () => {
    const redirect_uris = ["http://127.0.0.1/callback", "https://client.example/callback", "cursor://a.b/callback"];
    const { client_id } = (await register({ redirect_uris })).body;
    for (const redirect_uri of [
      "http://127.0.0.1:41001/",
      "http://127.0.0.1:41001/callback/",
      "http://127.0.0.1:41001/callback?more",
      "http://127.0.0.1:41001/callback#more",
      "http://127.0.0.1:41001/callback#",
      "http://localhost:41001/callback",
      "http://[::1]:41001/callback",
      "http://127.0.0.2:41001/callback",
      "http://127.0.0.1:41001@evil.example/callback",
      "http://me@127.0.0.1:41001/callback",
      "http://me:secret@127.0.0.1:41001/callback",
      "http://127.0.0.1:99999/callback",
      "https://127.0.0.1:41001/callback",
      "https://client.example:8443/callback",
      "cursor://a.b:41001/callback",
    ]) {
      const answer = await follow(addressFor(client_id, "v".repeat(43), { redirect_uri }));
      expect([answer.status, answer.location], redirect_uri).toEqual([400, null]);
      expect(answer.html).toContain("none that the client registered");
    }
  });

  test.each([
    ["plain PKCE", { code_challenge_method: "plain" }, "S256 is required"],
    ["no challenge", { code_challenge: "" }, "code_challenge"],
    ["another resource", { resource: "https://elsewhere.example/mcp" }, "Tokens are for"],
    ["another scope", { scope: "admin" }, "The only scope"],
    ["a token instead of a code", { response_type: "token" }, "Only code is answered"],
  ])(
    "with %s is refused on a page of ours: nobody is led to an address that anybody may have registered",
    async (_what, wrong, words) => {
      const { client_id } = (await register({ redirect_uris: ["https://evil.example/"] })).body;
      const asked = addressFor(client_id, "v", { redirect_uri: "https://evil.example/", ...wrong });
      const { status, location, headers, html } = await person.get(pathOf(asked));
      expect([status, location, headers.get("content-type")]).toEqual([
        400,
        null,
        expect.stringContaining("text/html"),
      ]);
      expect(html).toContain(words);
      expect(html).not.toContain("evil.example");
    },
  );

  test("asks on a page that names the client, where it goes and what it may spend; it cannot be framed, and nothing is allowed unasked", async () => {
    const name = "Paper <b>Desk</b> \u202e";
    const { client_id } = (await register({ client_name: name })).body;
    const asked = addressFor(client_id, "v");
    const { location } = await person.get(pathOf(asked));
    const page = await person.get(location ?? "");
    for (const words of [
      "Paper &lt;b>Desk&lt;/b>",
      "We do not know this client",
      "127.0.0.1:9",
      'value="200"',
      "No agents, drawings only",
      "an SVG from words for 3 credits, in HD for 8, from a picture for 1",
      "What you allowed this client before ends",
      "Allow",
    ]) {
      expect(page.html).toContain(words);
    }
    expect(page.html).not.toContain("REST only");
    const policy = page.headers.get("content-security-policy");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1:9;");
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await person.post(location ?? "", { ...fields, act: "allow" }, foreign)).status).toBe(403);
    const stranger = await fetch(market.url + location, { redirect: "manual", headers: { accept: "text/html" } });
    expect(stranger.headers.get("location")).toMatch(/^\/sign-in/);
    const capless = await person.post(location ?? "", { ...fields, max_credits_per_day: "", act: "allow" });
    expect([capless.status, capless.html]).toEqual([422, expect.stringMatching(/must be set for a client/i)]);
    const back = new URL((await person.post(location ?? "", { act: "refuse" })).location ?? "");
    expect(back.searchParams.get("error")).toBe("access_denied");
    const late = await person.post(location ?? "", { ...fields, act: "allow" });
    expect([late.status, late.html.includes("This request is over")]).toEqual([404, true]);
    const { rows } = await market.context.db.query("select from api_keys where client = $1", [client_id]);
    expect(rows).toHaveLength(0);
  });
});

test("who was signed out meanwhile allows from the page that keeps the form, which leads to the client as well", async () => {
  const { body } = await register({ redirect_uris: ["https://client.example/cb"] });
  const { location } = await person.get(
    pathOf(addressFor(body.client_id, "v", { redirect_uri: "https://client.example/cb" })),
  );
  const answer = await fetch(market.url + location, {
    method: "POST",
    headers: { origin: market.url },
    body: new URLSearchParams({ act: "allow", name: "kept", max_credits_per_day: "5" }),
  });
  expect(answer.status).toBe(401);
  expect(await answer.text()).toContain("kept on this page");
  expect(answer.headers.get("content-security-policy")).toContain("form-action 'self' https://client.example");
});

test("the page names a host for https alone, and what cannot be seen is no name", async () => {
  for (const [client_name, uri, shown] of [
    [
      "\u3164\u115f\u1160\uffa0\u2800\u200b",
      "evil.app://claude.ai/cb",
      'a program on this device (<code class="icode">evil.app:<',
    ],
    ["\u202eClaude", "https://client.example/cb", '<code class="icode">client.example<'],
  ] as const) {
    const { status, body } = await register({ client_name, redirect_uris: [uri] });
    expect(status).toBe(201);
    const { location } = await person.get(pathOf(addressFor(body.client_id, "v", { redirect_uri: uri })));
    const { html } = await person.get(location ?? "");
    expect(html).toContain(shown);
    expect(html).toContain(client_name.endsWith("Claude") ? "“Claude”" : `“${body.client_id}”`);
    expect(html).not.toContain('icode">claude.ai');
  }
  expect((await person.get("/consent/%00")).status).toBe(404);
});

test.each([
  "/./api/oauth/authorize?x",
  "/API/oauth/authorize",
  "/x/../api/oauth/authorize",
  "/%2e/api/x",
  "/%61pi/x",
  "/.//evil.example",
])("who signs in is not led on to %s", async (next) => {
  expect((await person.get(`/sign-in?next=${encodeURIComponent(next)}`)).location).toBe("/settings/keys");
});

test("one address has few metadata documents fetched a minute, and nothing of a client is kept that nobody allowed", async () => {
  const headers = { "x-forwarded-for": "10.4.0.1" };
  const statuses: number[] = [];
  for (let n = 0; n < 21; n++) {
    const asked = addressFor(`https://127.0.0.1/${n}.json`, "v");
    statuses.push((await fetch(asked, { headers, redirect: "manual" })).status);
  }
  expect(statuses).toEqual([...Array<number>(20).fill(400), 429]);
  const { rows } = await market.context.db.query("select from oauth_clients where id like 'https:%'");
  expect(rows).toHaveLength(0);
});

const activeKeysOf = async (client: string) =>
  (await market.context.db.query("select id from api_keys where client = $1 and revoked_at is null", [client])).rows;

test("a client that is allowed again, also twice at once, has one key: what it had before ends", async () => {
  const shown = await newCode();
  const first = (await askToken(shown)).body;
  expect((await listWith(first.access_token)).status).toBe(200);
  const again = () => allow(addressFor(shown.client_id, shown.code_verifier));
  const backs = await Promise.all([again(), again()]);
  expect(await activeKeysOf(shown.client_id)).toHaveLength(1);
  expect((await listWith(first.access_token)).status).toBe(401);
  const codes = backs.map((back) => askToken({ ...shown, code: back.searchParams.get("code") ?? "" }));
  expect((await Promise.all(codes)).map(({ status }) => status).sort()).toEqual([200, 400]);
});

test("a client is not allowed while no e-mail of it can be kept, and is once there is room", async () => {
  const { db } = market.context;
  const account = await accountByHandle(db, person.handle);
  await db.query(
    "insert into account_letters (account_id, kind, subject, text) select $1, 'client', 'A', 'B' from generate_series(1, 20)",
    [account.id],
  );
  const { client_id } = (await register()).body;
  const { location } = await follow(addressFor(client_id, "v".repeat(43)));
  const answerIt = () => person.post(location ?? "", { ...fields, act: "allow" });
  const refused = await answerIt();
  expect([refused.status, refused.html.includes("Too many e-mails")]).toEqual([429, true]);
  expect(await activeKeysOf(client_id)).toEqual([]);
  await db.query("delete from account_letters where subject = 'A'");
  expect((await answerIt()).status).toBe(303);
  expect(await activeKeysOf(client_id)).toHaveLength(1);
});

test("tokens are renewed 40 times an hour, and what is refused past that is not spent; after 180 days a person is asked again", async () => {
  const { db } = market.context;
  const shown = await newCode();
  const { refresh_token } = (await askToken(shown)).body;
  const [{ id }] = (await activeKeysOf(shown.client_id)) as [{ id: string }];
  await db.query(
    `insert into oauth_secrets (digest, kind, key_id, expires_at)
     select sha256(convert_to($1 || n, 'UTF8')), 'refresh', $1, now() + interval '30 days' from generate_series(1, 39) n`,
    [id],
  );
  const body = new URLSearchParams(renewal(shown.client_id, refresh_token));
  const refused = await fetch(`${market.url}/api/oauth/token`, { method: "POST", body });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
  await db.query("update oauth_secrets set issued_at = now() - interval '1 hour' where key_id = $1", [id]);
  const renewed = await askToken(renewal(shown.client_id, refresh_token));
  expect(renewed.status).toBe(200);
  await db.query("update api_keys set created_at = now() - interval '181 days' where id = $1", [id]);
  const late = await askToken(renewal(shown.client_id, renewed.body.refresh_token));
  expect(late.body.error).toBe("invalid_grant");
});

test("of what a client's tokens were renewed with the newest thousand are kept, and none of a client that was revoked", async () => {
  const { db } = market.context;
  const shown = await newCode();
  const { refresh_token } = (await askToken(shown)).body;
  const [{ id }] = (await activeKeysOf(shown.client_id)) as [{ id: string }];
  await db.query(
    `insert into oauth_secrets (digest, kind, key_id, used_at, issued_at, expires_at)
     select sha256(convert_to($1 || n, 'UTF8')), 'refresh', $1, now(), now() - interval '1 day' - n * interval '1 second', now() + interval '29 days'
     from generate_series(1, 1500) n`,
    [id],
  );
  const renewed = await askToken(renewal(shown.client_id, refresh_token));
  expect(renewed.status).toBe(200);
  const kept = async () =>
    (await db.query("select count(*)::integer as kept from oauth_secrets where key_id = $1 and kind = 'refresh'", [id]))
      .rows[0].kept;
  expect(await kept()).toBe(renewalsKept);
  expect((await askToken(renewal(shown.client_id, renewed.body.refresh_token))).status).toBe(200);
  await db.query("update api_keys set revoked_at = now() - interval '2 hours' where id = $1", [id]);
  await deleteExpiredRows(db);
  expect(await kept()).toBe(0);
});

test("a client that can get no token any more is among those allowed no longer, and its place is free", async () => {
  const { db } = market.context;
  // The person has no place left for more clients by now.
  await db.query("update api_keys set revoked_at = now() where client is not null and revoked_at is null");
  const grants = await Promise.all(Array.from({ length: 4 }, newCode));
  const [renewing, silent, old] = grants.slice(1) as [(typeof grants)[0], (typeof grants)[0], (typeof grants)[0]];
  for (const grant of [renewing, silent, old]) expect((await askToken(grant)).status).toBe(200);
  const clients = grants.map(({ client_id }) => client_id);
  const among = "key_id in (select id from api_keys where client = any($1))";
  await db.query(`update oauth_secrets set expires_at = now() where kind <> 'refresh' and ${among}`, [clients]);
  await db.query("update api_keys set created_at = now() - interval '2 hours' where client = any($1)", [clients]);
  await db.query("update api_keys set created_at = now() - interval '181 days' where client = $1", [old.client_id]);
  await db.query(
    "update oauth_secrets set expires_at = now() where key_id in (select id from api_keys where client = $1)",
    [silent.client_id],
  );
  await deleteExpiredRows(db);
  const active = await Promise.all(clients.map(async (client) => (await activeKeysOf(client)).length));
  expect(active).toEqual([0, 1, 0, 0]);
});

test("one address has few unanswered requests and registers few clients an hour; those that nobody allows go first", async () => {
  const { db } = market.context;
  const { client_id: allowed } = await newCode();
  const { client_id } = (await register()).body;
  const asked = pathOf(addressFor(client_id, "v"));
  expect((await person.get(asked)).status).toBe(303);
  await db.query(
    `insert into oauth_requests select 'req_flood' || n, client_id, client_name, redirect_uri, state, challenge, expires_at, asked_from
     from (select * from oauth_requests where client_id = $1) one, generate_series(1, 99) n`,
    [client_id],
  );
  expect((await person.get(asked)).status).toBe(429);
  await db.query("delete from oauth_requests where id like 'req_flood%'");
  expect((await person.get(asked)).status).toBe(303);
  await db.query(
    `insert into oauth_clients (id, name, redirect_uris, registered_from, expires_at)
     select 'cli_flood' || n, 'x', '{https://x.example/}', '10.3.0.1', now() + interval '1 day' from generate_series(1, 50) n`,
  );
  expect((await register({}, "10.3.0.1")).status).toBe(429);
  expect((await register({}, "10.3.0.2")).status).toBe(201);
  const kept = async () => {
    await forgetOldest(db, 0);
    return (await db.query("select id from oauth_clients")).rows.map(({ id }) => id);
  };
  expect(await kept()).toContain(allowed);
  expect(await kept()).not.toContain(client_id);
  await db.query("update api_keys set revoked_at = now() where client = $1", [allowed]);
  expect(await kept()).not.toContain(allowed);
});

test("a client that several people allowed stays as long as one of them does not take it back, whoever allowed it last", async () => {
  const { db } = market.context;
  const { client_id, code_verifier } = await newCode();
  const other = await newPerson(market);
  const { location } = await follow(addressFor(client_id, code_verifier));
  expect((await other.post(location ?? "", { ...fields, act: "allow" })).status).toBe(303);
  const { keys } = (await other.browser.get("/api/account/keys")).body;
  expect((await other.browser.delete(`/api/account/keys/${keys[0].id}`)).status).toBe(200);
  await forgetOldest(db, 0);
  expect((await follow(addressFor(client_id, code_verifier))).status).toBe(303);
});

test("a client keeps a daily cap: it is changed and not lifted, over the API and on its page", async () => {
  const { client_id } = await newCode();
  const { id } = (await activeKeysOf(client_id))[0];
  const change = (body: object) => person.browser.patch(`/api/account/keys/${id}`, body);
  expect(await change({ max_credits_per_day: null })).toMatchObject({
    status: 422,
    body: { field: "max_credits_per_day", error: '"max_credits_per_day" must be set for a client.' },
  });
  const emptied = await person.post(`/settings/keys/${id}`, { ...fields, act: "change", max_credits_per_day: "" });
  expect(emptied.status).toBe(422);
  expect((await change({ name: "Desk" })).status).toBe(200);
  expect((await change({ max_credits_per_day: 9 })).body).toMatchObject({ name: "Desk", max_credits_per_day: 9 });
});

test("a client whose daily cap was lifted once is changed only together with a new one", async () => {
  const { client_id } = await newCode();
  const { id } = (await activeKeysOf(client_id))[0];
  await market.context.db.query("update api_keys set max_credits_per_day = null where id = $1", [id]);
  const change = (body: object) => person.browser.patch(`/api/account/keys/${id}`, body);
  expect(await change({ name: "Desk" })).toMatchObject({ status: 422, body: { field: "max_credits_per_day" } });
  expect((await change({ name: "Desk", max_credits_per_day: 9 })).body).toMatchObject({ max_credits_per_day: 9 });
});

test.each([
  ["http://[::1]:9/callback", "http:"],
  ["https://[2001:db8::1]/callback", "https:"],
])("the form of the page leads to %s, which no policy can name", async (redirect_uri, source) => {
  const { client_id } = (await register({ redirect_uris: [redirect_uri] })).body;
  const { location } = await follow(addressFor(client_id, "v", { redirect_uri }));
  const { headers } = await person.get(location ?? "");
  expect(headers.get("content-security-policy")).toContain(`form-action 'self' ${source};`);
});

test("an editor comes back by its own scheme", async () => {
  const { status } = await register({ redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"] }, "10.2.9.9");
  expect(status).toBe(201);
});

test.each([
  ["no redirect address", []],
  ["a fragment", ["https://client.example/#x"]],
  ["http elsewhere", ["http://client.example/callback"]],
  ["code", ["javascript:alert(1)"]],
  ["a scheme that a program acts on", ["intent://x#Intent;end", "intent://x/"]],
  ["a scheme of Windows", ["search-ms:query=x"]],
  ["a scheme of the browser", ["chrome-extension://abcdef/x"]],
  ["a host that ends a directive", ["https://a;script-src.example/cb"]],
  ["a host that widens one", ["https://*.example/cb"]],
  ["a host of two", ["https://a,b.example/cb"]],
  ["a quote in its host", ["https://a'b.example/cb"]],
  ["letters that look like others", ["https://cl\u0430ude.ai/cb"]],
  ["NUL", ["https://client.example/\0"]],
  ["a name in it", ["https://user@client.example/callback"]],
])("a client with %s is not registered", async (_what, redirect_uris) => {
  const { status, body } = await register({ redirect_uris });
  expect(status).toBe(400);
  expect(body.error).toMatch(/invalid_redirect_uri|invalid_client_metadata/);
});

test("one address registers few clients a minute, and those that nobody allowed anything are forgotten", async () => {
  const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await register({}, "10.2.0.1")).status));
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  const { client_id } = (await register()).body;
  await market.context.db.query("update oauth_clients set expires_at = now() where id = $1", [client_id]);
  expect((await person.get(pathOf(addressFor(client_id, "v")))).status).toBe(400);
});
