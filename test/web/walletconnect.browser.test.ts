import type { Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import { isWhole } from "../support/sample.ts";
import { expectAccessible, expectNoSidewaysScrolling, open } from "./browser.ts";
import { type OutsideSite, scan, startOutsideSite } from "./outside-wallet.ts";
import { signInWith, test as withSite } from "./paid-site.ts";

const test = withSite.extend("outside", { scope: "file" }, async ({ site }, { onCleanup }): Promise<OutsideSite> => {
  const outside = await startOutsideSite(site);
  onCleanup(() => outside.stop());
  return outside;
});

let site: OutsideSite;
test.beforeEach(({ outside }) => {
  site = outside;
});
afterEach(() => site.wallet.behave("approve"));

const price = 50_000;
const pay = (page: Page) => page.getByRole("button", { name: /Pay and run/ }).click();
const dialog = (page: Page) => page.getByRole("dialog");
const resultOf = (page: Page) => page.locator("#result");

test("a call is paid from a Hedera wallet that scans the page's code; it stays connected over a reload, until it is told otherwise", async () => {
  const { page, complaints, close } = await open(site, site.summarizer);
  const before = await site.usdc();
  await page.locator("#wallet-name").getByText("WalletConnect (Hedera)").waitFor();
  expect(await page.getByRole("radio", { name: /Hedera testnet/ }).isChecked()).toBe(true);
  await pay(page);
  await scan(page, site.wallet);
  await resultOf(page).getByText("success").waitFor();
  await page.locator("#payment").getByText("settled", { exact: true }).waitFor();
  expect(before - (await site.usdc())).toBe(price);
  expect(await resultOf(page).textContent()).toContain("Paid 0.05 USDC. Nothing else is due.");
  await page.locator("#wallet-holds").getByText(site.accountId.slice(-6)).waitFor();

  await page.reload();
  site.wallet.behave("refuse to sign");
  await pay(page);
  await resultOf(page).getByText("You declined in the wallet.").waitFor();
  expect(await resultOf(page).textContent()).toContain("Nothing was charged.");
  site.wallet.behave("hold");
  await pay(page);
  await dialog(page).getByText("Test wallet shows what it signs.").waitFor();
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await resultOf(page).getByText("You stopped waiting for the wallet.").waitFor();
  expect(before - (await site.usdc())).toBe(price);

  await page.getByRole("button", { name: "Disconnect" }).click();
  await expect.poll(() => site.wallet.connected()).toBe(0);
  await page.locator("#wallet-holds").waitFor({ state: "hidden" });
  expect(complaints.filter((text) => !text.includes("status of 402"))).toEqual([]);
  await close();
});

test.runIf(isWhole)(
  "a wallet that declines, has no account there, or takes too long, is told of in words and tried again",
  async () => {
    const { page, complaints, close } = await open(site, "/docs");
    await page.clock.install();
    await page.goto(site.url + site.summarizer);
    site.wallet.behave("refuse to connect");
    await pay(page);
    await scan(page, site.wallet);
    await dialog(page).getByText("The wallet declined").waitFor();
    await expectAccessible(page, "a wallet that declined");
    site.wallet.behave("show another network");
    await dialog(page).getByRole("button", { name: "Try again" }).click();
    await scan(page, site.wallet);
    await dialog(page).getByText("The wallet showed no account on Hedera testnet.").waitFor();
    await expect.poll(() => site.wallet.connected()).toBe(0);
    await dialog(page).getByRole("button", { name: "Try again" }).click();
    await page.locator("#walletconnect-code svg").waitFor();
    await expectAccessible(page, "a code to scan");
    await page.setViewportSize({ width: 375, height: 800 });
    await page.emulateMedia({ colorScheme: "dark" });
    await expectAccessible(page, "a code to scan, dark");
    await expectNoSidewaysScrolling(page, "a code to scan");
    await page.clock.fastForward("05:30");
    await dialog(page).getByText("The code is no longer good").waitFor();
    await page.keyboard.press("Escape");
    await resultOf(page).getByText("You stopped waiting for the wallet.").waitFor();
    expect(complaints).toEqual([]);
    await close();
  },
);

test("a browser that tells late that the dialog was closed does not stop what is asked next", async () => {
  const { page, close } = await open(site, "/docs");
  await page.addInitScript(tellLateOfClosing);
  await page.goto(site.url + site.summarizer);
  await pay(page);
  await scan(page, site.wallet);
  await resultOf(page).getByText("success").waitFor();
  site.wallet.behave("hold");
  await pay(page);
  await dialog(page).getByText("Test wallet shows what it signs.").waitFor();
  await page.keyboard.press("Escape");
  await resultOf(page).getByText("You stopped waiting for the wallet.").waitFor();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await expect.poll(() => site.wallet.connected()).toBe(0);
  await close();
});

/** Runs in the page: a busy browser tells that a dialog was closed when it is open again already. */
function tellLateOfClosing(): void {
  const { showModal } = HTMLDialogElement.prototype;
  const told = new WeakSet<Event>();
  let tell = () => {};
  HTMLDialogElement.prototype.showModal = function () {
    showModal.call(this);
    tell();
  };
  const hold = (event: Event) => {
    if (told.has(event)) return;
    event.stopImmediatePropagation();
    const late = new Event("close");
    told.add(late);
    const { target } = event;
    tell = () => {
      tell = () => {};
      target?.dispatchEvent(late);
    };
    setTimeout(() => tell(), 2_000);
  };
  addEventListener("close", hold, { capture: true });
}

/** A page for payout wallets with the outside wallet connected, its account filled in. */
async function connectPayoutWallet(press: "click" | "dblclick" = "click") {
  const { page, close } = await open(site, "/sign-in");
  await signInWith(site, page, 0n);
  await page.goto(`${site.url}/settings/wallets`);
  await page.getByRole("radio", { name: /Hedera testnet/ }).check({ force: true });
  await page.getByRole("button", { name: "Take it from WalletConnect (Hedera)" })[press]();
  await scan(page, site.wallet);
  await expect.poll(() => page.getByLabel("Account", { exact: true }).inputValue()).toBe(site.accountId);
  return { page, close };
}

const disconnect = (page: Page) => page.getByRole("button", { name: "Disconnect" });

test("a button pressed twice asks the wallet once", async () => {
  const { page, close } = await connectPayoutWallet("dblclick");
  await dialog(page).waitFor({ state: "hidden" });
  expect(await page.locator("#take-said").textContent()).toBe("");
  await page.getByRole("button", { name: "Get the text to sign" }).click();
  const before = site.wallet.asked.length;
  await page.getByRole("button", { name: "Sign in WalletConnect (Hedera)" }).dblclick();
  await page.getByText("The wallet is checked. Your agents offer it").waitFor();
  expect(site.wallet.asked.length).toBe(before + 1);
  await site.wallet.leave();
  await close();
});

test("a wallet that ended the connection while the page was closed is connected anew", async () => {
  const { page, close } = await connectPayoutWallet();
  await page.getByRole("button", { name: "Get the text to sign" }).click();
  const sign = page.getByRole("button", { name: "Sign in WalletConnect (Hedera)" });
  await sign.waitFor();
  const address = page.url();
  await page.goto("about:blank");
  await site.wallet.leave();
  await page.goto(address);
  await sign.click();
  await page.locator("#sign-said").getByText("The wallet ended the connection. Press again to connect it.").waitFor();
  await sign.click();
  await scan(page, site.wallet);
  await page.getByText("The wallet is checked. Your agents offer it").waitFor();
  await site.wallet.leave();
  await close();
});

test("a connection that another page ends is over here, and one is over though nothing can be loaded", async () => {
  const { page, close } = await connectPayoutWallet();
  const other = await page.context().newPage();
  await other.goto(`${site.url}/settings/wallets`);
  await disconnect(other).click();
  await expect.poll(() => site.wallet.connected()).toBe(0);
  await disconnect(page).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Take it from WalletConnect (Hedera)" }).click();
  await scan(page, site.wallet);
  await disconnect(page).waitFor();

  await disconnect(other).waitFor();
  await other.reload();
  await other.route(/\.js/, (route) => route.abort());
  await disconnect(other).click();
  await disconnect(other).waitFor({ state: "hidden" });
  await disconnect(page).waitFor({ state: "hidden" });
  await site.wallet.leave();
  await close();
});

test.runIf(isWhole)("a relay that does not answer is told of, and nothing is charged", async () => {
  const { page, close } = await open(site, "/docs");
  let attempts = 0;
  await page.routeWebSocket(/^ws:/, (socket) => {
    attempts += 1;
    return socket.close();
  });
  await page.clock.install();
  await page.goto(site.url + site.summarizer);
  await pay(page);
  await dialog(page).getByText("A connection is made…").waitFor();
  await expect.poll(() => attempts).toBeGreaterThan(0);
  await page.clock.fastForward("00:20");
  await dialog(page).getByText("WalletConnect’s relay does not answer.").waitFor();
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await resultOf(page).getByText("Nothing was charged.").waitFor();
  await close();
});

test.runIf(isWhole)("a payout wallet is proved, and credits are bought, from the same wallet", async () => {
  const { page, complaints, close } = await open(site, "/sign-in");
  await signInWith(site, page, 0n);
  await page.goto(`${site.url}/settings/wallets`);
  await page.getByRole("radio", { name: /Hedera testnet/ }).check({ force: true });
  await page.getByRole("button", { name: "Take it from WalletConnect (Hedera)" }).click();
  await scan(page, site.wallet);
  await expect.poll(() => page.getByLabel("Account", { exact: true }).inputValue()).toBe(site.accountId);
  await page.getByRole("button", { name: "Get the text to sign" }).click();
  await page.getByRole("button", { name: "Sign in WalletConnect (Hedera)" }).click();
  await page.getByText("The wallet is checked. Your agents offer it").waitFor();

  const before = await site.usdc();
  await page.goto(`${site.url}/settings/credits`);
  await page.getByLabel("Another amount").fill("7");
  await page.getByRole("button", { name: /^Pay/ }).click();
  await page.locator("#purchase").getByText("credited", { exact: true }).waitFor();
  await expect.poll(() => page.locator("#balance-now").textContent()).toBe("7");
  expect(before - (await site.usdc())).toBe(70_000);
  expect(complaints.filter((text) => !text.includes("status of 402"))).toEqual([]);
  await site.wallet.leave();
  await page.locator("#wallet-holds").waitFor({ state: "hidden" });
  await close();
});
