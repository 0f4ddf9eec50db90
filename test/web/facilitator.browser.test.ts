import { expect } from "vitest";
import { startHttpServer } from "../support/http-server.ts";
import { open, visitEverywhere } from "./browser.ts";
import { account, hash, network, test } from "./facilitator.ts";

test.for([
  ["/", "fac-overview"],
  ["/?days=365&self=hide", "fac-overview-without-self"],
  ["/transactions", "fac-transactions"],
  ["/transactions?payer=0x00", "fac-transactions-none"],
  [`/payers/${account(11)}`, "fac-payer"],
  [`/payees/${account(101)}`, "fac-payee"],
  ["/payees?sort=volume", "fac-payees"],
  [`/tx/${hash(9001)}`, "fac-tx-settled"],
  [`/tx/${hash(9002)}`, "fac-tx-failed"],
  [`/tx/${hash(9003)}`, "fac-tx-unknown"],
  ["/status", "fac-status"],
  ["/health", "fac-health"],
  ["/resources", "fac-resources"],
  ["/resources/1", "fac-resource"],
  ["/resources/check", "fac-check-empty"],
  ["/docs", "fac-docs"],
  ["/docs/api", "fac-docs-api"],
  ["/docs/api/settlePayment", "fac-docs-operation"],
])("%s shows without a fault at every width, in both themes", async ([path = "", name = ""], { site }) => {
  await visitEverywhere(site, path, { name });
});

test("the networks on which a resource is paid for stand apart", async ({ site }) => {
  const { db } = site.context;
  await db.query(
    `insert into discovery_accepts select resource_id, scheme, 'hedera:testnet', asset, pay_to,
       jsonb_set(terms::jsonb, '{network}', '"hedera:testnet"'), '', now() from discovery_accepts limit 1`,
  );
  const { page, close } = await open(site, "/resources");
  const boxes = await page
    .locator("td .net:not(:only-child)")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  expect(boxes).toHaveLength(2);
  expect(boxes[1].left - boxes[0].right).toBeGreaterThan(4);
  await close();
  await db.query("delete from discovery_accepts where network = 'hedera:testnet'");
});

test("what is not there is a page that says what to do", ({ site }) =>
  visitEverywhere(site, `/tx/${hash(1)}`, { name: "fac-not-found", status: 404 }));

test("a payment that has no transaction yet, found by what its payer signed, shows without a fault at every width, in both themes", async ({
  site,
}) => {
  const [nonce, { asset }] = [`0x${"5a".repeat(32)}`, site.setting.terms];
  await site.context.db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, resource_url, expires_at, lease_until)
     values ($1, lower($2), 'claimed', gen_random_uuid(), 'exact', $3, $4, $5, 120000, 'https://rates.example.com/v1/latest?of=all', now() + interval '2 hours', 'infinity')`,
    [network, `${asset}:${account(11)}:${nonce}`, account(11), account(101), asset],
  );
  await visitEverywhere(site, `/tx?network=${network}&payer=${account(11)}&nonce=${nonce}`, { name: "fac-tx-claimed" });
});

test("a seller's 402 that clients of one version can pay and those of the other cannot is told so", async ({
  site,
}) => {
  const { asset, payTo } = site.setting.terms;
  const old = {
    scheme: "exact",
    network: "base-sepolia",
    maxAmountRequired: "80000",
    asset,
    payTo,
    maxTimeoutSeconds: 20,
  };
  const extra = { name: "USDC", version: "2" };
  const quote = (version: number, offer: object) => JSON.stringify({ x402Version: version, accepts: [offer] });
  const seller = await startHttpServer((_request, response) => {
    const header = Buffer.from(quote(2, { ...old, payTo: "0.0.5", extra })).toString("base64");
    response.writeHead(402, { "payment-required": header });
    response.end(quote(1, { ...old, resource: "https://a.example.com/x", extra }));
  });
  const url = `${seller.url.replace("127.0.0.1", "localhost")}/pages`;
  await visitEverywhere(site, `/resources/check?url=${encodeURIComponent(url)}`, { name: "fac-check-problems" });
  await seller.stop();
});

test("a payment's page changes by itself when the payment ends", async ({ site }) => {
  const { page, complaints, close } = await open(site, `/tx/${hash(9004)}`);
  expect(await page.getByText("This facilitator has not seen the end of this payment yet").isVisible()).toBe(true);
  await site.context.db.query("update payments set state = 'settled', finished_at = now() where transaction_id = $1", [
    hash(9004),
  ]);
  await page.getByText("the agreed transfer, seen on the chain").waitFor();
  expect(await page.locator("[data-payment]").count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test("the page of a payment that has not changed is not loaded anew, also where its id is known before its transaction", async ({
  site,
}) => {
  const id = "0.0.9@1772443800.000000002";
  await site.context.db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at, lease_until)
     values ('hedera:testnet', $1, 'claimed', gen_random_uuid(), 'exact', '0.0.7', '0.0.8', '0.0.429274', 5, now() + interval '2 hours', 'infinity')`,
    [id],
  );
  const { page, complaints, close } = await open(site, `/tx/${encodeURIComponent(id)}`);
  const asked = () => page.waitForResponse((response) => response.url().includes("/payments/"));
  await page.evaluate(() => document.body.setAttribute("data-first", ""));
  await asked();
  await asked();
  expect(await page.locator("[data-first]").count()).toBe(1);
  expect(complaints).toEqual([]);
  await close();
});

test("no page sets a cookie, with whatever it is looked at", async ({ site }) => {
  const { page, context, close } = await open(site, "/");
  await page.getByRole("button", { name: /light and dark/ }).press("Enter");
  await page.reload();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toMatch(/light|dark/);
  expect(await context.cookies()).toEqual([]);
  await close();
});
