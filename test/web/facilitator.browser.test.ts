import { expect } from "vitest";
import { open, visitEverywhere } from "./browser.ts";
import { account, hash, test } from "./facilitator.ts";

test.for([
  ["/", "fac-overview"],
  ["/?days=365&self=hide", "fac-overview-without-self"],
  ["/transactions", "fac-transactions"],
  ["/transactions?payer=0x00", "fac-transactions-none"],
  [`/payers/${account(11)}`, "fac-payer"],
  [`/payees/${account(101)}`, "fac-payee"],
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
])("%s", async ([path = "", name = ""], { site }) => {
  await visitEverywhere(site, path, { name });
});

test("what is not there is a page that says what to do", ({ site }) =>
  visitEverywhere(site, `/tx/${hash(1)}`, { name: "fac-not-found", status: 404 }));

test("a payment's page changes by itself when the payment ends", async ({ site }) => {
  const { page, complaints, close } = await open(site, `/tx/${hash(9004)}`);
  expect(await page.getByText("This facilitator has not seen the end of this payment yet").isVisible()).toBe(true);
  await site.context.db.query("update payments set state = 'settled', finished_at = now() where transaction_id = $1", [
    hash(9004),
  ]);
  await page.getByText("the agreed transfer, seen on the chain").waitFor({ timeout: 15_000 });
  expect(await page.locator("[data-payment]").count()).toBe(0);
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
