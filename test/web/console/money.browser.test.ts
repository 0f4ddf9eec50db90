import type { Page, Route } from "playwright-core";
import { describe, expect } from "vitest";
import { proveLedger } from "../../support/marketplace.ts";
import { expectAccessible, expectNoSidewaysScrolling, open, visitEverywhere } from "../browser.ts";
import { announcePoorWallet, type PaidSite, signInWith, test } from "../paid-site.ts";

let site: PaidSite;
test.beforeEach(({ site: shared }) => {
  site = shared;
});

const path = "/settings/credits";

/** The credits page of a new account, with the wallet of this browser. */
async function atCredits(credits = 0n) {
  const opened = await open(site, "/sign-in");
  const handle = await signInWith(site, opened.page, credits);
  await opened.page.goto(site.url + path);
  await opened.page.locator("#wallet-name").getByText("Demo wallet").waitFor();
  return { ...opened, handle };
}

async function choose(page: Page, chain: "evm" | "hedera", credits: string): Promise<void> {
  await page.getByRole("radio", { name: chain === "evm" ? /Base Sepolia/ : /Hedera testnet/ }).check({ force: true });
  await page.getByLabel("Another amount").fill(credits);
}

const pay = (page: Page) => page.getByRole("button", { name: /^Pay/ }).press("Enter");
const purchase = (page: Page) => page.locator("#purchase");
const keptPayments = (page: Page) =>
  page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("under way")));

describe.each(["evm", "hedera"] as const)("credits bought in the page on %s", (chain) => {
  test("are shown on their way, credited once, and stand in the statement with their payment", async () => {
    const { page, complaints, close } = await atCredits();
    const before = await site.usdcOf(chain);
    await choose(page, chain, "7");
    await expect.poll(() => page.locator("#buy-said").textContent()).toBe("7 credits for 0.07 USDC");
    await pay(page);
    await purchase(page).getByText("credited", { exact: true }).waitFor();
    expect(await purchase(page).locator(".rail li.is-end").textContent()).toContain("Credited");
    await expect.poll(() => page.locator("#balance-now").textContent()).toBe("7");
    expect(before - (await site.usdcOf(chain))).toBe(70_000n);
    await page.getByRole("link", { name: "Show it in the statement" }).waitFor();
    await expect.poll(() => keptPayments(page)).toEqual([]);
    await expectAccessible(page, `a purchase, ${chain}`);
    await page.setViewportSize({ width: 375, height: 800 });
    await expectNoSidewaysScrolling(page, `a purchase, ${chain}`);
    expect(await page.locator("section[aria-label=Postings] tbody tr").count()).toBe(1);
    await page.getByRole("link", { name: "Show it in the statement" }).press("Enter");
    // It is there already: nothing is loaded anew.
    expect(await purchase(page).locator(".rail li.is-end").isVisible()).toBe(true);
    expect(complaints.filter((text) => !text.includes("status of 402"))).toEqual([]);
    await close();
  });

  test("are credited once although the page was reloaded before the answer, whoever's answer was lost", async () => {
    const { page, close } = await atCredits();
    const before = await site.usdcOf(chain);
    site.paid.toFacilitator.behave((asked) => (asked === "/settle" ? "lose-answer" : "pass"));
    await choose(page, chain, "9");
    await pay(page);
    await expect.poll(() => keptPayments(page)).toHaveLength(1);
    await page.reload();
    site.paid.toFacilitator.behave(() => "pass");
    await purchase(page).getByText("credited", { exact: true }).waitFor();
    expect(before - (await site.usdcOf(chain))).toBe(90_000n);
    await expect.poll(() => page.locator("#balance-now").textContent()).toBe("9");
    await expect.poll(() => keptPayments(page)).toEqual([]);
    await proveLedger(site.context);
    await close();
  });
});

test("a payment that was credited while the page was away is found, and not asked for again", async () => {
  const { page, close } = await atCredits();
  await choose(page, "evm", "4");
  // The page goes away with the payment signed; a program of the same holder posts it.
  await page.route("**/api/account/credits/purchase", async (route) => {
    if (!route.request().headers()["payment-signature"]) return route.continue();
    await route.fetch();
    // The test may be past it by now.
    return route.abort().catch(() => undefined);
  });
  await pay(page);
  await expect
    .poll(async () => (await page.request.get(`${site.url}/api/account/credits`)).json())
    .toMatchObject({
      credits: 4,
    });
  // Left before the network is back, or the page would hear of it.
  const address = page.url();
  await page.goto("about:blank");
  await page.unroute("**/api/account/credits/purchase");
  await page.goto(address);
  await purchase(page).getByText("are in your balance").waitFor();
  await expect.poll(() => keptPayments(page)).toEqual([]);
  await close();
});

test("a press beside a purchase whose end is not known makes no second payment", async () => {
  const { page, close } = await atCredits();
  const before = await site.usdcOf("evm");
  await choose(page, "evm", "6");
  const posted = new Set<string>();
  let fails = true;
  await page.route("**/api/account/credits/purchase", (route) => {
    const payment = route.request().headers()["payment-signature"];
    if (!payment) return route.continue();
    posted.add(payment);
    return fails ? route.fulfill({ status: 500, json: { error: "It failed." } }) : route.continue();
  });
  await pay(page);
  await purchase(page).getByText("Do not pay again").waitFor();
  fails = false;
  await page.getByLabel("Another amount").fill("8");
  await pay(page);
  await purchase(page).getByText("6 credits are in your balance").waitFor();
  expect([posted.size, before - (await site.usdcOf("evm"))]).toEqual([1, 60_000n]);
  await expect.poll(() => keptPayments(page)).toEqual([]);
  await close();
});

test("a page that fails while a purchase is under way does not say that nothing was charged", async () => {
  const { page, close } = await atCredits();
  await choose(page, "evm", "3");
  // A moment that is none, which the page cannot show.
  const json = { state: "unknown", transaction: null, can_land_until: "later" };
  await page.route("**/api/payments?*", (route) => route.fulfill({ json }));
  const fail = async (route: Route) => {
    if (!route.request().headers()["payment-signature"]) return route.continue();
    await route.fetch();
    return route.fulfill({ status: 500, json: { error: "It failed." } });
  };
  await page.route("**/api/account/credits/purchase", fail);
  await pay(page);
  await purchase(page).getByText("This page failed while the payment was under way").waitFor();
  expect(await purchase(page).textContent()).not.toContain("Nothing was charged");
  await page.unroute("**/api/payments?*");
  await page.unroute("**/api/account/credits/purchase");
  await page.getByRole("button", { name: "Ask again" }).press("Enter");
  await purchase(page).getByText("3 credits are in your balance").waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("purchase");
  await close();
});

test("a wallet that declines charges nothing, and a wrong amount is told at its field", async () => {
  const { page, close } = await atCredits();
  await page.getByLabel("Another amount").fill("2000000");
  await pay(page);
  await page.locator("#own-amount-error:visible").waitFor();
  expect(await purchase(page).textContent()).toContain("Nothing was charged.");
  await expect.poll(() => keptPayments(page)).toEqual([]);
  await close();
});

test("whether a wallet has enough follows the amount that is chosen", async () => {
  const { page, close } = await atCredits();
  await announcePoorWallet(page, 40_000);
  await page.reload();
  await page.getByRole("combobox", { name: "Wallet" }).selectOption("A poor wallet");
  const short = page.getByText("This wallet has too little USDC on this network");
  await short.waitFor();
  await page.getByLabel("Another amount").fill("4");
  await short.waitFor({ state: "hidden" });
  await page.getByLabel("Another amount").fill("5");
  await short.waitFor();
  await close();
});

test("an amount that is taken out again leaves the one that was chosen before, and the button says which", async () => {
  const { page, close } = await atCredits();
  const price = page.locator("[data-run=wallet] .btn-price");
  const usual = await price.textContent();
  const own = page.getByLabel("Another amount");
  await own.fill("7");
  await expect.poll(() => price.textContent()).toBe("0.07 USDC");
  await own.fill("1000000");
  await expect.poll(() => price.textContent()).toBe("10,000.00 USDC");
  await own.fill("1.5");
  await expect.poll(() => price.textContent()).toBe("–");
  await own.fill("");
  await expect.poll(() => price.textContent()).toBe(usual);
  expect(await page.locator("input[name=amount]:checked").count()).toBe(1);
  await close();
});

describe.each(["evm", "hedera"] as const)("a payout wallet on %s", (chain) => {
  test("is added, signed for by the wallet in the page, checked, looked at again and removed, by keyboard alone", async () => {
    const { page, complaints, close } = await open(site, "/sign-in");
    await signInWith(site, page, 0n);
    await page.goto(`${site.url}/settings/wallets`);
    const network = chain === "evm" ? /Base Sepolia/ : /Hedera testnet/;
    await page.getByRole("radio", { name: network }).check({ force: true });
    await page.getByRole("button", { name: "Take it from Demo wallet" }).press("Enter");
    await expect.poll(() => page.getByLabel("Account", { exact: true }).inputValue()).not.toBe("");
    await page.getByRole("button", { name: "Get the text to sign" }).press("Enter");
    await page.getByRole("button", { name: "Sign in Demo wallet" }).press("Enter");
    await page.getByText("The wallet is checked. Your agents offer it").waitFor();
    // What was done is seen: the page is not scrolled past it, down to the form that was posted.
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.getByRole("button", { name: "Check now" }).press("Enter");
    await page.getByText("The network was asked: the wallet can be paid.").waitFor();
    await page.getByRole("link", { name: "Remove" }).press("Enter");
    await page.getByRole("button", { name: "Remove wallet" }).press("Enter");
    await page.getByText("No wallet yet").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

test.for([path, "/settings/wallets"])("%s is there for everybody, at every width, in both themes", async (at) => {
  await visitEverywhere(site, at, {
    prepare: async (page) => {
      await signInWith(site, page, 1_200n);
      const address = "0x7c0F55aE19bD83c240E6f7A8d0219Bc4E63821d8".toLowerCase();
      const { id } = await (
        await page.request.post(`${site.url}/api/account/wallets`, { data: { network: "eip155:84532", address } })
      ).json();
      await page.goto(`${site.url}${at}${at === path ? "" : `?sign=${id}`}`);
    },
  });
});
