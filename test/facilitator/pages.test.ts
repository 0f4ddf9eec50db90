import { Fragment, h } from "preact";
import { render } from "preact-render-to-string";
import { describe, expect } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { facilitatorEndpoints } from "../../facilitator/endpoints.ts";
import { readQuery } from "../../facilitator/http/query.ts";
import { NetworkFees } from "../../facilitator/network-fees.ts";
import type { Scheme } from "../../facilitator/schemes/scheme.ts";
import { listPayees, lookedAtMax, payeesQuery } from "../../facilitator/settlements/payees.ts";
import { rollUpAll } from "../../facilitator/settlements/rollup.ts";
import type { View, Visit } from "../../facilitator/web/page.ts";
import { docsPage } from "../../facilitator/web/pages/docs.tsx";
import { createSite } from "../../facilitator/web/serve.ts";
import { formatUnits } from "../../shared/amounts.ts";
import { paymentBody } from "../support/evm-payments.ts";
import type { RunningFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";
import { insertRecords } from "../support/records.ts";

const test = evmTest();

const html = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const get = (
  facilitator: RunningFacilitator & { context: Context },
  path: string,
  headers: Record<string, string> = {},
) => fetch(facilitator.url + path, { headers, redirect: "manual" });

test("a record with nothing in it speaks of no filters, unless there are some", async ({ facilitator }) => {
  const textOf = async (path: string) => (await get(facilitator, path, html)).text();
  expect(await textOf("/transactions")).toContain("Nothing yet");
  expect(await textOf("/transactions")).not.toContain("Without filters");
  expect(await textOf(`/transactions?payer=0x${"1".repeat(40)}`)).toContain("Without filters");
});

describe("one address for people and programs", () => {
  test.for(["/transactions", "/stats", "/health"])(
    "%s is JSON unless HTML is asked for",
    async (path, { facilitator }) => {
      for (const headers of [
        {},
        { accept: "*/*" },
        { accept: "application/json" },
        { accept: "application/json, text/html;q=0.5" },
      ]) {
        const answer = await get(facilitator, path, headers as Record<string, string>);
        expect(answer.headers.get("content-type")).toMatch("application/json");
        expect(answer.headers.get("vary")?.toLowerCase()).toContain("accept");
        await answer.json();
      }
      const page = await get(facilitator, path, html);
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers.get("vary")?.toLowerCase()).toMatch(/accept(,|$)/);
    },
  );

  test("odd addresses are a page or a refusal, never a failure of ours", async ({ facilitator }) => {
    const beyond = Buffer.from(`${"9".repeat(20)}.0xab`).toString("base64url");
    for (const [path, status] of [
      ["//", 200],
      ["//x:y/", 404],
      ["/?network=%00", 200],
      [`/payees?cursor=${beyond}`, 400],
    ] as const) {
      expect([path, (await get(facilitator, path, html)).status]).toEqual([path, status]);
    }
  });

  test("an error is JSON for programs and a page for a browser", async ({ facilitator }) => {
    const json = await get(facilitator, "/there/is/nothing");
    expect([json.status, await json.json()]).toEqual([404, { error: expect.stringContaining("nothing at GET") }]);
    const page = await get(facilitator, "/transactions?limit=many", html);
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining("limit must be a whole number")]);
    expect((await get(facilitator, "/?env=staging", html)).status).toBe(400);
    expect((await get(facilitator, "/?days=many", html)).status).toBe(400);
  });
});

test("shared caches may keep a public page for a second and ask by its ETag; what is JSON, too, at the same address they keep not", async ({
  facilitator,
}) => {
  const { headers } = await get(facilitator, "/resources", html);
  expect(headers.get("cache-control")).toBe("public, max-age=0, s-maxage=1");
  const known = { ...html, "if-none-match": headers.get("etag") ?? "" };
  expect((await get(facilitator, "/resources", known)).status).toBe(304);
  expect((await get(facilitator, "/transactions", html)).headers.get("cache-control")).toBe("private, no-cache");
});

test("pages are served under a policy without inline code, set no cookie, and stay within their budgets", async ({
  facilitator,
}) => {
  const { hot, others } = facilitatorEndpoints(facilitator.context);
  const { pages, frame } = createSite(facilitator.context, [...hot, ...others]);
  const assets = await frame.assets();
  expect(assets.weightOf("site.css")).toBeLessThan(15_000);
  for (const page of pages) expect(assets.weightOf("site.js")).toBeLessThanOrEqual(page.scriptBytesMax);
  expect(assets.weightOf("site.js") + assets.weightOf("payment.js")).toBeLessThanOrEqual(3_072);
  for (const { path } of pages.filter((page) => !page.path.includes("{") && page.path !== "/tx")) {
    const answer = await get(facilitator, path, html);
    expect([path, answer.status < 400]).toEqual([path, true]);
    expect(answer.headers.get("set-cookie")).toBeNull();
    if (answer.status !== 200 || !answer.headers.get("content-type")?.startsWith("text/html")) continue;
    expect(answer.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(await answer.text()).not.toMatch(/<script(?![^>]*src=)|style=|javascript:/);
  }
});

test("every operation has a page of its own under /docs/api, with a call that can be sent, its fields and its answers", async ({
  facilitator,
}) => {
  const { hot, others } = facilitatorEndpoints(facilitator.context);
  const index = await (await get(facilitator, "/docs/api", html)).text();
  for (const { id, path } of [...hot, ...others]) {
    expect(index).toContain(`href="/docs/api/${id}"`);
    const page = await get(facilitator, `/docs/api/${id}`, html);
    const text = await page.text();
    expect([id, page.status]).toEqual([id, 200]);
    expect(text.replaceAll(/<[^>]+>/g, "")).toContain(`${facilitator.url}${path.split("{")[0]}`);
    expect(text).toContain(`operationId ${id}`);
  }
  const settle = (await (await get(facilitator, "/docs/api/settlePayment", html)).text()).replaceAll(/<[^>]+>/g, "");
  for (const said of ["paymentRequirements", "termsDigest", "429", "settlement_pending"])
    expect(settle).toContain(said);
  expect((await get(facilitator, "/docs/api/noSuch", html)).status).toBe(404);
});

test("a payment is found by transaction, by its nonce and by what its payer signed, and its page tells nothing that redeems it", async ({
  setting,
  facilitator,
}) => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const { body: settled } = await facilitator.settle(body);
  expect(settled.success).toBe(true);
  // biome-ignore lint/suspicious/noExplicitAny: a payment's body is read freely
  const { authorization, signature } = (body as any).paymentPayload.payload;
  const signed = new URLSearchParams({
    network: setting.terms.network,
    payer: authorization.from,
    nonce: authorization.nonce,
  });
  const { rows } = await facilitator.context.db.query(
    "select message_digest, terms_digest from payments where transaction_id = $1",
    [settled.transaction],
  );
  for (const path of [
    `/tx/${settled.transaction}`,
    `/tx/${authorization.nonce.toUpperCase().replace("X", "x")}`,
    `/tx?${signed}`,
  ]) {
    const text = await (await get(facilitator, path, html)).text();
    expect(text).toContain("the agreed transfer, seen on the chain");
    expect(text).toContain(settled.transaction);
    expect(text).not.toContain(signature.slice(2));
    expect(text).not.toContain(rows[0].message_digest.toString("hex"));
  }
  const byTransaction = await (await get(facilitator, `/tx/${settled.transaction}`, html)).text();
  expect(byTransaction).not.toContain(authorization.nonce.slice(2));
  expect((await get(facilitator, `/tx/0x${"1".repeat(64)}`, html)).status).toBe(404);
  expect((await get(facilitator, `/tx/${settled.transaction}?network=%00`, html)).status).toBe(404);
  expect((await get(facilitator, `/tx/${settled.transaction}?network=${"x".repeat(101)}`, html)).status).toBe(400);
  expect((await get(facilitator, "/tx?network=eip155:84532&payer=0x1&nonce=0x2", html)).status).toBe(400);
});

test("a nonce that one payer signed leads to the payment before it has a transaction; one that several did is not guessed at", async ({
  setting,
  facilitator,
}) => {
  const [alone, shared] = [`0x${"5a".repeat(32)}`, `0x${"5b".repeat(32)}`];
  const [first, second] = [`0x${"1c".repeat(20)}`, `0x${"2c".repeat(20)}`];
  for (const [payer, nonce] of [
    [first, alone],
    [first, shared],
    [second, shared],
  ]) {
    await facilitator.context.db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at, lease_until)
       values ($1, $2, 'claimed', gen_random_uuid(), 'exact', $3, $3, $4, 120000, now() + interval '2 hours', 'infinity')`,
      [setting.terms.network, `${setting.terms.asset}:${payer}:${nonce}`.toLowerCase(), payer, setting.terms.asset],
    );
  }
  const text = await (await get(facilitator, `/tx/${alone}`, html)).text();
  const asked = new URLSearchParams({ network: setting.terms.network, payer: first, nonce: alone });
  expect(text).toContain("This payment is about to be sent");
  expect(text).toContain(`data-payment="/payments?${asked}"`.replaceAll("&", "&amp;"));
  expect((await get(facilitator, `/payments?${asked}`)).status).toBe(200);
  expect((await get(facilitator, `/tx/${shared}`, html)).status).toBe(409);
});

test("the page of a payment that failed says until when it can land, for as long as it may be posted again", async ({
  setting,
  facilitator,
}) => {
  const textOf = async (nonce: string, retryable: boolean) => {
    await facilitator.context.db.query(
      `insert into payments (network, payment_key, state, retryable, claim_token, scheme, payer, pay_to, asset, amount_atomic, transaction_id,
                             error_reason, finished_at, expires_at, lease_until)
       values ($1, lower($2), 'failed', $3, gen_random_uuid(), 'exact', $4, $4, $5, 120000, $6, 'transaction_failed', now(),
               now() + interval '2 hours', now())`,
      [
        ...[setting.terms.network, `${setting.terms.asset}:0x${"3c".repeat(20)}:${nonce}`, retryable],
        ...[`0x${"3c".repeat(20)}`, setting.terms.asset, nonce],
      ],
    );
    return (await get(facilitator, `/tx/${nonce}`, html)).text();
  };
  const again = await textOf(`0x${"6a".repeat(32)}`, true);
  expect(again).toContain("post it again");
  expect(again).not.toContain("no longer matters");
  expect(await textOf(`0x${"6b".repeat(32)}`, false)).toContain("no longer matters");
});

test("the page of a payment that nothing was sent for, and that nobody is about to send, says so", async ({
  setting,
  facilitator,
}) => {
  const nonce = `0x${"7a".repeat(32)}`;
  await facilitator.context.db.query(
    `insert into payments (network, payment_key, state, retryable, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at, lease_until)
     values ($1, lower($2), 'claimed', true, gen_random_uuid(), 'exact', $3, $3, $4, 120000, now() + interval '2 hours', 'infinity')`,
    [
      ...[setting.terms.network, `${setting.terms.asset}:0x${"4c".repeat(20)}:${nonce}`],
      ...[`0x${"4c".repeat(20)}`, setting.terms.asset],
    ],
  );
  const text = await (await get(facilitator, `/tx/${nonce}`, html)).text();
  expect(text).not.toMatch(/about to be sent|Waiting for the chain/);
  expect(text).toContain("This payment is sent once it is posted again");
});

test("an account whose payments are further back than its page looks is not said to have none", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  const textOf = async () => (await get(facilitator, "/payers/0xarchived", html)).text();
  expect(await textOf()).toContain("Nothing recorded");
  await db.query(
    `insert into archive_objects (name, network, first_at, first_id, last_at, last_id, records, bytes, sha256)
     values ('x', 'eip155:84532', now() - interval '50 days', 1, now() - interval '49 days', 2, 2, 1, '')`,
  );
  const text = await textOf();
  await db.query("delete from archive_objects");
  expect(text).toContain("None among the newest");
  expect(text).not.toContain("Nothing recorded");
  expect(text).toContain('href="/transactions?payer=0xarchived');
});

test("payees come in each order, page by page, with what they sell", async ({ facilitator }) => {
  const { db, config } = facilitator.context;
  const account = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
  const paid = (payTo: number, payers: number, amount: bigint) =>
    Array.from({ length: payers }, (_, n) => ({
      network: "eip155:84532",
      status: "settled" as const,
      kind: "settle" as const,
      payer: account(1_000 + n),
      payTo: account(payTo),
      amount,
      totalMs: 5,
      createdAt: new Date(),
      txId: `0x${payTo}${n}`,
    }));
  await insertRecords(db, [
    ...paid(0xa1, 3, 10_000_000n),
    ...paid(0xa2, 2, 90_000_000n),
    ...paid(0xa3, 3, 40_000_000n),
  ]);
  // The daemon may be at it itself: one at a time adds up.
  await expect
    .poll(async () => {
      await rollUpAll(db, config.environmentOf, new AbortController().signal);
      const payees = [0xa1, 0xa2, 0xa3].map(account);
      return (await db.query("select from accounts where account = any($1) and received > 0", [payees])).rowCount;
    })
    .toBe(3);
  const listed = await db.query<{ id: bigint }>(
    `insert into discovery_resources (key, resource, type, x402_version, tags, bazaar, words, last_settled_at)
     values ('k', 'https://maps.example.com/a', 'http', 2, '{}', '{}', '', now()) returning id`,
  );
  await db.query(
    `insert into discovery_accepts values ($1, 'exact', 'eip155:84532', '0x1', $2, '{"network":"eip155:84532"}', '', now())`,
    [listed.rows[0]?.id, account(0xa3)],
  );
  const inOrder = async (sort: "payments" | "volume" | "payers") => {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const query = readQuery(payeesQuery, cursor === null ? {} : { cursor });
      const page = await listPayees(db, { env: "testnet", networks: [], sort, limit: 1, cursor: query.cursor });
      found.push(...page.payees.map((one) => one.account));
      cursor = page.cursor;
    } while (cursor !== null);
    return found.filter((one) => [0xa1, 0xa2, 0xa3].map(account).includes(one));
  };
  expect(await inOrder("payments")).toEqual([0xa1, 0xa3, 0xa2].map(account));
  expect(await inOrder("volume")).toEqual([0xa2, 0xa3, 0xa1].map(account));
  expect(await inOrder("payers")).toEqual([0xa1, 0xa3, 0xa2].map(account));
  const text = await (await get(facilitator, "/payees?sort=volume", html)).text();
  expect(text).toContain(`/resources/${listed.rows[0]?.id}`);
  // A stranger's server names the account as well, under a name that is not its own, and was paid for last.
  await db.query("insert into listing_wallets values ($1, 'eip155:84532', $2, 5)", [listed.rows[0]?.id, account(0xa3)]);
  await db.query(
    `with listed as (
       insert into discovery_resources (key, resource, type, x402_version, service_name, tags, bazaar, words, last_settled_at)
       values ('claim', 'https://stranger.example.com/a', 'http', 2, 'https://maps.example.com', '{}', '{}', '', now() + interval '1 second')
       returning id)
     insert into discovery_accepts
     select id, 'exact', 'eip155:84532', '0x1', $1, '{"network":"eip155:84532"}', '', now() from listed`,
    [account(0xa3)],
  );
  const sold = await (await get(facilitator, `/payees/${account(0xa3)}`, html)).text();
  expect(sold).toContain("Listed resources that name this account");
  expect(sold.indexOf("https://maps.example.com/a")).toBeLessThan(sold.indexOf("https://stranger.example.com/a"));
  expect(await (await get(facilitator, "/payees?sort=volume", html)).text()).not.toContain("stranger.example.com");
  await db.query("delete from listing_wallets");
  const claimed = await (await get(facilitator, "/payees?sort=volume", html)).text();
  expect(claimed).toMatch(/>https:\/\/maps.example.com<\/a><span class="faint said"> stranger.example.com<\/span>/);
  await db.query("delete from discovery_resources where key = 'claim'");
  await db.query("update discovery_accepts set network = 'eip155:8453' where pay_to = $1", [account(0xa3)]);
  for (const path of ["/payees?sort=volume", `/payees/${account(0xa3)}`]) {
    const page = await (await get(facilitator, path, html)).text();
    expect([path, page.includes(account(0xa3)), page.includes("maps.example.com")]).toEqual([path, true, false]);
  }
  // 0xa2 pays itself from an account of its own, which was paid back.
  const [own, payee] = [account(0xb2), account(0xa2)];
  const back = { ...paid(0xb2, 1, 1n)[0]!, payer: payee };
  await insertRecords(db, [...paid(0xa2, 5, 900_000_000n).map((one) => ({ ...one, payer: own })), back]);
  await expect
    .poll(async () => {
      await rollUpAll(db, config.environmentOf, new AbortController().signal);
      return (await db.query("select from accounts where account = $1 and is_self_payer", [own])).rowCount;
    })
    .toBe(1);
  const { payees } = await listPayees(db, { env: "testnet", networks: [], sort: "payments", limit: 25, self: "hide" });
  expect(payees.find((one) => one.account === payee)).toMatchObject({
    received: 2,
    receivedVolume: 180_000_000n,
    payers: 2,
  });
  const hidden = await (await get(facilitator, "/payees?self=hide", html)).text();
  expect(hidden.indexOf(account(0xa1))).toBeLessThan(hidden.indexOf(payee));
  expect((await get(facilitator, "/payees?sort=best", html)).status).toBe(400);
  expect((await get(facilitator, "/payees?cursor=x", html)).status).toBe(400);
});

test("a seller whose name only begins like an address has it shown as it is, on every page of payees", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  const [https, broken] = [`0x${"d1".repeat(20)}`, `0x${"d2".repeat(20)}`];
  await insertAccounts(db, "testnet", [
    { account: https, received: 9_001 },
    { account: broken, received: 9_000 },
  ]);
  await db.query(
    `with listed as (
       insert into discovery_resources (key, resource, type, x402_version, service_name, tags, bazaar, words, last_settled_at)
       select name, 'https://names.example.com/', 'http', 2, name, '{}', '{}', '', now() from unnest($1::text[]) as named (name)
       returning id, service_name)
     insert into discovery_accepts
     select id, 'exact', 'eip155:84532', '0x1', case service_name when 'https://' then $2 else $3 end, '{"network":"eip155:84532"}', '', now() from listed`,
    [["https://", "http://["], https, broken],
  );
  for (const path of ["/", "/stats", "/payees", `/payees/${https}`]) {
    const page = await get(facilitator, path, html);
    expect([path, page.status, (await page.text()).includes(">https://</a>")]).toEqual([path, 200, true]);
  }
  const page = await get(facilitator, `/payees/${broken}`, html);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(">http://[</a>")]);
});

test("payees without self-payments are all listed, most first, however many more pay themselves", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  const pageOf = async (cursor: string | null, limit = 25) => {
    const query = readQuery(payeesQuery, { self: "hide", ...(cursor && { cursor }) });
    return listPayees(db, { env: "mainnet", networks: [], limit, ...query });
  };
  expect(await pageOf(null)).toEqual({ payees: [], cursor: null });
  const nobody = await (await get(facilitator, "/payees?env=mainnet&self=hide", html)).text();
  expect(nobody).toContain("Nobody was paid without self-payments yet");
  const real = Array.from({ length: 40 }, (_, n) => `real-${String(n).padStart(2, "0")}`);
  const paysItself = (n: number) => [
    { account: `own-${n}`, received: 1_000_000 },
    { account: `puppet-${n}`, paid: 1_000_000, firstPayee: `own-${n}`, isSelfPayer: true },
  ];
  await insertAccounts(db, "mainnet", [
    ...Array.from({ length: lookedAtMax + 200 }, (_, n) => paysItself(n)).flat(),
    ...real.map((account, n) => ({ account, received: 100 - n })),
    // Of what it received others paid half a payment more than the thirtieth got.
    { account: "mixed", received: 1_000_070 },
    { account: "puppet-of-mixed", paid: 1_000_000, firstPayee: "mixed", isSelfPayer: true },
  ]);
  const all: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await pageOf(cursor, 7);
    all.push(...page.payees.map(({ account }) => account));
    cursor = page.cursor;
  } while (cursor !== null);
  // It was looked at together with those that have most; all others come after them.
  expect(all).toEqual(["mixed", ...real]);
  expect((await pageOf(null)).payees[0]).toMatchObject({ account: "mixed", received: 70 });
  const first = await (await get(facilitator, "/payees?env=mainnet&self=hide", html)).text();
  expect(first).toContain("real-00");
  expect(first).toContain("cursor=");
  // More than are looked at for a page.
  await insertAccounts(db, "mainnet", Array.from({ length: 5 * lookedAtMax }, (_, n) => paysItself(5_000 + n)).flat());
  await db.query("update accounts set received = 1000000 where account = 'mixed' and env = 'mainnet'");
  const hidden = await (await get(facilitator, "/payees?env=mainnet&self=hide", html)).text();
  expect(hidden).toContain("the next one goes on from there");
  expect(hidden).not.toContain("Nobody");
  const next = /href="([^"]*cursor=[^"]*)"/.exec(hidden)?.[1]?.replaceAll("&amp;", "&") ?? "";
  expect(await (await get(facilitator, next, html)).text()).toContain("real-00");
  for (const other of ["self=", "self=hide&sort=payers"]) {
    const foreign = Buffer.from(other === "self=" ? "5.real/" : "5.real").toString("base64url");
    expect((await get(facilitator, `/payees?env=mainnet&${other}&cursor=${foreign}`, html)).status).toBe(400);
  }
});

interface MadeUp {
  readonly account: string;
  readonly received?: number;
  readonly paid?: number;
  readonly firstPayee?: string;
  readonly isSelfPayer?: boolean;
}

/** As the roll-up leaves them. */
async function insertAccounts(db: Context["db"], env: string, accounts: readonly MadeUp[]): Promise<void> {
  await db.query(
    `insert into accounts (env, account, paid, paid_volume, payees, first_payee, received, received_volume, payers, first_at, last_at, is_self_payer)
     select $1, account, paid, paid, 1, payee, received, received, least(received, 1000), now(), now(), is_self
       from unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bool[]) as a (account, paid, payee, received, is_self)`,
    [
      env,
      accounts.map(({ account }) => account),
      accounts.map(({ paid = 0 }) => paid),
      accounts.map(({ firstPayee = null }) => firstPayee),
      accounts.map(({ received = 0 }) => received),
      accounts.map(({ isSelfPayer = false }) => isSelfPayer),
    ],
  );
}

test("a failed payment's page says that no money moved only where none did, and to post it again only while that is of use", async ({
  setting,
  facilitator,
}) => {
  const { network, asset } = setting.terms;
  const pageOf = async (reason: string, expires: string, { retryable = false, on = network, as = "" } = {}) => {
    const id = as || `0x${Buffer.from(`${reason} ${expires}`).toString("hex").padStart(64, "0").slice(-64)}`;
    await facilitator.context.db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, transaction_id,
                             error_reason, retryable, expires_at, lease_until, finished_at)
       values ($1, $2, 'failed', gen_random_uuid(), 'exact', '0x1', '0x2', $3, 5, $2, $4, $5, now() + $6::interval, now(), now())`,
      [on, id, asset, reason, retryable, expires],
    );
    return (await (await get(facilitator, `/tx/${id}`, html)).text()).replaceAll(/<[^>]+>/g, "");
  };
  const otherTransfer = await pageOf("invalid_exact_evm_transfer_event_mismatch", "1 hour");
  expect(otherTransfer).toContain("The transaction moved something else than was agreed");
  expect(otherTransfer).not.toContain("No money moved.");
  expect(await pageOf("invalid_exact_evm_transaction_failed", "1 hour")).toContain("No money moved.");
  const usedElsewhere = await pageOf("invalid_exact_evm_nonce_already_used", "1 hour");
  expect(usedElsewhere).toContain("This payment moved nothing");
  expect(usedElsewhere).not.toContain("No money moved.");
  expect(await pageOf("unexpected_settle_error", "1 hour", { retryable: true })).toContain("post it again");
  const over = await pageOf("unexpected_settle_error", "-1 hour", { retryable: true });
  expect(over).toContain("Its time is over: have the client make a new payment.");
  expect(over).not.toMatch(/post (it|the same payment) again/i);
  const reverted = await pageOf("invalid_transaction_state", "1 hour", { retryable: true });
  expect(reverted).toContain("Failed: Its transaction was mined and reverted");
  expect(reverted).toContain("No money moved.");
  expect(reverted).not.toContain("Another payment");
  const hedera = { on: "hedera:testnet", as: "0.0.77@1740672089.000000005" };
  const idUsed = await pageOf("invalid_transaction_state", "1 hour", hedera);
  expect(idUsed).toContain("Failed: Another payment has its id");
  expect(idUsed).toContain("This payment moved nothing; what used its id before may have.");
  expect(idUsed).not.toContain("No money moved.");
});

test("the docs show lines for a network that is served here, and none for another", async ({ facilitator }) => {
  const { context } = facilitator;
  expect(await (await get(facilitator, "/docs", html)).text()).toContain("paymentMiddlewareFromConfig");
  const elsewhere = await (await get(facilitator, "/docs?env=mainnet", html)).text();
  expect(elsewhere).toContain("No mainnet network is served here.");
  expect(elsewhere).not.toMatch(/paymentMiddlewareFromConfig|eip155:84532/);
  const hedera = [{ network: "hedera:testnet", assets: ["0.0.429274"], amountMin: 1n }];
  const config = { ...context.config, evm: [], hedera } as unknown as Context["config"];
  const visit = { env: "testnet", origin: "https://pay.example.com" } as Visit;
  const view = (await docsPage({ ...context, config }).show(visit)) as View;
  const page = render(h(Fragment, {}, view.body));
  expect(page).toContain("No EVM chain of testnet is served here.");
  expect(page).not.toMatch(/paymentMiddlewareFromConfig|eip155:84532/);
});

test("without an environment a page is about that of the network asked for, as the same address is for programs", async ({
  facilitator,
}) => {
  const payer = "0x00000000000000000000000000000000000f00d5";
  await insertRecords(facilitator.context.db, [
    {
      ...{ network: "eip155:8453", status: "settled", kind: "settle", payer, amount: 1_000_000n, totalMs: 900 },
      ...{ createdAt: new Date(), payTo: "0x00000000000000000000000000000000000f00d6" },
    },
  ]);
  for (const accept of [html, {}]) {
    const text = async (query: string) => (await get(facilitator, `/transactions${query}`, accept)).text();
    expect((await text("?network=eip155:8453")).toLowerCase()).toContain("f00d5");
    expect((await text("")).toLowerCase()).not.toContain("f00d5");
  }
});

test("a link to a part of a page keeps the part and the environment", async ({ facilitator }) => {
  const page = await (await get(facilitator, "/?env=mainnet", html)).text();
  expect(page).toContain('href="/docs?env=mainnet#reasons"');
  expect(page).not.toContain("#reasons?");
});

test("the docs tell how often a payee may settle, and how many failed payments a payer may have", async ({
  facilitator,
}) => {
  const { context } = facilitator;
  const limits = { ...context.config.limits, settlePerPayTo: 1_234, failuresPerPayer: 6, failuresPerPayerDay: 21 };
  const visit = { env: "testnet", origin: "https://pay.example.com" } as Visit;
  const view = (await docsPage({ ...context, config: { ...context.config, limits } }).show(visit)) as View;
  const text = render(h(Fragment, {}, view.body)).replaceAll(/<[^>]+>/g, " ");
  expect(text).toMatch(/\/settle, a payee\s+1234 a minute/);
  expect(text).toMatch(/Failed payments of a payer\s+6 within 10 minutes, 21 within 1 day/);
});

test("a resource that is a route leads to no list of payments, and is checked at a path that was paid for", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  const pageOf = async (key: string, bazaar: object, probe: string) => {
    const { rows } = await db.query(
      `insert into discovery_resources (key, resource, type, x402_version, tags, bazaar, words, last_settled_at, probe_url)
       values ($1, $1, 'http', 2, '{}', $2, '', now(), $3) returning id`,
      [key, JSON.stringify(bazaar), probe],
    );
    return (await get(facilitator, `/resources/${rows[0].id}`, html)).text();
  };
  const encoded = encodeURIComponent;
  const [route, path] = ["https://people.example.com/users/:id", "https://people.example.com/users/7"];
  const ofRoute = await pageOf(route, { routeTemplate: "/users/:id" }, path);
  expect(ofRoute).toContain(`/resources/check?url=${encoded(path)}`);
  expect(ofRoute).not.toMatch(/Its payments|check\?url=[^"]*%3Aid/);
  // Listed by a version that kept no path.
  expect(await pageOf(`${route}/old`, { routeTemplate: "/users/:id/old" }, "")).not.toContain("Check it now");
  const plain = await pageOf("https://people.example.com/all", {}, "");
  expect(plain).toContain(`/transactions?resource=${encoded("https://people.example.com/all")}`);
  expect(plain).toContain(`/resources/check?url=${encoded("https://people.example.com/all")}`);
});

test("every resource that a payment is shown with leads to its payments, or where its URL is too long to ask for is no link", async ({
  facilitator,
}) => {
  const payer = "0.0.20480";
  const [long, tooLong] = [2_000, 2_100].map((length) => `https://long.example.com/${"a".repeat(length)}`);
  const record = {
    network: "hedera:testnet",
    status: "settled",
    kind: "settle",
    payer,
    amount: 5n,
    totalMs: 3,
  } as const;
  await insertRecords(
    facilitator.context.db,
    [long, tooLong].map((resourceUrl = "") => ({ ...record, resourceUrl, createdAt: new Date() })),
  );
  const text = await (await get(facilitator, `/payers/${payer}`, html)).text();
  const links = [...text.matchAll(/href="(\/transactions\?resource=[^"]*)"/g)].map(([, href = ""]) => href);
  expect(links).toEqual([`/transactions?resource=${encodeURIComponent(long ?? "")}`]);
  const page = await get(facilitator, links[0] ?? "", html);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(payer)]);
});

test("resources paid for last are paged by a cursor, which no other order takes", async ({ setting, facilitator }) => {
  const { db } = facilitator.context;
  await db.query(
    `with listed as (
       insert into discovery_resources (key, resource, type, x402_version, tags, bazaar, words, last_settled_at)
       select 'many' || n, 'https://many.example.com/' || n, 'http', 2, '{}', '{}', '', now() - interval '1 day' - n * interval '1 minute'
         from generate_series(1, 30) n returning id)
     insert into discovery_accepts
     select id, 'exact', 'eip155:84532', $1, '0x2', '{"network":"eip155:84532","amount":"7"}', '', now() from listed`,
    [setting.terms.asset.toLowerCase()],
  );
  const first = await (await get(facilitator, "/resources", html)).text();
  const next = /href="([^"]*cursor=([^"&]*))"/.exec(first);
  const second = await (await get(facilitator, next?.[1] ?? "", html)).text();
  expect(second).toContain("many.example.com/30");
  expect(second).toContain('href="/resources"');
  for (const other of ["sort=price", "q=many"])
    expect((await get(facilitator, `/resources?${other}&cursor=${next?.[2]}`, html)).status).toBe(400);
  expect((await get(facilitator, "/resources?cursor=x", html)).status).toBe(400);
  expect(await (await get(facilitator, "/resources?sort=price", html)).text()).toContain("from=20");
});

test("of a payer with more open payments than a page holds, the page of all payments leads to the rest", async ({
  setting,
  facilitator,
}) => {
  const payer = `0x${"3c".repeat(20)}`;
  await facilitator.context.db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, transaction_id, expires_at, lease_until, created_at)
     select $1, 'open' || n, 'unknown', gen_random_uuid(), 'exact', $2, $2, $3, 120000, 'open' || n, now() + interval '2 hours', 'infinity', now() - n * interval '1 minute'
       from generate_series(1, 30) n`,
    [setting.terms.network, payer, setting.terms.asset],
  );
  const rowsOf = (text: string) => text.match(/<time class="when"/g)?.length;
  const first = await (await get(facilitator, `/transactions?payer=${payer}`, html)).text();
  expect(rowsOf(first)).toBe(25);
  const next = /href="([^"]*cursor=[^"]*)"/.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const second = await (await get(facilitator, next, html)).text();
  expect(rowsOf(second)).toBe(5);
  expect(second).not.toMatch(/cursor=/);
});

test("what the network charged is read when a payment is first looked at, kept, and asked of the chain a few times a second at most", async ({
  setting,
  facilitator,
}) => {
  const { body: settled } = await facilitator.settle(await paymentBody(await setting.fundedBuyer(), setting.terms));
  const page = `/tx/${settled.transaction}`;
  const feeOn = async () => /paid ([\d.]+) ETH/.exec(await (await get(facilitator, page, html)).text())?.[1];
  const asked = { method: "POST", headers: { "content-type": "application/json" } };
  const call = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [settled.transaction] };
  const answer = await fetch(setting.variables.EIP155_84532_RPC_URL ?? "", { ...asked, body: JSON.stringify(call) });
  const { gasUsed, effectiveGasPrice } = (await answer.json()).result;
  const wei = BigInt(gasUsed) * BigInt(effectiveGasPrice);
  // A page waits a moment for the chain, and shows what comes later to the next who looks.
  const fee = formatUnits(wei, 18);
  await expect.poll(feeOn).toBe(fee);
  const { db, schemes } = facilitator.context;
  const { rows } = await db.query(
    "select id, network, transaction_id as transaction, network_fee from payments where transaction_id = $1",
    [settled.transaction],
  );
  expect(rows[0].network_fee).toBe(wei);
  let asks = 0;
  const networkFee = async () => {
    asks += 1;
    return undefined;
  };
  const scheme = { ...schemes.openOn("eip155:84532"), networkFee } as Scheme;
  const fees = new NetworkFees(db, { openOn: () => scheme });
  for (let n = 0; n < 40; n += 1) await fees.of({ ...rows[0], networkFee: undefined });
  expect(asks).toBeLessThanOrEqual(10);
  expect(await fees.of({ ...rows[0], networkFee: 10n ** 17n })).toEqual({ amount: "0.1", unit: "ETH" });
});

test("the search leads to a transaction, an account or resources", async ({ facilitator }) => {
  const to = async (text: string) =>
    (await get(facilitator, `/find?q=${encodeURIComponent(text)}`, html)).headers.get("location");
  expect(await to(`0x${"a".repeat(64)}`)).toMatch(/^\/tx\/0xa+\?env=testnet$/);
  expect(await to("0.0.5@1.000000002")).toMatch(/^\/tx\/0\.0\.5%401/);
  expect(await to("0.0.1003")).toMatch(/^\/payers\/0\.0\.1003/);
  expect(await to("//evil.example")).toMatch(/^\/resources\?q=%2F%2Fevil/);
});

test("CSV runs nothing in a spreadsheet, and goes on where a file ends", async ({ facilitator }) => {
  const evil = '=HYPERLINK("https://evil.example","x")';
  await insertRecords(
    facilitator.context.db,
    Array.from({ length: 1_001 }, (_, n) => ({
      network: "eip155:84532",
      status: "rejected",
      kind: "settle",
      payer: n === 0 ? "-2+3" : "0xa",
      amount: 5n,
      totalMs: 3,
      createdAt: new Date(Date.now() - n),
      resourceUrl: evil,
      errorReason: "invalid_amount",
    })),
  );
  const answer = await get(facilitator, "/transactions.csv?status=rejected");
  expect(answer.headers.get("content-disposition")).toContain("attachment");
  const lines = (await answer.text()).trimEnd().split("\r\n");
  expect(lines).toHaveLength(1_001);
  expect(lines[0]).toMatch(/^created_at,status,/);
  for (const line of lines.slice(1)) expect(line).toContain(`"'${evil.replaceAll('"', '""')}"`);
  expect(lines.join("\n")).toContain(",'-2+3,");
  const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1] ?? "";
  expect((await (await get(facilitator, next)).text()).trimEnd().split("\r\n")).toHaveLength(2);
});

test("a CSV of an account's payments is read where they are at once, one of all where they may be a moment old", async ({
  facilitator,
}) => {
  const { context } = facilitator;
  const reads = { primary: context.db, run: async () => ({ type: "text/csv", content: "from the replica" }) };
  const { pages } = createSite({ ...context, reads: reads as unknown as Context["reads"] }, []);
  const csv = pages.find(({ path }) => path === "/transactions.csv");
  const contentOf = async (query: string) =>
    csv?.show({ path: "/transactions.csv", query: new URLSearchParams(query), env: "testnet" } as Visit);
  expect(await contentOf("")).toMatchObject({ content: "from the replica" });
  for (const query of ["pay_to=0xa", "payer=0xa", "since=2026-03-02"])
    expect(await contentOf(query)).toMatchObject({ content: expect.stringMatching(/^created_at,status/) });
});

test("a CSV that is not whole says by its name since when it has all that fits", async ({ facilitator }) => {
  const { db } = facilitator.context;
  const paid = { status: "settled", kind: "settle", payer: "0xa", payTo: "0xcsv", amount: 5n, totalMs: 3 } as const;
  const moment = Date.UTC(2026, 2, 2, 9, 30, 0);
  let next: string | undefined;
  const nameOf = async (query: string) => {
    const answer = await get(facilitator, `/transactions.csv?pay_to=0xcsv${query}`);
    const [, name] = /filename="(.*)"/.exec(answer.headers.get("content-disposition") ?? "") ?? [];
    [, next] = /cursor=([^&>]+)[&>]/.exec(answer.headers.get("link") ?? "") ?? [];
    return [name, (await answer.text()).trimEnd().split("\r\n").length - 1];
  };
  const at = (createdAt: Date, network = "eip155:84532") => ({ ...paid, network, createdAt });
  await insertRecords(
    db,
    Array.from({ length: 1_000 }, (_, n) => at(new Date(moment + n * 1_000))),
  );
  expect(await nameOf("")).toEqual(["settlements.csv", 1_000]);
  await insertRecords(db, [at(new Date(moment - 1))]);
  expect(await nameOf("")).toEqual(["settlements-since-2026-03-02T093000Z.csv", 1_000]);
  // What begins where another ended lacks all that is newer.
  expect(await nameOf(`&cursor=${next}`)).toEqual(["settlements-part.csv", 1]);
  await insertRecords(
    db,
    Array.from({ length: 9_000 }, (_, n) => at(new Date(moment + n))),
  );
  await insertRecords(db, [at(new Date(moment - 2), "eip155:80002")]);
  await nameOf("");
  expect(await nameOf(`&cursor=${next}`)).toEqual(["settlements-part.csv", 1_000]);
  expect(await nameOf("&network=eip155:80002")).toEqual([expect.stringMatching("settlements-since-2026"), 0]);
  expect(await nameOf("&network=eip155:80002&until=2026-03-02T09:30:00Z")).toEqual(["settlements.csv", 1]);
});

test("the badge is a picture that others' pages may show", async ({ facilitator }) => {
  const answer = await get(facilitator, "/status.svg");
  expect(answer.headers.get("content-type")).toMatch("image/svg+xml");
  expect(answer.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  expect(await answer.text()).toMatch(/^<svg [^>]*role="img" aria-label="x402 facilitator: /);
});

test("a filter shows the network that is asked for, also by another of its names and where it is served no more", async ({
  facilitator,
}) => {
  for (const path of ["/transactions", "/resources", "/"]) {
    for (const [asked, shown] of [
      ["eip155:80002", "eip155:80002"],
      ["base-sepolia", "eip155:84532"],
    ]) {
      const page = await (await get(facilitator, `${path}?network=${asked}`, html)).text();
      const chosen = /<select[^>]*name="network".*?<\/select>/s.exec(page)?.[0];
      expect([path, chosen]).toEqual([
        path,
        expect.stringMatching(`selected[^>]*value="${shown}"|value="${shown}" selected`),
      ]);
    }
  }
});

test("what was refused in another token is not said to be USDC", async ({ setting, facilitator }) => {
  const asset = "0x00000000000000000000000000000000000000e7";
  const body = await paymentBody(await setting.fundedBuyer(), { ...setting.terms, asset, amount: "777000000000000" });
  expect((await facilitator.verify(body)).body).toMatchObject({ isValid: false });
  const listed = async () => (await get(facilitator, "/transactions?status=rejected", html)).text();
  await expect.poll(listed).toContain("777000000000000 units");
  expect(await listed()).not.toContain("777,000,000.00");
});
