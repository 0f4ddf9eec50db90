import type { BrowserContext, Page } from "playwright-core";
import { privateKeyToAccount, setSignEntropy } from "viem/accounts";
import { afterEach, describe, expect } from "vitest";
import { evmWallets } from "../../infra/dev/wallets.ts";
import { expectAccessible, open } from "./browser.ts";
import { type PaidSite, test } from "./paid-site.ts";

let site: PaidSite;
test.beforeAll(({ site: paidSite }) => {
  site = paidSite;
}, 120_000);
afterEach(() => {
  site.model.clearFaults();
  site.paid.toFacilitator.behave(() => "pass");
});

type Chain = "evm" | "hedera";
const price = 50_000n;
const resultOf = (page: Page) => page.locator("#result");
const noticeOf = (page: Page) => page.locator(".callout").filter({ hasText: "Forget it" });
const fetchButton = (page: Page) => page.getByRole("button", { name: "Fetch the result" });
const unfetched = (page: Page) =>
  page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.startsWith("unfetched ")));

async function payOn(page: Page, chain: Chain, text: string): Promise<void> {
  await page.getByLabel("Text", { exact: true }).fill(text);
  await page.locator("#wallet-name").getByText("Demo wallet").waitFor();
  await page.getByRole("radio", { name: chain === "evm" ? /Base Sepolia/ : /Hedera testnet/ }).check({ force: true });
  await page.getByRole("button", { name: /Pay and run/ }).click();
}

/** Paid calls whose buyers were gone before the answer was. */
async function hungUp(): Promise<number> {
  const counted = site.context.metrics.answers.text();
  return Number(/operation="payAgent",status="hung_up"\} (\d+)/.exec(counted)?.[1] ?? 0);
}

async function openAnew(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.url + site.summarizer);
  return page;
}

/** A run that its buyer paid for and whose page was closed while it was under way. */
async function payAndClose(chain: Chain, text = "Closed meanwhile.") {
  const { page, context, close } = await open(site, site.summarizer);
  const before = await site.usdcOf(chain);
  site.model.injectFault({ delayMs: 600_000 });
  await payOn(page, chain, text);
  await page.locator("#payment").getByText("running", { exact: true }).waitFor();
  await expect.poll(() => unfetched(page)).toHaveLength(1);
  const [[name, kept]] = (await unfetched(page)) as [[string, string]];
  const header = await page.evaluate(
    () => Object.entries(sessionStorage).find(([key]) => key.startsWith("under way"))?.[1] ?? "",
  );
  const hungUpBefore = await hungUp();
  await page.close();
  await expect.poll(hungUp).toBeGreaterThan(hungUpBefore);
  return { context, name, kept, header, close, spent: async () => before - (await site.usdcOf(chain)) };
}

/** A payment that was signed, and whose posts are all lost. */
async function payUnreached() {
  const { page, context, close } = await open(site, site.summarizer);
  const before = await site.usdcOf("evm");
  await context.route("**/api/agent/**", (route) =>
    "payment-signature" in route.request().headers() ? route.abort() : route.continue(),
  );
  await payOn(page, "evm", "Never posted.");
  await expect.poll(() => unfetched(page)).toHaveLength(1);
  return { page, context, before, close };
}

describe.each(["evm", "hedera"] as const)("a payment on %s whose page was closed before its result came", (chain) => {
  test("fetches it in a page opened anew, signed again by the wallet that paid, and is charged once", async () => {
    const { context, spent, close } = await payAndClose(chain);
    site.model.answerHeld();
    await expect.poll(spent).toBe(price);
    const page = await openAnew(context);
    await page.getByText(/You paid 0.05 USDC for a run here at \d\d:\d\d, and its result did not arrive/).waitFor();
    await expectAccessible(page, `a payment to be fetched, ${chain}`);
    await fetchButton(page).click();
    await resultOf(page).getByText("found again, not paid twice").waitFor();
    expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe("Closed meanwhile.");
    expect(await noticeOf(page).count()).toBe(0);
    await expect.poll(() => unfetched(page)).toEqual([]);
    expect(await spent()).toBe(price);
    await page.reload();
    await resultOf(page).getByText("success").waitFor();
    expect(await noticeOf(page).count()).toBe(0);
    await close();
  });

  test("is kept without its signature", async () => {
    const { kept, header, close } = await payAndClose(chain);
    const { payload } = JSON.parse(atob(JSON.parse(header).payment.header));
    if (chain === "evm") expect(kept).not.toContain(payload.signature.slice(2, 60));
    else expect(kept).not.toContain(payload.transaction.slice(-40, -4));
    expect(kept).not.toContain(JSON.parse(header).payment.header);
    expect(kept).toContain("Closed meanwhile.");
    site.model.answerHeld();
    await close();
  });

  test("is not signed by another account: the page names the one that paid, and keeps the payment", async () => {
    const { context, spent, close } = await payAndClose(chain);
    site.model.answerHeld();
    await expect.poll(spent).toBe(price);
    await context.route("**/demo-wallet.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
    await context.addInitScript(() => {
      const holder = `0x${"7e".repeat(20)}`;
      const answers: Record<string, unknown> = {
        eth_accounts: [holder],
        eth_requestAccounts: [holder],
        eth_chainId: "0x14a34",
        hedera_accounts: ["hedera:testnet:0.0.99"],
      };
      const request = async ({ method }: { method: string }) => answers[method] ?? Promise.reject({ code: 4200 });
      const detail = {
        info: { uuid: "other", name: "Another wallet", icon: "data:,", rdns: "o" },
        provider: { request },
      };
      const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      addEventListener("eip6963:requestProvider", announce);
    });
    const page = await openAnew(context);
    await page.locator("#wallet-name").getByText("Another wallet").waitFor();
    await fetchButton(page).click();
    await resultOf(page).getByText("Another account paid for this run").waitFor();
    const payer = chain === "evm" ? evmWallets({}).buyer.address : site.paid.ledger.accounts.buyer.accountId;
    expect((await resultOf(page).textContent())?.toLowerCase()).toContain(`${payer.toLowerCase()} paid.`);
    expect(await unfetched(page)).toHaveLength(1);
    expect(await noticeOf(page).count()).toBe(1);
    await close();
  });
});

/** A wallet of the account that paid, which signs as it is told to here. */
async function bringWallet(context: BrowserContext, sign: (typedData: TypedData) => Promise<string>): Promise<void> {
  await context.exposeFunction("signTypedData", async (text: string) => sign(JSON.parse(text)));
  await context.route("**/demo-wallet.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  await context.addInitScript((holder) => {
    const request = async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
      if (method === "eth_signTypedData_v4") return Reflect.get(globalThis, "signTypedData")(params?.[1]);
      if (method === "eth_chainId") return "0x14a34";
      return method.startsWith("eth_") && method.endsWith("ccounts") ? [holder] : Promise.reject({ code: 4200 });
    };
    const detail = { info: { uuid: "own", name: "Own wallet", icon: "data:,", rdns: "o" }, provider: { request } };
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    addEventListener("eip6963:requestProvider", announce);
  }, payer.address);
}

const payer = privateKeyToAccount(evmWallets({}).buyer.privateKey as `0x${string}`);
type TypedData = Parameters<typeof payer.signTypedData>[0];

test("a wallet whose second signature has other bytes fetches the result all the same", async () => {
  const { context, spent, close } = await payAndClose("evm");
  site.model.answerHeld();
  await expect.poll(spent).toBe(price);
  await bringWallet(context, (typedData) => {
    setSignEntropy(true);
    return payer.signTypedData(typedData);
  });
  const page = await openAnew(context);
  await fetchButton(page).click();
  await resultOf(page).getByText("found again, not paid twice").waitFor();
  expect(await spent()).toBe(price);
  await close();
});

test("a wallet that signs with another account's key is told so, and the payment is offered again", async () => {
  const { context, spent, close } = await payAndClose("evm");
  site.model.answerHeld();
  await expect.poll(spent).toBe(price);
  let signer = privateKeyToAccount(evmWallets({}).creator.privateKey as `0x${string}`);
  await bringWallet(context, (typedData) => signer.signTypedData(typedData));
  const page = await openAnew(context);
  await fetchButton(page).click();
  await resultOf(page).getByText("The wallet did not sign the same payment").waitFor();
  expect(await unfetched(page)).toHaveLength(1);
  signer = payer;
  await page.reload();
  await fetchButton(page).click();
  await resultOf(page).getByText("found again, not paid twice").waitFor();
  expect(await spent()).toBe(price);
  await close();
});

test("the wallet that signs on the payment's network is asked, whichever comes first", async () => {
  const { context, spent, close } = await payAndClose("hedera");
  site.model.answerHeld();
  await expect.poll(spent).toBe(price);
  // One that signs on EVM networks alone, and announces itself before the other.
  await context.addInitScript(() => {
    const request = async ({ method }: { method: string }) =>
      method === "eth_chainId"
        ? "0x14a34"
        : method.startsWith("eth_")
          ? [`0x${"7e".repeat(20)}`]
          : Promise.reject({ code: 4200 });
    const detail = { info: { uuid: "evm", name: "EVM alone", icon: "data:,", rdns: "e" }, provider: { request } };
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    addEventListener("eip6963:requestProvider", announce);
  });
  const page = await openAnew(context);
  await page.locator("#wallet-choice").waitFor();
  await fetchButton(page).click();
  await resultOf(page).getByText("found again, not paid twice").waitFor();
  expect(await spent()).toBe(price);
  await close();
});

test("a payment that never reached the service is posted by the page opened anew, and charged once", async () => {
  const { page, context, before, close } = await payUnreached();
  await page.close();
  await context.unroute("**/api/agent/**");
  const anew = await openAnew(context);
  await anew.getByText(/You signed a payment of 0.05 USDC for a run here at/).waitFor();
  await fetchButton(anew).click();
  await resultOf(anew).getByText("success").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("a payment that is forgotten is offered no more", async () => {
  const { context, close } = await payAndClose("evm");
  site.model.answerHeld();
  const page = await openAnew(context);
  await page.getByRole("button", { name: "Forget it" }).click();
  await noticeOf(page).waitFor({ state: "detached" });
  expect(await unfetched(page)).toEqual([]);
  await page.reload();
  await page.locator("#wallet-name").getByText("Demo wallet").waitFor();
  expect(await noticeOf(page).count()).toBe(0);
  await close();
});

test.for(["evm", "hedera"] as const)(
  "a result whose answer was lost on its way is fetched once more by the wallet that paid (%s)",
  async (chain) => {
    const { context, name, kept, spent, close } = await payAndClose(chain);
    site.model.answerHeld();
    const page = await openAnew(context);
    await fetchButton(page).click();
    await resultOf(page).getByText("success").waitFor();
    await expect.poll(() => unfetched(page)).toEqual([]);
    // As it is when the browser died before it had the answer.
    await page.evaluate(([at, text]) => localStorage.setItem(String(at), String(text)), [name, kept]);
    await page.close();
    const anew = await openAnew(context);
    await fetchButton(anew).click();
    await resultOf(anew).getByText("This payment was used already").waitFor();
    expect(await unfetched(anew)).toHaveLength(1);
    await expectAccessible(anew, `a result to be fetched once more, ${chain}`);
    const again = anew.getByRole("button", { name: "Fetch it once more" });
    let isLost = chain === "hedera";
    await context.route("**/api/agent/**", async (route) => {
      if (isLost || !("sign-in-with-x" in route.request().headers())) return route.continue();
      isLost = true;
      await route.fetch();
      await route.abort();
    });
    await again.click();
    await expect.poll(() => isLost).toBe(true);
    if (chain === "evm") await again.click();
    await resultOf(anew).getByText("found again, not paid twice").waitFor();
    await expect.poll(() => unfetched(anew)).toEqual([]);
    expect(await spent()).toBe(price);
    await close();
  },
);

test("of a payment that ran out before it was posted the page says that nothing was charged, and forgets it", async () => {
  const { page, context, before, close } = await payUnreached();
  await page.evaluate(() => {
    const name = Object.keys(localStorage).find((key) => key.startsWith("unfetched ")) ?? "";
    const kept = JSON.parse(localStorage.getItem(name) ?? "");
    localStorage.setItem(name, JSON.stringify({ ...kept, endsAt: Date.now() - 120_000 }));
  });
  await page.close();
  const anew = await openAnew(context);
  await anew.getByText(/Your payment of 0.05 USDC at \d\d:\d\d was not settled/).waitFor();
  await anew.getByText("Nothing was charged. It is over.").waitFor();
  expect(await unfetched(anew)).toEqual([]);
  expect(await site.usdcOf("evm")).toBe(before);
  await close();
});

test("a run that is under way in another tab is offered once that is closed, and two tabs fetch a lost one once", async () => {
  const { page, context, close } = await open(site, site.summarizer);
  const before = await site.usdcOf("evm");
  site.model.injectFault({ delayMs: 600_000 });
  await payOn(page, "evm", "In two tabs.");
  await page.locator("#payment").getByText("running", { exact: true }).waitFor();
  await expect.poll(() => unfetched(page)).toHaveLength(1);
  const one = await openAnew(context);
  await one.waitForLoadState("networkidle");
  expect(await noticeOf(one).count()).toBe(0);
  await page.close();
  await noticeOf(one).waitFor();
  const two = await openAnew(context);
  await noticeOf(two).waitFor();
  await fetchButton(one).click();
  await one.locator("#payment").waitFor();
  await fetchButton(two).click();
  await resultOf(two).getByText("Another tab fetches this result").waitFor();
  site.model.answerHeld();
  await resultOf(one).getByText("found again, not paid twice").waitFor();
  await noticeOf(two).waitFor({ state: "detached" });
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("what was asked is kept in the browser for a day at most, whichever page is opened next", async () => {
  const { page, close } = await open(site, "/pricing");
  await page.evaluate(() => {
    localStorage.setItem(`unfetched ${Date.now() - 25 * 3_600_000} agt_1 0x1`, "{}");
    localStorage.setItem(`unfetched ${Date.now() - 23 * 3_600_000} agt_1 0x2`, "{}");
  });
  await page.goto(`${site.url}/explore`);
  await expect.poll(async () => (await unfetched(page)).length).toBe(1);
  await close();
});
