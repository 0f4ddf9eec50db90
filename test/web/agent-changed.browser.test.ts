import type { Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import { demoAgents } from "../../infra/dev/demo-agents.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { open } from "./browser.ts";
import { type PaidSite, test } from "./paid-site.ts";

/** What the agent's page makes of an agent, or a wallet, that is another than when the page was loaded. */
let site: PaidSite;
test.beforeAll(({ site: paidSite }) => {
  site = paidSite;
}, 120_000);
// The site is that of other files, too.
afterEach(() => sellFor(undefined));

const resultOf = (page: Page) => page.locator("#result");
const pay = (page: Page) => page.getByRole("button", { name: /Pay and run/ }).click();
const keptPayments = (page: Page) =>
  page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("under way")));

/** The agent's price in credits; undefined for its usual one. */
async function sellFor(price: number | undefined): Promise<void> {
  const { summarizer } = demoAgents({ demoService: site.model.url, demoTools: site.model.url });
  const definition = { ...(summarizer as object), ...(price !== undefined && { price_credits: price }) };
  await publishAgent(site.context, site.market.creator, "summarizer", definition);
}

async function atAgent() {
  const opened = await open(site, site.summarizer);
  await opened.page.locator("#wallet-name").getByText("Demo wallet").waitFor();
  await opened.page.getByRole("radio", { name: /Base Sepolia/ }).check({ force: true });
  return opened;
}

test("an agent that became free since the page was loaded gives its result, and no wallet is asked", async () => {
  const { page, close } = await atAgent();
  const before = await site.usdcOf("evm");
  await sellFor(0);
  await pay(page);
  await resultOf(page).getByText("It is free by now: nothing was charged.").waitFor();
  expect(await resultOf(page).textContent()).toContain("success");
  expect(await page.locator("#payment").count()).toBe(0);
  expect(await site.usdcOf("evm")).toBe(before);
  await close();
});

test("an agent that became free once the payment was signed is not said to be paid", async () => {
  const { page, close } = await atAgent();
  const before = await site.usdcOf("evm");
  await page.route("**/api/agent/**", async (route) => {
    if (route.request().headers()["payment-signature"]) await sellFor(0);
    return route.continue();
  });
  await pay(page);
  await resultOf(page).getByText("It is free by now: nothing was charged.").waitFor();
  expect(await resultOf(page).textContent()).not.toContain("Paid");
  await expect.poll(() => page.locator("#payment").count()).toBe(0);
  expect(await keptPayments(page)).toEqual([]);
  expect(await site.usdcOf("evm")).toBe(before);
  await close();
});

test("a wallet is not asked to pay another account than the page names", async () => {
  const before = await site.usdcOf("evm");
  const { rows } = await site.context.db.query<{ address: string }>(
    "select address from payout_wallets where network = 'eip155:84532' and state = 'checked'",
  );
  const [{ address = "" } = {}] = rows;
  // Its end stands by itself on the page.
  const [begin, end] = [address.slice(0, -6), address.slice(-6)];
  const other = `0x${"ab".repeat(17)}`;
  const { page, close } = await open(site, "/docs");
  // As it was when the creator had another wallet.
  await page.route(`**${site.summarizer}`, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replaceAll(new RegExp(begin, "gi"), other);
    return route.fulfill({ response: answer, body });
  });
  await page.goto(site.url + site.summarizer);
  await page.locator("#wallet-name").getByText("Demo wallet").waitFor();
  await page.getByRole("radio", { name: /Base Sepolia/ }).check({ force: true });
  expect(await page.locator("[data-payee]:visible").textContent()).toContain(other);
  await pay(page);
  await resultOf(page).getByText("It is paid to another account by now").waitFor();
  expect(await resultOf(page).textContent()).toMatch(new RegExp(`and not to ${other}${end}`, "i"));
  expect(await resultOf(page).textContent()).toContain("Nothing was charged.");
  expect(await site.usdcOf("evm")).toBe(before);
  await close();
});

test("the account and balance that are shown follow what is chosen in the wallet", async () => {
  const { page, close } = await open(site, "/docs");
  await page.addInitScript(() => {
    const accounts = [`0x${"7e".repeat(20)}`, `0x${"8f".repeat(20)}`];
    const listeners: Array<() => void> = [];
    const inHex = (units: number) => `0x${units.toString(16).padStart(64, "0")}`;
    const answers: Readonly<Record<string, () => unknown>> = {
      eth_accounts: () => accounts.slice(0, 1),
      eth_chainId: () => "0x14a34",
      eth_call: () => inHex(accounts[0]?.startsWith("0x7e") ? 100_000 : 40_000),
    };
    const provider = {
      on: (event: string, listener: () => void) => event === "accountsChanged" && listeners.push(listener),
      request: async ({ method }: { method: string }) => answers[method]?.() ?? Promise.reject({ code: 4200 }),
    };
    const detail = { info: { uuid: "two", name: "A wallet of two", icon: "data:,", rdns: "two" }, provider };
    addEventListener("eip6963:requestProvider", () =>
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })),
    );
    const change = () => {
      accounts.reverse();
      for (const listener of listeners) listener();
    };
    Object.assign(globalThis, { change });
  });
  await page.goto(site.url + site.summarizer);
  await page.getByRole("combobox", { name: "Wallet" }).selectOption("A wallet of two");
  const holds = page.locator("#wallet-holds");
  await holds.getByText("0.10 USDC").waitFor();
  await page.evaluate(() => Reflect.get(globalThis, "change")());
  await holds.getByText("0.04 USDC").waitFor();
  expect(await holds.textContent()).toContain("0x8f8f");
  await page.getByText("This wallet has too little USDC on this network").waitFor();
  await close();
});

test("a wallet that has another account on another network is asked to sign for that one", async () => {
  const { page, close } = await open(site, "/docs");
  await page.addInitScript(() => {
    const signed: unknown[] = [];
    let chain = "0x1";
    const accounts = () => [`0x${(chain === "0x1" ? "7e" : "8f").repeat(20)}`];
    const provider = {
      request: async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
        if (method === "eth_accounts" || method === "eth_requestAccounts") return accounts();
        if (method === "eth_chainId") return chain;
        if (method === "wallet_switchEthereumChain") {
          chain = "0x14a34";
          return null;
        }
        if (method === "eth_signTypedData_v4") signed.push(params[0], JSON.parse(String(params[1])).message.from);
        throw { code: 4001 };
      },
    };
    const detail = { info: { uuid: "many", name: "A wallet of many", icon: "data:,", rdns: "many" }, provider };
    addEventListener("eip6963:requestProvider", () =>
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })),
    );
    Object.assign(globalThis, { signed });
  });
  await page.goto(site.url + site.summarizer);
  await page.getByRole("combobox", { name: "Wallet" }).selectOption("A wallet of many");
  await page.getByRole("radio", { name: /Base Sepolia/ }).check({ force: true });
  await pay(page);
  await resultOf(page).getByText("You declined in the wallet.").waitFor();
  const there = `0x${"8f".repeat(20)}`;
  expect(await page.evaluate(() => Reflect.get(globalThis, "signed"))).toEqual([there, there]);
  await close();
});

test("a wallet that throws at whatever it is asked keeps no other one from being chosen", async () => {
  const { page, close } = await open(site, "/docs");
  await page.addInitScript(() => {
    const provider = {
      request: () => {
        throw new Error("Not today.");
      },
    };
    const detail = { info: { uuid: "broken", name: "A broken wallet", icon: "data:,", rdns: "broken" }, provider };
    addEventListener("eip6963:requestProvider", () =>
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })),
    );
  });
  await page.goto(site.url + site.summarizer);
  const wallet = page.getByRole("combobox", { name: "Wallet" });
  await wallet.locator("option", { hasText: "Demo wallet" }).waitFor({ state: "attached" });
  await wallet.selectOption("A broken wallet");
  await page.getByRole("radio", { name: /Base Sepolia/ }).check({ force: true });
  await page.getByRole("radio", { name: /Hedera testnet/ }).check({ force: true });
  await expect.poll(() => wallet.locator("option:checked").textContent()).toBe("Demo wallet");
  await pay(page);
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  await close();
});
