import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { readPlace } from "../../facilitator/discovery/listing.ts";
import { recordedResources, resourceRecord } from "../../facilitator/discovery/resource-record.ts";
import { ListingStore } from "../../facilitator/discovery/store.ts";
import { readAnnouncement } from "../../facilitator/discovery/validate.ts";
import { soldBy } from "../../facilitator/settlements/payees.ts";
import { rollUp } from "../../facilitator/settlements/rollup.ts";
import { environmentOf, networkOf } from "../../shared/networks.ts";
import type { Database } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";
import { insertRecords, type TestRecord } from "../support/records.ts";

const network = "eip155:8453";
const seller = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
const stranger = "0x857b06519E91e3A54538791bDbb0E22373e36b66";
const host = "https://maps.shop-of-tests.com";

const test = recordTest();
let store: ListingStore;
test.beforeAll(async ({ db }) => {
  store = new ListingStore(db);
});

/** Lists a path, perhaps as one of a route, as a settled payment for it does. */
async function list(path: string, amount: string, routeTemplate?: string, changes: object = {}): Promise<void> {
  expect(
    await store.put({ ...listingOf(path, amount, routeTemplate, changes), stillAccepted: undefined }),
  ).toBeUndefined();
}

function listingOf(path: string, amount: string, routeTemplate?: string, changes: object = {}) {
  const bazaar = {
    info: { input: { type: "http", method: "GET" } },
    schema: {},
    ...(routeTemplate && { routeTemplate }),
  };
  const announcement = { x402Version: 2, url: host + path, description: "Maps", mimeType: undefined, bazaar } as const;
  const declaration = readAnnouncement(announcement, { allowLocalhost: false });
  if ("rejectedReason" in declaration) throw new Error(declaration.rejectedReason);
  const terms = { scheme: "exact", network, amount, payTo: seller, maxTimeoutSeconds: 60, ...changes };
  const requirements = { asset: usdcOn(terms.network), ...terms };
  return { declaration, requirements, digest: randomBytes(32), settledAt: new Date() };
}

const usdcOn = (chain: string) => networkOf(chain)?.stablecoins[0]?.asset ?? "";

async function paid(db: Database, path: string, changes: Partial<TestRecord> = {}): Promise<void> {
  const record = { network, status: "settled", kind: "settle", payer: "0xa", amount: 5_000n, totalMs: 9 } as const;
  await insertRecords(db, [{ ...record, createdAt: new Date(), payTo: seller, resourceUrl: host + path, ...changes }]);
}

const asked = { query: "", networks: [network], priceMax: undefined, order: "match", offset: 0 } as const;
const found = async (db: Database, changes: object = {}) =>
  (await recordedResources({ db }, { ...asked, ...changes })).resources;
const counted = async (db: Database, resource: string) => {
  const one = (await found(db)).find((each) => each.resource === host + resource);
  return [one?.settled, one?.failed];
};

test("a route counts each of its paths once, and nothing that went to a stranger's wallet or fits another route", async ({
  db,
}) => {
  await paid(db, "/tiles/1/2");
  await rollUp(db, environmentOf);
  await paid(db, "/tiles/1/2");
  // One payment was rolled up before the route was listed, the other waits.
  await list("/tiles/1/2", "5000", "/tiles/:x/:y");
  expect(await counted(db, "/tiles/:x/:y")).toEqual([1, 0]);
  await paid(db, "/tiles/7/8", { amount: 9_000n });
  await paid(db, "/tiles/7/9", { status: "failed", payTo: seller.toLowerCase() });
  for (const elsewhere of ["/tiles/7", "/tiles/7/8/9", "/tiles//8", "/stiles/7/8", "/tiles/1/2?x=/tiles/3/4"])
    await paid(db, elsewhere);
  await paid(db, "/tiles/5/5", { payTo: stranger, amount: 9_000_000n });
  await paid(db, "/tiles/5/5", { network: "eip155:10" });
  await rollUp(db, environmentOf);
  expect(await counted(db, "/tiles/:x/:y")).toEqual([3, 1]);
  const { id = "" } = (await found(db)).find(({ resource }) => resource.endsWith(":y")) ?? {};
  const { days, isRoute, address } = await resourceRecord({ db }, id, [network]);
  expect([isRoute, address]).toEqual([true, `${host}/tiles/1/2`]);
  expect(days.at(-1)).toMatchObject({ settled: 3, failed: 1, priceMin: 5_000n, priceMax: 9_000n });
});

test("a path with dots and percent signs is found by its route, and an address of its own beside a route", async ({
  db,
}) => {
  await list("/v1.0/%C3%A9/a", "1000", "/v1.0/:word/a");
  await list("/v1.0/b/a", "2000");
  await paid(db, "/v1.0/%C3%A9/a");
  await paid(db, "/v1x0/c/a");
  await paid(db, "/v1.0/b/a");
  await rollUp(db, environmentOf);
  expect(await counted(db, "/v1.0/:word/a")).toEqual([2, 0]);
  expect(await counted(db, "/v1.0/b/a")).toEqual([1, 0]);
});

test("resources are filtered and sorted by their lowest price", async ({ db }) => {
  await list("/cheap", "10");
  await list("/dear", "3000000");
  const prices = async (changes: object) => (await found(db, changes)).map(({ price }) => price);
  const all = await prices({});
  const sorted = all.toSorted((one = 0n, other = 0n) => Number(one - other));
  expect(await prices({ order: "price" })).toEqual(sorted);
  expect(await prices({ order: "-price" })).toEqual(sorted.toReversed());
  expect(await prices({ order: "price", priceMax: 1_000n })).toEqual([10n, 1_000n]);
  expect(await prices({ query: "dear", order: "price" })).toEqual([3_000_000n]);
  await list("/dear", "7");
  expect((await found(db, { order: "price" }))[0]).toMatchObject({ resource: `${host}/dear`, price: 7n });
  expect(await prices({ networks: ["eip155:10"], order: "price" })).toEqual([]);
});

test("a price in another token than USDC is none in USDC: not shown as one, nor found or sorted by", async ({ db }) => {
  const networks = ["hedera:testnet"];
  const [hbar, usdc] = ["0.0.0", usdcOn("hedera:testnet")];
  const listIn = (path: string, asset: string, amount: string) =>
    list(path, amount, undefined, { network: networks[0], asset, payTo: "0.0.9" });
  await listIn("/tokens/hbar", hbar, "1000");
  await listIn("/tokens/both", hbar, "1");
  await listIn("/tokens/both", usdc, "20000");
  const shown = async (changes: object) =>
    (await found(db, { networks, ...changes })).map(({ resource, price }) => [resource.slice(host.length), price]);
  const both = ["/tokens/both", 20_000n];
  expect(new Set(await shown({}))).toEqual(new Set([both, ["/tokens/hbar", undefined]]));
  for (const query of ["", "tokens"]) {
    expect(await shown({ query, priceMax: 10_000n })).toEqual([]);
    for (const order of ["price", "-price"]) expect(await shown({ query, order })).toEqual([both]);
  }
});

test.for<[string, string[]]>([
  ["maps.shop-of-tests.com/tiles", ["/tiles/:x/:y"]],
  [`${host}/v1.0/b/a`, ["/v1.0/b/a"]],
  ["til nowhere", ["/tiles/:x/:y"]],
  ["nowhere.example.org", []],
  ["!!! ' & | ( :*", []],
])("a search for %s finds %o", async ([query, expected], { db }) => {
  expect((await found(db, { query })).map(({ resource }) => resource)).toEqual(expected.map((path) => host + path));
});

test("price, payments and success are those on the networks that are looked at", async ({ db }) => {
  const [main, testnet] = ["eip155:137", "eip155:80002"];
  const listOn = (path: string, on: string, amount: string) => list(path, amount, undefined, { network: on });
  await listOn("/dual/1", main, "5000000");
  await listOn("/dual/1", testnet, "1000");
  await listOn("/dual/1", testnet, "900");
  await listOn("/dual/2", testnet, "2000");
  await listOn("/dual/3", main, "3000000");
  await paid(db, "/dual/1", { network: main, amount: 5_000_000n });
  await paid(db, "/dual/1", { network: testnet });
  await paid(db, "/dual/1", { network: testnet, status: "failed" });
  await rollUp(db, environmentOf);
  const shown = async (networks: string[], changes: object = {}) =>
    (await found(db, { networks, ...changes })).map(({ resource, price }) => [resource.slice(host.length), price]);
  const [one, two, three] = ["/dual/1", "/dual/2", "/dual/3"];
  const onMain = [
    [three, 3_000_000n],
    [one, 5_000_000n],
  ];
  expect(await shown([main], { order: "price" })).toEqual(onMain);
  expect(await shown([main], { order: "-price" })).toEqual(onMain.toReversed());
  expect(await shown([main], { order: "price", query: "dual" })).toEqual(onMain);
  expect(await shown([main], { order: "price", offset: 1 })).toEqual([onMain[1]]);
  for (const changes of [{}, { query: "dual" }, { order: "price" }])
    expect(await shown([main], { ...changes, priceMax: 10_000n })).toEqual([]);
  const onBoth = [
    [one, 900n],
    [two, 2_000n],
    [three, 3_000_000n],
  ];
  expect(await shown([main, testnet], { order: "price" })).toEqual(onBoth);
  expect(await shown([testnet, main], { order: "-price" })).toEqual(onBoth.toReversed());
  const [dear] = await found(db, { networks: [main], query: `${host}/dual/1` });
  expect(dear).toMatchObject({ price: 5_000_000n, settled: 1, failed: 0, accepts: [{ network: main }] });
  const recordOn = async (networks: string[]) => {
    const { days, resource } = await resourceRecord({ db }, dear?.id ?? "", networks);
    return [days.at(-1)?.settled, days.at(-1)?.failed, resource.accepts?.length];
  };
  expect(await recordOn([main])).toEqual([1, 0, 1]);
  expect(await recordOn([testnet])).toEqual([1, 1, 1]);
  // Of an environment where it is not sold it shows where it is.
  expect(await recordOn([network])).toEqual([2, 1, 2]);
});

test("of a template that others list while it is checked, their path has its say first", async () => {
  const offer = (path: string, payTo: string) => {
    const listing = listingOf(path, "10", "/stalls/:name", { payTo });
    return { ...listing, stillAccepted: [listing.requirements] };
  };
  const [anna, bob] = [offer("/stalls/anna", seller), offer("/stalls/bob", stranger)];
  const both = await Promise.all([store.put(anna), store.put(bob)]);
  expect(both.filter((problem) => problem === undefined)).toHaveLength(1);
  const [first, second] = both[0] === undefined ? [anna, bob] : [bob, anna];
  expect(await store.put(second)).toMatchObject({ transient: true });
  expect(await store.put(second, first.declaration.probeUrl)).toBeUndefined();
});

test("of the resources that name a wallet those come first for which most was settled into it, whatever is paid for last or into others", async ({
  db,
}) => {
  await paid(db, "/own/before", { amount: 6_000n });
  await rollUp(db, environmentOf);
  await list("/own/before", "6000");
  await list("/own/since", "5000");
  await list("/claims/it", "1");
  await list("/claims/it", "9000000", undefined, { payTo: stranger });
  await paid(db, "/own/since");
  await paid(db, "/claims/it", { amount: 9_000_000n, payTo: stranger });
  await paid(db, "/claims/it", { amount: 1n });
  await rollUp(db, environmentOf);
  const sold = (await soldBy(db, seller, [network])).map(({ resource }) => resource);
  const named = ["/own/before", "/own/since", "/claims/it"].map((path) => host + path);
  expect(sold.filter((resource) => named.includes(resource))).toEqual(named);
});

test("resources paid for last come page by page, none twice and none left out, while others are paid for and come first", async ({
  db,
}) => {
  const elsewhere = "eip155:10";
  await db.query(
    `with listed as (
       insert into discovery_resources (key, resource, type, x402_version, tags, bazaar, words, last_settled_at)
       select 'page' || n, 'https://pages.shop-of-tests.com/' || n, 'http', 2, '{}', '{}', '', now() - n * interval '1 minute'
         from generate_series(1, 50) n returning id)
     insert into discovery_accepts select id, 'exact', $1, '0x1', '0x2', '{}', '', now() from listed`,
    [elsewhere],
  );
  const seen: string[] = [];
  let asking: object | undefined = {};
  for (let pages = 0; asking !== undefined && pages < 10; pages += 1) {
    const { resources, next } = await recordedResources({ db }, { ...asked, networks: [elsewhere], ...asking });
    seen.push(...resources.map(({ resource }) => resource));
    if (next && !("cursor" in next))
      throw new Error("the order of the last payments is no place to skip rows by number");
    asking = next && { place: readPlace(Buffer.from(next.cursor, "base64url").toString()) };
    // One that has been shown, and one that would have been the last.
    await db.query("update discovery_resources set last_settled_at = now() where key = any($1)", [["page3", "page50"]]);
  }
  expect(seen).toEqual(Array.from({ length: 49 }, (_, n) => `https://pages.shop-of-tests.com/${n + 1}`));
});

test("a host's name is no pattern: it stands for itself, and keeps no other's payments from being counted", async ({
  db,
}) => {
  const odd = "https://a**b.evil-of-tests.com";
  const { rows } = await db.query(
    `insert into discovery_resources (key, resource, type, x402_version, tags, bazaar, words, last_settled_at)
     values ($1, $1, 'http', 2, '{}', '{"info":{"input":{"type":"http"}},"schema":{},"routeTemplate":"/tiles/:n"}', '', now())
     returning id`,
    [`${odd}/tiles/:n`],
  );
  await db.query(
    "insert into discovery_accepts select id, 'exact', $1, '0xusdc', lower($2), '{}', '', now() from unnest($3::bigint[]) id",
    [network, seller, rows.map(({ id }) => id)],
  );
  await list("/squares/1", "5000", "/squares/:n");
  for (const origin of [odd, odd.replace("**", "aa"), odd.replace("**", "")])
    await paid(db, "", { resourceUrl: `${origin}/tiles/2` });
  await paid(db, "/squares/2");
  await rollUp(db, environmentOf);
  expect(await counted(db, "/squares/:n")).toEqual([1, 0]);
  const oddOnes = (await found(db)).find(({ resource }) => resource.startsWith(odd));
  expect([oddOnes?.settled, oddOnes?.failed]).toEqual([1, 0]);
});

test("a payment is held against templates of its own wallet alone, and so many of all wallets may begin alike", async ({
  db,
}) => {
  const beginning = `${host}/crowd(/`;
  await db.query(
    `insert into discovery_resources (key, resource, type, x402_version, tags, bazaar, words, last_settled_at)
     select $1 || ':p' || n, $1 || ':p' || n, 'http', 2, '{}',
            json_build_object('info', json_build_object('input', json_build_object('type', 'http')), 'schema', '{}'::json,
                              'routeTemplate', '/crowd(/:p' || n), '', now()
       from generate_series(1, 3) n`,
    [beginning],
  );
  // As a pattern it would be refused by the database.
  await paid(db, "/crowd(/seven");
  expect(await rollUp(db, environmentOf)).toBeGreaterThan(0);
  await db.query("delete from discovery_resources where resource like '%/crowd(/%'");

  await db.query(
    `insert into discovery_resources (key, resource, type, x402_version, tags, bazaar, words, last_settled_at)
     select $1 || ':p' || n, $1 || ':p' || n, 'http', 2, '{}', json_build_object('routeTemplate', '/many/:p' || n), '', now()
       from generate_series(1, 199) n`,
    [`${host}/many/`],
  );
  try {
    await list("/many/7", "100", "/many/:city");
    const one = { ...listingOf("/many/7", "100", "/many/:town"), stillAccepted: undefined };
    expect(await store.put(one)).toMatchObject({ transient: false, problem: expect.stringContaining("/many/") });
    await list("/many/7", "200", "/many/:city");
    await list("/many/7/x", "100", "/many/7/:page");
    await list("/many/7", "100");
  } finally {
    await db.query("delete from discovery_resources where resource like '%/many/%'");
  }
});
