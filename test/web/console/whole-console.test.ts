import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountByHandle } from "../../../marketplace/accounts/create.ts";
import { exportAccount } from "../../../marketplace/accounts/export.ts";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { startDraft } from "../../../marketplace/drafts/start-draft.ts";
import { marketplaceEndpoints } from "../../../marketplace/endpoints.ts";
import type { Endpoint } from "../../../marketplace/http/endpoint.ts";
import { shareRun } from "../../../marketplace/runs/share-run.ts";
import type { Page } from "../../../marketplace/web/page.ts";
import { createSite } from "../../../marketplace/web/serve.ts";
import { type Answer, call, echoAgent, startMarketplace, type TestMarketplace } from "../../support/marketplace.ts";
import { type Answered, newPerson, type Person } from "./person.ts";
import { allFormsIn } from "./posted-form.ts";

let market: TestMarketplace;
let ann: Person;
/** The ids of what ann has, by what stands before them in a path. */
let ids: Record<string, string>;
/** Of the parameters with a name of their own. */
let others: Record<string, string>;
/** All that she reads, before anybody else asks for it. */
let before: Record<string, string>;
/** The pages of the console as she sees them. */
const own = new Map<Page, Answered>();

beforeAll(async () => {
  market = await startMarketplace();
  ann = await newPerson(market);
  const { context } = market;
  const { db, tools } = context;
  const { browser } = ann;
  const account = await accountByHandle(db, ann.handle);
  const slug = "ann-echo";
  const agent = await publishAgent(context, account, slug, { ...echoAgent, price_credits: 0 });
  await startDraft(context, account, "llm");
  const { id: key } = (await browser.post("/api/account/keys", { name: "ann's" })).body;
  const address = `0x${"7".repeat(40)}`;
  const wallet = { accountId: account.id, network: "eip155:84532", address, checked: true };
  await addPayoutWallet(db, wallet);
  const asked = { agent: agent.address, input: { text: "private words" } };
  const { run_id } = (await browser.post("/api/account/run", asked)).body;
  await shareRun(db, account.id, run_id, { withInput: false });
  const way = `idn_${account.id}`;
  await db.query(
    `insert into sign_in_identities (id, user_id, account_id, provider_id)
     select $1, id, $1, 'oidc' from sign_in_users where account_id = $2`,
    [way, account.id],
  );
  await tools.files.keep({
    bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    kind: "svg",
    ownerId: account.id,
    agentId: agent.agentId,
  });
  const first = async (list: string, path: string) => (await browser.get(path)).body[list][0];
  ids = {
    keys: key,
    wallets: (await first("wallets", "/api/account/wallets")).id,
    sessions: (await first("sessions", "/api/account/sessions")).id,
    "ways-in": way,
    runs: run_id,
  };
  others = { slug, version: "1", run_id, name: (await first("files", "/api/account/files")).name };
  before = await annsOwn();
  for (const page of privatePages()) own.set(page, await ann.get(filled(page.path)));
});
afterAll(() => market.stop());

/** The path with what ann has in it. Fails for one that the table lacks: another route is tested only if its ids are known. */
function filled(path: string): string {
  return path.replaceAll(/([\w-]+)\/\{(\w+)\}/g, (_whole, before: string, name: string) => {
    const id = others[name] ?? ids[before];
    if (id === undefined) throw new Error(`the ids in ${path} are not known here`);
    return `${before}/${id}`;
  });
}

/** A request of a client's is nobody's before it is answered; operators' pages are not there at all. */
const privatePages = () =>
  createSite(market.context, endpoints()).pages.filter(
    ({ path, isPrivate }) => isPrivate && !/^\/(admin|consent)\b/.test(path),
  );

const endpoints = () => marketplaceEndpoints(market.context);
const isOwn = ({ access }: Endpoint) => access === "account" || access === "session";

/** All that ann reads of her account, but for when it was looked at. */
async function annsOwn(): Promise<Record<string, string>> {
  const paths = endpoints()
    .filter((one) => one.method === "get" && isOwn(one) && one.path.startsWith("/api/account"))
    .filter(({ path, id }) => (!path.includes("{") || id === "getOwnRun") && id !== exported)
    .map(({ path }) => filled(path));
  const read = await Promise.all(
    paths.map(async (path) => [path, (await ann.browser.get(path)).text.replaceAll(volatile, "")]),
  );
  const { share } = JSON.parse((await ann.browser.get(`/api/account/runs/${ids.runs}`)).text);
  const seen = await Promise.all([`/runs/shared/${share?.token}`, `/files/${others.name}`].map(statusOf));
  const { db } = market.context;
  let kept = "";
  for await (const piece of exportAccount(db, await accountByHandle(db, ann.handle), null)) kept += piece;
  return { ...Object.fromEntries(read), seen: seen.join(), kept: kept.replaceAll(volatile, "") };
}

/** Twice a minute alone, so it is read by its verb. */
const exported = "exportAccount";
const volatile = /"(made_at|seen_at)":"[^"]*"/g;
const statusOf = async (path: string) => (await fetch(market.url + path)).status;

/** Asks as the endpoint's own example does. */
function asks(person: Person, key: string, { method, path, body, access }: Endpoint): Promise<Answer> {
  const at = filled(path);
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

/** A slug is each account's own: these make or keep an agent of who asks. */
const ownUnderSlug = ["saveAgentDraft", "keepAgentDraft"];
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
      expect(text, endpoint.id).not.toMatch(new RegExp(`private words|ann's|${ann.handle}/`));
    }
    for (const endpoint of named.filter(({ id }) => ownUnderSlug.includes(id))) {
      expect((await asks(bob, token, endpoint)).text, endpoint.id).not.toContain(ann.handle);
    }
    expect(await annsOwn()).toEqual(before);
  });

  test("is on no page, and no form of its pages changes it when another sends it", async () => {
    const [bob, carl] = await Promise.all([newPerson(market), newPerson(market)]);
    let sent = 0;
    for (const [{ path, submit }, { status: shown, html: hers }] of own) {
      const at = filled(path);
      if (path.includes("{")) {
        const { status, html } = await bob.get(at);
        expect([at, status]).toEqual([at, 404]);
        expect(html).not.toContain("private words");
      }
      if (!submit || shown !== 200) continue;
      for (const { action, fields } of allFormsIn(hers).filter((form) => !form.action.startsWith("/sign-out"))) {
        // Few enough of each that no limit keeps them from being read.
        const { status, html } = await (sent % 2 ? bob : carl).post(action || at, fields);
        expect(status, `${action || at} ${JSON.stringify(fields)}: ${html}`).not.toBe(429);
        expect(status, action || at).toBeLessThan(500);
        sent += 1;
      }
    }
    expect(sent).toBeGreaterThan(20);
    expect(await annsOwn()).toEqual(before);
  });
});

describe("every page of the console", () => {
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
    expect(paths.size).toBeGreaterThan(40);
    const asked = [...paths].map(async (path) => [path, (await ann.get(path)).status] as const);
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
