import type { Page, Request } from "playwright-core";
import { afterEach, describe, expect } from "vitest";
import { demoAgents } from "../../infra/dev/demo-agents.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { logo, picture, png } from "../marketplace/tracer/pictures.ts";
import { afterFrames, expectAccessible, open } from "./browser.ts";
import { announcePoorWallet, type PaidSite, signInWith, test } from "./paid-site.ts";

let site: PaidSite;
test.beforeAll(({ site: paidSite }) => {
  site = paidSite;
}, 120_000);
// The site is that of other files, too.
afterEach(() => {
  site.model.clearFaults();
  site.paid.toFacilitator.behave(() => "pass");
});

const price = 50_000n;
const summarizer = () => demoAgents({ demoService: site.model.url, demoTools: site.model.url }).summarizer as object;
const resultOf = (page: Page) => page.locator("#result");

async function chooseNetwork(page: Page, chain: "evm" | "hedera"): Promise<void> {
  await page.locator("#wallet-name").getByText("Demo wallet").waitFor();
  await page.getByRole("radio", { name: chain === "evm" ? /Base Sepolia/ : /Hedera testnet/ }).check({ force: true });
}

const pay = (page: Page) => page.getByRole("button", { name: /Pay and run/ }).click();

describe.each(["evm", "hedera"] as const)("a call paid from the page on %s", (chain) => {
  test("shows the steps of the payment, the result and what was paid, and charges once", async () => {
    const { page, complaints, close } = await open(site, site.summarizer);
    const before = await site.usdcOf(chain);
    await page.getByLabel("Text", { exact: true }).fill("Ünïcode ‘quotes’ & <b>tags</b>");
    await chooseNetwork(page, chain);
    await pay(page);
    await resultOf(page).getByText("success").waitFor();
    await page.locator("#payment").getByText("settled", { exact: true }).waitFor();
    expect(await page.locator("#payment .rail li.is-end").textContent()).toContain("Settled");
    expect(await resultOf(page).textContent()).toContain("Paid 0.05 USDC. Nothing else is due.");
    expect(before - (await site.usdcOf(chain))).toBe(price);
    await expectAccessible(page, `the result, ${chain}`);
    await page.emulateMedia({ colorScheme: "dark" });
    await expectAccessible(page, `the result, ${chain}, dark`);
    // The quote is a 402, which the browser notes.
    expect(complaints.filter((text) => !text.includes("status of 402"))).toEqual([]);
    const kept = () => Object.keys(sessionStorage).filter((key) => key.startsWith("under way"));
    await expect.poll(() => page.evaluate(kept)).toEqual([]);
    await close();
  });

  test("is charged once and shows its result although the page was reloaded before the answer", async () => {
    const { page, close } = await open(site, site.summarizer);
    const before = await site.usdcOf(chain);
    site.model.injectFault({ delayMs: 600_000 });
    await page.getByLabel("Text", { exact: true }).fill("Reloaded meanwhile.");
    await chooseNetwork(page, chain);
    await pay(page);
    await page.locator("#payment").getByText("running", { exact: true }).waitFor();
    await page.reload();
    expect(await page.getByLabel("Text", { exact: true }).inputValue()).toBe("Reloaded meanwhile.");
    site.model.answerHeld();
    await resultOf(page).getByText("found again, not paid twice").waitFor();
    expect(before - (await site.usdcOf(chain))).toBe(price);
    // What is here stays in the tab, though the payment buys it no second time.
    await page.reload();
    await resultOf(page).getByText("success").waitFor();
    await close();
  });
});

test("a wallet that this page may see tells its account and balance, and what it lacks before anything is signed", async () => {
  const { page, close } = await open(site, "/docs");
  const holder = await announcePoorWallet(page, 40_000);
  await page.goto(site.url + site.summarizer);
  await page.getByRole("combobox", { name: "Wallet" }).selectOption("A poor wallet");
  await page.locator("#wallet-holds").getByText("0.04 USDC").waitFor();
  expect(await page.locator("#wallet-holds").textContent()).toContain(holder.slice(0, 6));
  await page.getByText("This wallet has too little USDC on this network").waitFor();
  await expectAccessible(page, "a wallet that has too little");
  await page.getByRole("combobox", { name: "Wallet" }).selectOption("Demo wallet");
  await page.locator("#wallet-short").waitFor({ state: "hidden" });
  await close();
});

test("what a wallet says late changes nothing that was chosen meanwhile", async () => {
  const { page, close } = await open(site, "/docs");
  await page.addInitScript(() => {
    const late = new Promise((_resolve, reject) => Reflect.set(globalThis, "answer", () => reject({ code: 4200 })));
    const provider = { request: ({ method }: { method: string }) => (method === "eth_accounts" ? [] : late) };
    const detail = { info: { uuid: "late", name: "A late wallet", icon: "data:,", rdns: "late" }, provider };
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    addEventListener("eip6963:requestProvider", announce);
  });
  await page.goto(site.url + site.summarizer);
  const wallet = page.getByRole("combobox", { name: "Wallet" });
  const [base, hedera] = [/Base Sepolia/, /Hedera testnet/].map((name) => page.getByRole("radio", { name }));
  await wallet.selectOption("A late wallet");
  await hedera!.check({ force: true });
  await base!.check({ force: true });
  await page.evaluate(() => Reflect.get(globalThis, "answer")());
  await afterFrames(page);
  expect(await wallet.locator("option:checked").textContent()).toBe("A late wallet");
  expect(await base!.isChecked()).toBe(true);
  expect(await page.getByRole("button", { name: /Pay and run/ }).isEnabled()).toBe(true);
  await close();
});

test("a picture that a wallet pays for in the workbench is charged once, shows how the payment went, and is had after a reload", async () => {
  const { page, complaints, close } = await open(site, "/svg");
  const before = await site.usdcOf("evm");
  const buffer = await png(picture(200, 150, logo));
  await page.setInputFiles("input[type=file]", { name: "logo.png", mimeType: "image/png", buffer });
  await page.getByRole("img", { name: "The drawing" }).waitFor();
  await page.getByText("Without an account: by wallet").click();
  await chooseNetwork(page, "evm");
  const { toFacilitator } = site.paid;
  toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  await page.getByRole("button", { name: /Pay and trace/ }).click();
  await page.locator("#payment").getByText("settled", { exact: true }).waitFor();
  await page.reload();
  toFacilitator.behave(() => "pass");
  await page.getByText(/Traced in .* for 0.01 USDC/).waitFor();
  await page.locator("#payment").getByText("settled", { exact: true }).waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(10_000n);
  await expectAccessible(page, "the workbench, paid");
  expect(complaints.filter((text) => !/status of (402|503)/.test(text))).toEqual([]);
  await close();
});

/** The workbench with a traced preview, and its part for wallets open. */
async function openBench() {
  const opened = await open(site, "/svg");
  const { page } = opened;
  const buffer = await png(picture(200, 150, logo));
  await page.setInputFiles("input[type=file]", { name: "logo.png", mimeType: "image/png", buffer });
  await page.getByRole("img", { name: "The drawing" }).waitFor();
  await page.getByText("Without an account: by wallet").click();
  await chooseNetwork(page, "evm");
  const before = await site.usdcOf("evm");
  const pressPay = () => page.getByRole("button", { name: /Pay and trace/ }).click();
  return { ...opened, pressPay, spent: async () => before - (await site.usdcOf("evm")) };
}

const isPaid = (request: Request) => "payment-signature" in request.headers();

test("where the service is not reached when the workbench asks for its price, the page says so, and the next press pays", async () => {
  const { page, pressPay, spent, close } = await openBench();
  await page.route("**/api/x402/svg-vectorize", (route) => route.abort());
  await pressPay();
  await page.getByText("The service cannot be reached from here.").waitFor();
  await page.unroute("**/api/x402/svg-vectorize");
  await pressPay();
  await page.getByText(/Traced in .* for 0.01 USDC/).waitFor();
  expect(await spent()).toBe(10_000n);
  await close();
});

test("a drawing that is paid for is shown although the page does not learn how its payment went", async () => {
  const { page, pressPay, spent, close } = await openBench();
  // Never answered.
  await page.route("**/api/payments?*", () => {});
  await pressPay();
  await page.getByText(/Traced in .* for 0.01 USDC/).waitFor();
  expect(await spent()).toBe(10_000n);
  await close();
});

test("another press while a wallet's drawing is being made posts the payment no second time", async () => {
  const { page, pressPay, spent, close } = await openBench();
  let posts = 0;
  let goOn = () => {};
  const pressedAgain = new Promise<void>((resolve) => (goOn = resolve));
  await page.route("**/api/x402/svg-vectorize", async (route) => {
    if (!isPaid(route.request())) return route.continue();
    posts += 1;
    await pressedAgain;
    return route.continue();
  });
  await pressPay();
  await expect.poll(() => posts).toBe(1);
  for (let n = 0; n < 2; n += 1) await page.getByRole("button", { name: /Pay and trace/ }).dispatchEvent("click");
  goOn();
  await page.getByText(/Traced in .* for 0.01 USDC/).waitFor();
  expect(posts).toBe(1);
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(await spent()).toBe(10_000n);
  await close();
});

test("a drawing that is paid for and cannot be read is told after a few posts, and the same payment fetches it from a page that offers no wallets", async () => {
  const { page, pressPay, spent, close } = await openBench();
  let posts = 0;
  await page.route("**/api/x402/svg-vectorize", (route) => {
    if (!isPaid(route.request())) return route.continue();
    posts += 1;
    const json = { error: "The drawing is stored, and cannot be read at the moment.", charged: true };
    return route.fulfill({ status: 503, headers: { "retry-after": "1" }, json });
  });
  await pressPay();
  await page.getByText("Press again: it is drawn without another payment.").waitFor();
  expect(posts).toBe(3);
  await page.unroute("**/api/x402/svg-vectorize");
  // As it is made while the facilitator does not say what it can settle.
  await page.route("**/svg", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replaceAll('data-run="wallet"', "");
    return route.fulfill({ response: answer, body });
  });
  await page.reload();
  await page.getByText(/Traced in .* for 0.01 USDC/).waitFor();
  expect(await spent()).toBe(10_000n);
  await close();
});

test("a payment whose end nobody has seen is shown as unknown, with the time until which it can land, and its result is had later", async () => {
  const { page, close } = await open(site, site.summarizer);
  const before = await site.usdcOf("evm");
  const { toFacilitator } = site.paid;
  toFacilitator.behave((path) => {
    if (path === "/settle") return "lose-answer";
    return path.startsWith("/payments") ? "lose-call" : "pass";
  });
  await chooseNetwork(page, "evm");
  await pay(page);
  const payment = page.locator("#payment");
  await payment.getByText("Do not pay again.").waitFor();
  expect(await payment.locator(".badge-maybe").textContent()).toBe("unknown");
  expect(await payment.textContent()).toMatch(/It can still land until \d\d:\d\d:\d\d UTC/);
  expect(await payment.locator(".is-bad").count()).toBe(0);
  toFacilitator.behave(() => "pass");
  await resultOf(page).getByText("found again, not paid twice").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("a payment that is kept is posted again before another is signed", async () => {
  const { page, close } = await open(site, site.summarizer);
  const before = await site.usdcOf("evm");
  await chooseNetwork(page, "evm");
  site.model.injectFault({ delayMs: 600_000 });
  await pay(page);
  await page.locator("#payment").getByText("running", { exact: true }).waitFor();
  const underWay = () => Object.entries(sessionStorage).find(([key]) => key.startsWith("under way"));
  const [key, kept] = (await page.evaluate(underWay)) ?? [];
  site.model.answerHeld();
  await resultOf(page).getByText("success").waitFor();
  await expect.poll(() => page.evaluate(underWay)).toBeUndefined();
  // As it is when the answer was lost and the page gave up asking.
  await page.evaluate(([at, text]) => sessionStorage.setItem(String(at), String(text)), [key, kept]);
  await pay(page);
  await resultOf(page).getByText("This payment was used already").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test.each([
  [{ code: 4001, message: "User rejected the request." }, "You declined in the wallet."],
  [{ code: 4902, message: "Unrecognized chain ID." }, "The wallet does not know this network."],
  [{ code: -32_002, message: "Already processing." }, "The wallet still waits for your answer"],
])("what a wallet answers instead of signing is told in words: %j", async (thrown, said) => {
  const { page, close } = await open(site, "/docs");
  await page.addInitScript((answer) => {
    const provider = { request: ({ method }: { method: string }) => answer[method] ?? Promise.reject(answer.error) };
    const detail = { info: { uuid: "odd", name: "An odd wallet", icon: "data:,", rdns: "odd" }, provider };
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    addEventListener("eip6963:requestProvider", announce);
  }, answersOf(thrown));
  await page.goto(site.url + site.summarizer);
  await page.getByRole("combobox", { name: "Wallet" }).selectOption("An odd wallet");
  await pay(page);
  await resultOf(page).getByText(said).waitFor();
  expect(await resultOf(page).textContent()).toContain("Nothing was charged.");
  await close();
});

const answersOf = (error: object): Record<string, unknown> => ({
  eth_accounts: [],
  eth_requestAccounts: [`0x${"7e".repeat(20)}`],
  eth_chainId: "0x1",
  error,
});

test("a service that is not reached is told in words, and nothing was charged", async () => {
  const { page, context, close } = await open(site, site.summarizer);
  await chooseNetwork(page, "evm");
  await context.setOffline(true);
  await pay(page);
  await resultOf(page).getByText("The service cannot be reached from here.").waitFor();
  expect(await resultOf(page).textContent()).toContain("Nothing was charged.");
  await close();
});

test("a run that fails costs nothing, and says so", async () => {
  const { page, close } = await open(site, site.summarizer);
  const before = await site.usdcOf("evm");
  site.model.injectFault({ status: 500 });
  await chooseNetwork(page, "evm");
  await pay(page);
  await resultOf(page).getByText("The agent failed").waitFor();
  expect(await resultOf(page).textContent()).toContain("Nothing was charged.");
  expect(await page.locator("#payment .rail").textContent()).toContain("Run failed");
  expect(await site.usdcOf("evm")).toBe(before);
  await close();
});

test("a price that rose is asked about first, by wallet and by credits; refusing charges nothing", async () => {
  const { page, close } = await open(site, site.summarizer);
  await signInWith(site, page, 100n);
  await page.reload();
  await page.locator("#wallet-name").getByText("Demo wallet").waitFor({ state: "attached" });
  await publishAgent(site.context, site.market.creator, "summarizer", { ...summarizer(), price_credits: 6 });
  try {
    const before = await site.usdcOf("evm");
    await page.locator("#by-wallet").check({ force: true });
    await pay(page);
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The price rose from 5 to 6 credits").waitFor();
    await expectAccessible(page, "the dialog of a price that rose");
    await page.keyboard.press("Escape");
    await resultOf(page).getByText("Nothing was charged.").waitFor();
    expect(await site.usdcOf("evm")).toBe(before);
    await page.locator("#by-credits").check({ force: true });
    await page.getByRole("button", { name: /^Run/ }).click();
    await dialog.getByRole("button", { name: "Agree and run" }).click();
    await resultOf(page).getByText("success").waitFor();
    expect(await resultOf(page).textContent()).toContain("Paid 6 credits. 94 credits left.");
  } finally {
    await publishAgent(site.context, site.market.creator, "summarizer", summarizer());
  }
  await close();
});

test("everything is done from the keyboard: input, way to pay, run", async () => {
  const { page, close } = await open(site, site.summarizer);
  await signInWith(site, page, 10n);
  await page.reload();
  await page.getByLabel("Text", { exact: true }).focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Typed by hand.");
  await page.locator("#by-credits").focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await resultOf(page).getByText("success").waitFor();
  expect(await resultOf(page).textContent()).toContain("5 credits left");
  await close();
});

test("what the server refuses stands beside its field, and switching the way to pay keeps the input", async () => {
  const { page, close } = await open(site, site.summarizer);
  await signInWith(site, page, 10n);
  await page.reload();
  const text = page.getByLabel("Text", { exact: true });
  await text.evaluate((area) => area.removeAttribute("maxlength"));
  await text.fill("x".repeat(8_001));
  await page.locator("#by-terminal").check({ force: true });
  expect(await page.locator("#terminal-1").textContent()).toContain("x".repeat(8_001));
  await page.locator("#by-credits").check({ force: true });
  expect((await text.inputValue()).length).toBe(8_001);
  await page.getByRole("button", { name: /^Run/ }).click();
  await page.locator("#in-text-error").getByText("must have at most 8000 characters").waitFor();
  expect(await text.getAttribute("aria-invalid")).toBe("true");
  await close();
});

test("with Terminal chosen, Run spends no credits: it leads to the program", async () => {
  const { page, close } = await open(site, site.summarizer, { viewport: { width: 375, height: 700 } });
  await signInWith(site, page, 10n);
  await page.reload();
  const posted: string[] = [];
  page.on("request", (request) => request.method() === "POST" && posted.push(request.url()));
  await page.locator("#by-terminal").check({ force: true });
  await page.evaluate(() => scrollTo(0, 0));
  await page.locator(".run-bar").getByRole("button", { name: "Run" }).click();
  await page.waitForFunction(() => scrollY > 0);
  await page.locator("#by-credits").check({ force: true });
  await page.getByRole("button", { name: /^Run/ }).first().click();
  await resultOf(page).getByText("success").waitFor();
  expect(posted).toHaveLength(1);
  await close();
});

describe("without JavaScript", () => {
  const withoutScripts = { javaScriptEnabled: false };

  test("a free agent runs by its form", async () => {
    const { page, close } = await open(site, site.greeter, withoutScripts);
    await page.getByLabel("Your name").fill("Ada");
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.locator("#result").getByText("success").waitFor();
    expect(await page.getByLabel("Your name").inputValue()).toBe("Ada");
    await close();
  });

  test("a signed-in visitor runs with credits by the form, and a wrong value is named beside its field", async () => {
    const { page, close } = await open(site, site.summarizer, withoutScripts);
    await signInWith(site, page, 10n);
    await page.reload();
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.locator("#result").getByText("Paid 5 credits. 5 credits left.").waitFor();
    await close();
  });
});
