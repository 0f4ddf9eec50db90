import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { readAgentFile } from "../../marketplace/operator/agent-file.ts";
import type { Browser } from "../support/browser.ts";
import { withAccount } from "../support/browser.ts";
import { startHttpServer } from "../support/http-server.ts";
import { echoAgent, startMarketplace, type TestMarketplace } from "../support/marketplace.ts";

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
const test = base.extend("market", { scope: "file" }, async ({}, { onCleanup }): Promise<TestMarketplace> => {
  const market = await startMarketplace();
  onCleanup(() => market.stop());
  return market;
});

const drafts = "/api/account/agent-drafts";
const agents = "/api/account/agents";

async function started(market: TestMarketplace, connector = "llm") {
  const { browser, handle } = await withAccount(market);
  const { status, body } = await browser.post(drafts, { connector });
  expect(status).toBe(201);
  return { browser, handle, slug: String(body.agent).split("/")[1] as string, revision: body.revision as string };
}

const keep = (browser: Browser, slug: string, revision: string, definition: object, secrets: object = {}) =>
  browser.put(`${drafts}/${slug}`, { revision, definition, secrets });

test("a template is tried and published untouched, and nothing is left of the draft", async ({ market }) => {
  const { browser, handle, slug, revision } = await started(market);
  expect((await browser.get(`${drafts}/${slug}`)).body).toMatchObject({ can_publish: true, newest_version: null });
  const tried = await browser.post(`${drafts}/${slug}/try`, { revision, input: { text: "A long story." } });
  expect(tried.body).toMatchObject({ success: true, version: 1 });
  const { checks } = (await browser.get(`${drafts}/${slug}`)).body;
  expect(checks.map(({ text }: { text: string }) => text)).toContain("Tried since the last change, and it worked");
  const published = await browser.post(`${drafts}/${slug}/publish`, { revision });
  expect(published.body).toEqual({ agent: `${handle}/${slug}`, version: 1, state: "live", changed: true });
  expect((await browser.get(`${drafts}/${slug}`)).body).toMatchObject({
    revision: "version-1",
    saved_at: null,
    live_version: 1,
  });
  expect((await browser.get(drafts)).body.drafts).toEqual([]);
});

test("a field whose example is an object, which no form can show, is refused", async ({ market }) => {
  const { browser, slug, revision } = await started(market);
  const fields = [{ name: "text", type: "string", example: { toString: 1 } }];
  const refused = await keep(browser, slug, revision, { connector: "llm", fields });
  expect(refused.status).toBe(400);
  expect(refused.body.error).toContain("must be a text, a number, true, false, or a list of these");
  expect((await browser.get(`${drafts}/${slug}`)).body.revision).toBe(revision);
});

test("a draft is kept as it stands, and its checks say what is wrong and where", async ({ market }) => {
  const { browser, slug, revision } = await started(market);
  const half = {
    connector: "llm",
    price_credits: "abc",
    fields: [{ name: "text", type: "integer", min: "ten" }],
    settings: { prompt: "", temperature: "warm" },
  };
  const { body } = await keep(browser, slug, revision, half);
  const draft = (await browser.get(`${drafts}/${slug}`)).body;
  expect(draft.revision).toBe(body.revision);
  expect(draft.definition).toMatchObject(half);
  expect(draft.can_publish).toBe(false);
  const wrong = draft.checks.filter(({ state }: { state: string }) => state === "bad");
  expect(wrong.map(({ field }: { field: string }) => field)).toEqual([
    "name",
    "description",
    "price_credits",
    "fields.0.min",
    "settings.prompt",
    "settings.temperature",
  ]);
  expect((await browser.post(`${drafts}/${slug}/publish`, { revision: body.revision })).status).toBe(422);
});

test("a draft's secrets are no more than an agent's, however many times more are kept", async ({ market }) => {
  const { browser, slug, revision } = await started(market);
  const secrets = (from: number) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`secret${from + n}`, "a secret that is long"]));
  const first = await keep(browser, slug, revision, echoAgent, secrets(0));
  expect(first.status).toBe(200);
  const replaced = { ...Object.fromEntries(Object.keys(secrets(0)).map((name) => [name, null])), ...secrets(20) };
  const second = await keep(browser, slug, first.body.revision, echoAgent, replaced);
  expect(second.status).toBe(200);
  const third = await keep(browser, slug, second.body.revision, echoAgent, secrets(40));
  expect(third).toMatchObject({ status: 422, body: { field: "secrets" } });
  const kept = (await browser.get(`${drafts}/${slug}`)).body;
  expect(kept).toMatchObject({ revision: second.body.revision, secret_names: Object.keys(secrets(20)) });
});

test("a text that is nothing but parts is refused before it is read, and a key that is there twice is shown by its line", async ({
  market,
}) => {
  const { browser, handle } = await withAccount(market);
  const told = async (rest: string) => {
    const answer = await browser.post(drafts, { yaml: `agent: ${handle}/parts\nconnector: llm\n${rest}` });
    return { status: answer.status, ...answer.body };
  };
  const keys = Array.from({ length: 20_000 }, (_, n) => ` k${n}:\n`).join("");
  for (const parts of [`settings:\n${keys}`, `settings: [${"!a ".repeat(40_000)}]`, "#\n".repeat(30_000)]) {
    expect(await told(parts)).toMatchObject({
      status: 422,
      field: "yaml",
      error: expect.stringContaining("too many parts"),
    });
  }
  const twice = await told("settings:\n prompt: one\n prompt: two\n");
  expect(twice).toMatchObject({ status: 422, error: expect.stringMatching(/^Line 5: .*unique/) });
  expect(await told("settings: {}\nname: fine\n")).toMatchObject({ status: 201 });
});

test("of two tabs the later one is told, and neither loses what it has", async ({ market }) => {
  const { browser, slug, revision } = await started(market);
  const first = await keep(browser, slug, revision, { ...echoAgent, name: "First" });
  const second = await keep(browser, slug, revision, { ...echoAgent, name: "Second" });
  expect(second.status).toBe(409);
  expect(second.body).toMatchObject({ field: "revision", revision: first.body.revision });
  expect((await browser.get(`${drafts}/${slug}`)).body.definition.name).toBe("First");
  const over = await keep(browser, slug, second.body.revision, { ...echoAgent, name: "Second" });
  expect(over.status).toBe(200);
  // A page that still shows the state before publishing cannot take a later draft for its own.
  await browser.post(`${drafts}/${slug}/publish`, { revision: over.body.revision });
  expect((await keep(browser, slug, over.body.revision, echoAgent)).status).toBe(409);
  expect((await keep(browser, slug, "version-1", { ...echoAgent, name: "Third" })).status).toBe(200);
});

test("twenty tabs at once: one is kept, all others are told", async ({ market }) => {
  const { browser, slug, revision } = await started(market);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => keep(browser, slug, revision, { ...echoAgent, name: `Tab ${n}` })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
});

test("secrets of a draft are kept and never told; null takes one away", async ({ market }) => {
  const { browser, slug, revision } = await started(market, "http-api");
  const definition = {
    ...echoAgent,
    connector: "http-api",
    settings: { url: "https://example.com/{{text}}", headers: { authorization: "Bearer {{secret.token}}" } },
  };
  const kept = await keep(browser, slug, revision, definition, { token: "SECRET-MARK-1234" });
  const read = await browser.get(`${drafts}/${slug}`);
  expect(read.body).toMatchObject({ secret_names: ["token"], can_publish: true });
  const yaml = await browser.get(`${drafts}/${slug}/yaml`);
  for (const { text } of [read, yaml]) expect(text).not.toContain("SECRET-MARK");
  const { rows } = await market.context.db.query("select to_jsonb(d)::text as row from agent_drafts d");
  expect(JSON.stringify(rows)).not.toContain("SECRET-MARK");
  // Kept through changes that do not name it, published with it, and restored with it.
  const again = await keep(browser, slug, kept.body.revision, definition);
  expect((await browser.post(`${drafts}/${slug}/publish`, { revision: again.body.revision })).status).toBe(200);
  const without = await keep(browser, slug, "version-1", definition, { token: null });
  expect((await browser.get(`${drafts}/${slug}`)).body).toMatchObject({ secret_names: [], can_publish: false });
  const restored = await browser.post(`${drafts}/${slug}/restore`, { revision: without.body.revision, version: 1 });
  expect(restored.status).toBe(200);
  expect((await browser.get(`${drafts}/${slug}`)).body).toMatchObject({ secret_names: ["token"], can_publish: true });
});

test("versions are listed with what they say, and one can go back to them", async ({ market }) => {
  const { browser, slug, revision } = await started(market);
  const one = await keep(browser, slug, revision, { ...echoAgent, name: "One" });
  await browser.post(`${drafts}/${slug}/publish`, { revision: one.body.revision });
  const two = await keep(browser, slug, "version-1", { ...echoAgent, name: "Two" });
  await browser.post(`${drafts}/${slug}/publish`, { revision: two.body.revision });
  const { versions } = (await browser.get(`${agents}/${slug}/versions`)).body;
  expect(versions).toMatchObject([
    { version: 2, name: "Two", is_live: true },
    { version: 1, name: "One", is_live: false },
  ]);
  expect((await browser.get(`${agents}/${slug}/versions/1`)).body.definition.name).toBe("One");
  expect((await browser.get(`${agents}/${slug}/versions/7`)).status).toBe(404);
  for (const none of ["abc", "0x2", "2.0", "1e0", "%202", "+2", "0", "-1", "2147483648", "9".repeat(400)]) {
    const refused = await browser.get(`${agents}/${slug}/versions/${none}`);
    expect([none, refused.status, refused.body.field]).toEqual([none, 400, "version"]);
  }
  await browser.post(`${drafts}/${slug}/restore`, { revision: "version-2", version: 1 });
  expect((await browser.get(`${drafts}/${slug}`)).body.definition.name).toBe("One");
});

test("the file that a draft gives is read by the command line and by the website again", async ({ market }) => {
  const { browser, handle, slug } = await started(market);
  const { text } = await browser.get(`${drafts}/${slug}/yaml`);
  expect(text).toMatch(/\n {2}- \{ name: tone, label: Tone, type: choice/);
  const file = join(tmpdir(), `draft-${process.pid}-${slug}.yaml`);
  await writeFile(file, text);
  const read = await readAgentFile(file).finally(() => rm(file));
  expect(read).toMatchObject({ handle, slug, definition: { connector: "llm", price_credits: 5 } });
  const owner = await accountByHandle(market.context.db, handle);
  expect(owner.handle).toBe(handle);
  // The draft that is there is not written over.
  expect((await browser.post(drafts, { yaml: text })).status).toBe(409);
  const other = await browser.post(drafts, { yaml: text.replace(`/${slug}`, "/other-agent") });
  expect(other.body.agent).toBe(`${handle}/other-agent`);
  expect((await browser.get(`${drafts}/other-agent`)).body.can_publish).toBe(true);
});

test.for([
  ["agent: x/abc\n", /must begin with your handle/],
  ["agent: HANDLE/abc\nname: [", /Line \d+/],
  ["agent: HANDLE/abc\nname: A\nconnector: none\n", /Line 3: "connector" must be one of/],
  ["agent: HANDLE/abc\nconnector: llm\nnonsense: 1\n", /unknown keys: nonsense/],
  [
    "a: &a [1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
    /cannot be read|Line/,
  ],
  ["just a text", /must hold a mapping/],
  ['agent: HANDLE/abc\nconnector: llm\nsettings: { prompt: "a\\0b" }\n', /holds a character that is none/],
  ['agent: HANDLE/abc\nconnector: llm\nname: "a\\0b"\n', /Line 3: "name" holds a character that is none/],
  ['agent: HANDLE/abc\nconnector: llm\ntags: ["\\uD800"]\n', /Line 3: "tags" holds a character that is none/],
  [
    `agent: HANDLE/abc\nconnector: llm\nsettings: { a: ${"[".repeat(70)}${"]".repeat(70)} }\n`,
    /Line 3: "settings" may hold one another 60 deep at most/,
  ],
] as const)("a text that is wrong is refused with its line: %s", async ([text, said], { market }) => {
  const { browser, handle } = await withAccount(market);
  const answer = await browser.post(drafts, { yaml: text.replace("HANDLE", handle) });
  expect(answer.status).toBe(422);
  expect(answer.body.error).toMatch(said);
});

test("a draft of another account is not there", async ({ market }) => {
  const { slug, revision } = await started(market);
  const { browser: stranger } = await withAccount(market);
  expect((await stranger.get(`${drafts}/${slug}`)).status).toBe(404);
  expect((await stranger.get(`${drafts}/${slug}/yaml`)).status).toBe(404);
  expect((await stranger.post(`${drafts}/${slug}/publish`, { revision })).status).toBe(404);
  expect((await stranger.post(`${drafts}/${slug}/try`, { revision })).status).toBe(404);
  expect((await stranger.post(`${drafts}/${slug}/discard`, { revision })).status).toBe(409);
  expect((await stranger.get(`${agents}/${slug}/versions`)).status).toBe(404);
});

test("what is not published has another address for the asking, with its secrets and what was tried; what was published keeps it", async ({
  market,
}) => {
  const { browser, handle, slug, revision } = await started(market, "http-api");
  const settings = { url: "https://example.com/{{text}}", headers: { authorization: "Bearer {{secret.token}}" } };
  const said = { ...echoAgent, connector: "http-api", settings };
  const secrets = { token: "SECRET-MARK-1234" };
  const at = { revision: (await keep(browser, slug, revision, said, secrets)).body.revision };
  // As a try does.
  await browser.put(`${agents}/${slug}`, { ...said, secrets });
  const move = (from: string, to: string, more: object = at) =>
    browser.post(`${drafts}/${from}/move`, { ...more, slug: to });
  for (const [to, status] of [
    ["no", 422],
    ["Not one", 422],
    ["-x-", 422],
  ] as const) {
    expect(await move(slug, to)).toMatchObject({ status, body: { field: "slug" } });
  }
  expect(await move(slug, "better", { revision: "draft-1" })).toMatchObject({
    status: 409,
    body: { field: "revision" },
  });
  const other = (await browser.post(drafts, { connector: "llm" })).body.agent.split("/")[1];
  expect(await move(slug, other)).toMatchObject({ status: 409, body: { field: "slug" } });
  // Two tabs that move it at once: it is at one place.
  const both = await Promise.all(["better", "other-one"].map((to) => move(slug, to)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
  const moved = both.find(({ status }) => status === 200)!.body.agent.split("/")[1];
  expect((await browser.get(`${drafts}/${slug}`)).status).toBe(404);
  expect((await browser.get(`${drafts}/${moved}`)).body).toMatchObject({
    ...at,
    secret_names: ["token"],
    newest_version: 1,
  });
  expect((await browser.get(agents)).body.agents).toMatchObject([{ agent: `${handle}/${moved}`, state: "draft" }]);
  const again = await keep(browser, moved, at.revision, said);
  const published = await browser.post(`${drafts}/${moved}/publish`, { revision: again.body.revision });
  expect(published.body).toMatchObject({ agent: `${handle}/${moved}`, state: "live" });
  const late = await move(moved, "too-late", { revision: "version-1" });
  expect([late.status, late.body.error]).toEqual([409, expect.stringContaining("which stays")]);
  // The address that it left is free, and its name as a tool.
  const named = "select tool_name from tool_names where tool_name like $1 || '--%'";
  expect((await market.context.db.query(named, [handle])).rows).toEqual([{ tool_name: `${handle}--${moved}` }]);
  expect((await keep(browser, slug, "version-0", echoAgent)).status).toBe(200);
});

test("a draft that is moved while it is checked is published nowhere, and stands where it was moved to", async () => {
  const seen = new Gate();
  const checked = new Gate();
  // A mirror that takes its time to tell of a topic.
  const mirror = await startHttpServer(async (_request, response) => {
    seen.open();
    await checked.opened;
    const topic = { topic_id: "0.0.7001", deleted: false, submit_key: null };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(topic));
  });
  const hedera = {
    HEDERA_MIRROR: mirror.url,
    HEDERA_NODES: "127.0.0.1:1=0.0.3",
    HEDERA_OPERATOR_ID: "0.0.1005",
    HEDERA_OPERATOR_KEY: `ed25519:${"11".repeat(32)}`,
  };
  const market = await startMarketplace({ env: hedera });
  const { browser, handle, slug, revision } = await started(market, "hcs-write");
  const { id: accountId } = await accountByHandle(market.context.db, handle);
  const network = "hedera:testnet";
  await addPayoutWallet(market.context.db, { accountId, network, address: "0.0.1006", checked: true });
  const said = { ...echoAgent, connector: "hcs-write", settings: { network, topic: "0.0.7001", message: "{{text}}" } };
  const at = { revision: (await keep(browser, slug, revision, said)).body.revision };
  const publishing = browser.post(`${drafts}/${slug}/publish`, at);
  await seen.opened;
  expect((await browser.post(`${drafts}/${slug}/move`, { ...at, slug: "elsewhere" })).status).toBe(200);
  checked.open();
  expect([404, 409]).toContain((await publishing).status);
  expect((await browser.get(agents)).body.agents).toEqual([]);
  expect((await browser.get(`${drafts}/${slug}`)).status).toBe(404);
  expect((await browser.get(`${drafts}/elsewhere`)).body).toMatchObject({
    ...at,
    definition: said,
    live_version: null,
  });
  expect((await browser.post(`${drafts}/elsewhere/publish`, at)).body).toMatchObject({ agent: `${handle}/elsewhere` });
  await market.stop();
  await mirror.stop();
});

test("a draft that is thrown away leaves the versions", async ({ market }) => {
  const { browser, slug, revision } = await started(market);
  await browser.post(`${drafts}/${slug}/publish`, { revision });
  const { body } = await keep(browser, slug, "version-1", { ...echoAgent, name: "Other" });
  expect((await browser.post(`${drafts}/${slug}/discard`, { revision: body.revision })).status).toBe(204);
  expect((await browser.get(`${drafts}/${slug}`)).body).toMatchObject({
    revision: "version-1",
    definition: { name: "Summarise a text" },
  });
});

test("every connector has a template, and a second draft of one has a name of its own", async ({ market }) => {
  const { browser, slug } = await started(market);
  const { templates } = (await browser.get("/api/account/agent-templates")).body;
  expect(templates).toHaveLength(11);
  const { body } = await browser.post(drafts, { connector: "llm" });
  expect(body.agent).toMatch(new RegExp(`/${slug}-2$`));
  expect(await readFile(new URL("../../marketplace/schema.sql", import.meta.url), "utf8")).toContain("agent_drafts");
});

class Gate {
  open = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}
