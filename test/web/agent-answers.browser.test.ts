import type { Page, Route } from "playwright-core";
import { afterEach, expect } from "vitest";
import { demoAgents } from "../../infra/dev/demo-agents.ts";
import { renameAccount } from "../../marketplace/accounts/rename.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { expectAccessible, expectNoSidewaysScrolling, open } from "./browser.ts";
import { announcePoorWallet, type PaidSite, signInWith, test } from "./paid-site.ts";

/** What the agent's page makes of answers that are not the service's last word, or not its word at all. */
let site: PaidSite;
test.beforeAll(({ site: paidSite }) => {
  site = paidSite;
}, 120_000);
// The site is that of other files, too.
afterEach(() => site.model.clearFaults());

const price = 50_000n;
const resultOf = (page: Page) => page.locator("#result");
const textOf = (page: Page) => page.getByLabel("Text", { exact: true });
const pay = (page: Page) => page.getByRole("button", { name: /Pay and run/ }).click();
const runAgain = (page: Page) => page.getByRole("button", { name: "Run again without paying" });

async function atAgent(credits = 0n) {
  const opened = await open(site, "/docs");
  if (credits > 0n) await signInWith(site, opened.page, credits);
  await opened.page.goto(site.url + site.summarizer);
  return opened;
}

async function runWithCredits(page: Page): Promise<void> {
  await page.locator("#by-credits").check({ force: true });
  await page.getByRole("button", { name: /^Run 5 credits/ }).click();
}

async function payOnBase(page: Page): Promise<void> {
  await page.locator("#wallet-name").getByText("Demo wallet").waitFor({ state: "attached" });
  const byWallet = page.locator("#by-wallet");
  if ((await byWallet.count()) > 0) await byWallet.check({ force: true });
  await page.getByRole("radio", { name: /Base Sepolia/ }).check({ force: true });
  await pay(page);
}

/** Answers the next paid call instead of the service. */
const answerPaid = (page: Page, status: number, json: object) =>
  page.route(
    "**/api/agent/**",
    (route) => (route.request().headers()["payment-signature"] ? route.fulfill({ status, json }) : route.fallback()),
    { times: 2 },
  );
const failed = { success: false, error: "The agent failed.", charged: true, advice: "The payment stays good." };

test("Reset to example gives the example also where the page came with the input of a run", async () => {
  const { page, close } = await atAgent(10n);
  const example = await textOf(page).inputValue();
  await textOf(page).fill("A story of mine.");
  const [answer] = await Promise.all([page.waitForResponse("**/api/account/run"), runWithCredits(page)]);
  const { run_id } = await answer.json();
  await page.goto(`${site.url + site.summarizer}?run=${run_id}`);
  expect(await textOf(page).inputValue()).toBe("A story of mine.");
  await page.getByRole("link", { name: "Reset to example" }).click();
  await expect.poll(() => textOf(page).inputValue()).toBe(example);
  await close();
});

test("a run with credits whose answer a proxy replaced is asked for again by its name, and charged once", async () => {
  const { page, close } = await atAgent(10n);
  const lose = async (route: Route) => {
    await route.fetch();
    await route.fulfill({ status: 502, contentType: "text/html", body: "<h1>502 Bad Gateway</h1>" });
  };
  await page.route("**/api/account/run", lose, { times: 1 });
  await runWithCredits(page);
  await resultOf(page).getByText("Paid 5 credits. 5 credits left.").waitFor();
  await close();
});

test.each(["running", "succeeded"])(
  "a run with credits whose chain had not told yet, by now %s, is not said to cost nothing, and no second is begun beside it",
  async (state) => {
    const { page, close } = await atAgent(10n);
    const names: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/api/account/run")) names.push(request.headers()["idempotency-key"] ?? "");
    });
    const unknown = { success: false, run_id: "run_x", credits_used: 0, error: "It is not known yet." };
    await page.route("**/api/account/run", (route) => route.fulfill({ json: unknown }), { times: 1 });
    await page.route("**/api/account/runs/run_x", (route) => route.fulfill({ json: { state } }));
    await runWithCredits(page);
    await resultOf(page).getByText("Not known yet").waitFor();
    expect(await resultOf(page).textContent()).not.toContain("Nothing was charged");
    await textOf(page).fill("Something else.");
    await runWithCredits(page);
    await resultOf(page).getByText("Paid 5 credits. 5 credits left.").waitFor();
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(1);
    await close();
  },
);

test("a run with credits whose result is no longer kept is not said to cost nothing", async () => {
  const { page, close } = await atAgent(10n);
  const json = { error: "The run succeeded; its output is no longer kept.", charged: true };
  await page.route("**/api/account/run", (route) => route.fulfill({ status: 410, json }), { times: 1 });
  await runWithCredits(page);
  await resultOf(page).getByText("It was charged once, when it ran.").waitFor();
  expect(await resultOf(page).textContent()).not.toContain("Nothing was charged");
  await close();
});

test("a long list in a result is shown in part", async () => {
  const { page, close } = await atAgent(10n);
  const data = Array.from({ length: 100_000 }, (_, at) => at);
  const answer = { success: true, run_id: "run_x", credits_used: 5, credits_remaining: 5, receipt: null };
  await page.route("**/api/account/run", (route) =>
    route.fulfill({ json: { ...answer, output: { kind: "json", data } } }),
  );
  await runWithCredits(page);
  await resultOf(page).getByText("Paid 5 credits. 5 credits left.").waitFor();
  expect(await resultOf(page).locator(".tree li").count()).toBeLessThan(2_100);
  await close();
});

test("a payment whose first post was lost is kept when a later post is refused and nothing was seen of it yet", async () => {
  const { page, close } = await atAgent();
  const before = await site.usdcOf("evm");
  let posts = 0;
  await page.route("**/api/agent/**", (route) => {
    if (!route.request().headers()["payment-signature"]) return route.fallback();
    posts += 1;
    if (posts > 2) return route.fallback();
    return posts === 1
      ? route.abort()
      : route.fulfill({ status: 404, json: { success: false, error: "There is no such agent." } });
  });
  await payOnBase(page);
  await resultOf(page).getByText("This payment is not over").waitFor();
  expect(await resultOf(page).textContent()).not.toContain("Nothing was charged");
  await page.getByRole("button", { name: "Ask again" }).click();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("a payment whose first post was lost is kept by a device whose clock is an hour ahead, too", async () => {
  const { page, close } = await open(site, "/docs");
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await page.goto(site.url + site.summarizer);
  let posts = 0;
  await page.route("**/api/agent/**", (route) => {
    if (!route.request().headers()["payment-signature"]) return route.fallback();
    posts += 1;
    if (posts === 1) return route.abort();
    return route.fulfill({ status: 404, json: { success: false, error: "There is no such agent." } });
  });
  await payOnBase(page);
  await resultOf(page).getByText("This payment is not over").waitFor();
  expect(await resultOf(page).textContent()).not.toContain("Nothing was charged");
  await close();
});

test("a payment is posted again after a pause, whatever form Retry-After has", async () => {
  const { page, close } = await atAgent();
  const posted: number[] = [];
  await page.route("**/api/agent/**", (route) => {
    if (!route.request().headers()["payment-signature"] || posted.push(Date.now()) > 2) return route.fallback();
    const headers = { "retry-after": new Date(Date.now() + 60_000).toUTCString() };
    return route.fulfill({ status: 503, headers, body: "Maintenance." });
  });
  await payOnBase(page);
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(posted).toHaveLength(3);
  expect(posted[1]! - posted[0]!).toBeGreaterThan(900);
  await close();
});

test("what the browser has no room to keep with its payment is not signed", async () => {
  const { page, close } = await atAgent();
  await textOf(page).fill('"'.repeat(8_000));
  // Room for what is posted, and not for the form's values beside it.
  await page.evaluate(() => {
    const room = "y".repeat(37_000);
    sessionStorage.setItem("room", room);
    for (let size = 4_194_304, at = 0; size >= 64; at += 1) {
      try {
        sessionStorage.setItem(`full ${at}`, "z".repeat(size));
      } catch {
        size /= 2;
      }
    }
    sessionStorage.removeItem("room");
  });
  await payOnBase(page);
  await resultOf(page).getByText("This is too large to be paid for here").waitFor();
  await close();
});

/** Leaves the page with a settled payment that is good for another run. */
async function payForFailedRun(page: Page): Promise<void> {
  await answerPaid(page, 500, failed);
  await payOnBase(page);
  await runAgain(page).waitFor();
  await page.unroute("**/api/agent/**");
}

test("a payment that is good for another run keeps the input it was last posted with through a reload", async () => {
  const { page, close } = await atAgent();
  const before = await site.usdcOf("evm");
  await payForFailedRun(page);
  await textOf(page).fill("Corrected.");
  site.model.injectFault({ delayMs: 600_000 });
  const asked = site.model.asked();
  await runAgain(page).click();
  await expect.poll(() => site.model.asked()).toBeGreaterThan(asked);
  await page.reload();
  expect(await textOf(page).inputValue()).toBe("Corrected.");
  site.model.answerHeld();
  await resultOf(page).getByText("success").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("a payment that is good for another run is posted by a press alone, and outlasts a run with credits", async () => {
  const { page, close } = await atAgent(10n);
  await payForFailedRun(page);
  await runWithCredits(page);
  await resultOf(page).getByText("Paid 5 credits. 5 credits left.").waitFor();
  const before = await site.usdcOf("evm");
  await page.reload();
  await runAgain(page).waitFor();
  expect(await site.usdcOf("evm")).toBe(before);
  await runAgain(page).click();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("a refusal of a payment that has settled, or may, is not taken for one that charged nothing", async () => {
  const { page, close } = await atAgent();
  const before = await site.usdcOf("evm");
  await answerPaid(page, 402, { error: "wallet_proof_required: this payment was settled by another transaction" });
  const settled = { network: "eip155:84532", state: "settled", ran: false, delivered: false, settled_at: null };
  await page.route("**/api/payments?*", (route) => route.fulfill({ json: settled }));
  await payOnBase(page);
  await resultOf(page).getByText("This payment is not over").waitFor();
  expect(await resultOf(page).textContent()).not.toContain("Nothing was charged");
  await page.unroute("**/api/agent/**");
  await page.unroute("**/api/payments?*");
  await page.getByRole("button", { name: "Ask again" }).click();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("a paid result is shown and kept before the page asks how the payment went", async () => {
  const { page, close } = await atAgent();
  // Never answered.
  await page.route("**/api/payments?*", () => {});
  await payOnBase(page);
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  await page.reload();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(await resultOf(page).textContent()).not.toContain("found again");
  await close();
});

test("a paid result outlasts a next press that buys nothing, on the page and through a reload", async () => {
  const { page, context, close } = await open(site, "/docs");
  await announcePoorWallet(page, 0);
  await page.goto(site.url + site.summarizer);
  const wallet = page.getByRole("combobox", { name: "Wallet" });
  await wallet.selectOption("Demo wallet");
  await page.getByRole("radio", { name: /Base Sepolia/ }).check({ force: true });
  await pay(page);
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  await page.locator("#payment").getByText("settled", { exact: true }).waitFor();
  const earlier = page.getByRole("region", { name: "Earlier result" });
  await wallet.selectOption("A poor wallet");
  await pay(page);
  await resultOf(page).getByText("Nothing was charged.").waitFor();
  await earlier.getByText("Paid 0.05 USDC").waitFor();
  await expectAccessible(page, "a press that bought nothing, above an earlier result");
  await context.setOffline(true);
  await pay(page);
  await resultOf(page).getByText("The service cannot be reached from here.").waitFor();
  expect(await earlier.count()).toBe(1);
  await context.setOffline(false);
  await page.reload();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(await earlier.count()).toBe(0);
  await close();
});

test("what one account ran and tried in a tab is neither shown to another account or to nobody, nor run by it", async () => {
  const { page, context, close } = await atAgent(10n);
  const example = await textOf(page).inputValue();
  const cookies = await context.cookies();
  await textOf(page).fill("A secret of the first account.");
  await runWithCredits(page);
  await resultOf(page).getByText("Paid 5 credits.").waitFor();
  await page.route("**/api/account/run", (route) => route.abort());
  await runWithCredits(page);
  await resultOf(page).getByText("not answered; asked for again by the same name").waitFor();
  // The page that asks again is left.
  await page.goto("about:blank");
  await context.clearCookies();
  const posted: string[] = [];
  page.on("request", (request) => request.method() === "POST" && posted.push(request.url()));
  const expectNothing = async () => {
    await page.goto(site.url + site.summarizer);
    await page.reload({ waitUntil: "networkidle" });
    expect(await resultOf(page).textContent()).toContain("Nothing run yet");
    expect(await textOf(page).inputValue()).toBe(example);
    await page.goto(`${site.url + site.summarizer}/api`, { waitUntil: "networkidle" });
    expect(await page.locator("#main").textContent()).not.toContain("A secret of the first account.");
    expect(posted).toEqual([]);
  };
  await expectNothing();
  await signInWith(site, page, 10n);
  await expectNothing();
  await page.unroute("**/api/account/run");
  await context.clearCookies();
  await context.addCookies(cookies);
  await page.goto(`${site.url + site.summarizer}/api`);
  await page.getByText("A secret of the first account.").first().waitFor();
  await page.goto(site.url + site.summarizer);
  await resultOf(page).getByText("Paid 5 credits. 0 credits left.").waitFor();
  expect(await textOf(page).inputValue()).toBe("A secret of the first account.");
  await close();
});

test("a payment under way goes on when its payer signs in meanwhile", async () => {
  const { page, close } = await atAgent();
  const before = await site.usdcOf("evm");
  await payForFailedRun(page);
  await signInWith(site, page, 10n);
  await page.reload();
  await runAgain(page).click();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(before - (await site.usdcOf("evm"))).toBe(price);
  await close();
});

test("a result that was asked for before is told as that where the form says something else by now", async () => {
  const { page, close } = await atAgent(20n);
  const lose = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  const refuse = (route: Route) => route.fulfill({ status: 401, json: { error: "Sign in." } });
  let posts = 0;
  await page.route("**/api/account/run", (route) => {
    posts += 1;
    return posts === 1 ? lose(route) : posts === 2 ? refuse(route) : route.fallback();
  });
  await textOf(page).fill("The first text.");
  await runWithCredits(page);
  await resultOf(page).getByText("It may have run before.").waitFor();
  await textOf(page).fill("The second text.");
  await runWithCredits(page);
  await resultOf(page).getByText("This is what was asked for before").waitFor();
  expect(await resultOf(page).textContent()).toContain("The first text.");
  expect(await textOf(page).inputValue()).toBe("The second text.");
  await runWithCredits(page);
  await resultOf(page).getByText("Paid 5 credits. 10 credits left.").waitFor();
  expect(await resultOf(page).textContent()).not.toContain("This is what was asked for before");
  await close();
});

test("results that are kept to be shown again leave room for a payment", async () => {
  const { page, close } = await atAgent();
  await page.evaluate(() => {
    for (let size = 2 ** 22; size > 64; size /= 2) {
      try {
        for (let n = 0; n < 3; n += 1) sessionStorage.setItem(`answer of ${size} ${n}`, "x".repeat(size));
      } catch {
        // It is full for this size.
      }
    }
  });
  await payOnBase(page);
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  await expect
    .poll(() => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith("under way"))))
    .toEqual([]);
  // The newest comes before the older ones.
  await page.reload();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  await close();
});

test("a paid result is there again for who comes back from another page, and not on a new visit", async () => {
  const { page, close } = await atAgent();
  await payOnBase(page);
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  await page.goto(`${site.url}/docs`);
  await page.goBack();
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  await page.goto(site.url + site.summarizer);
  await resultOf(page).getByText("Nothing run yet").waitFor();
  await close();
});

test("the keyboard stays at the result when its button is pressed", async () => {
  const { page, close } = await atAgent();
  await payForFailedRun(page);
  await runAgain(page).press("Enter");
  await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
  expect(await page.evaluate(() => document.activeElement?.closest("#result") !== null)).toBe(true);
  await close();
});

test("a refusal in one long word makes a phone's page no wider", async () => {
  const { page, close } = await atAgent(10n);
  await page.setViewportSize({ width: 320, height: 700 });
  const error = "W".repeat(400);
  await page.route("**/api/account/run", (route) => route.fulfill({ status: 422, json: { error, charged: false } }));
  await runWithCredits(page);
  await resultOf(page).getByText(error).waitFor();
  await expectNoSidewaysScrolling(page, "a long refusal");
  await close();
});

test("a run with credits that never arrived is not run when its page is opened again at a price that rose meanwhile, until its sender agrees", async () => {
  const { page, close } = await atAgent(100n);
  await page.route("**/api/account/run", (route) => route.abort());
  await textOf(page).fill("At five credits.");
  await runWithCredits(page);
  await resultOf(page).getByText("not answered; asked for again by the same name").waitFor();
  const { summarizer } = demoAgents({ demoService: site.model.url, demoTools: site.model.url });
  const raised = { ...(summarizer as object), price_credits: 8 };
  await publishAgent(site.context, site.market.creator, "summarizer", raised);
  try {
    // The page asks again and again by itself: what it asked before it was left is not what is counted.
    await page.goto("about:blank");
    await page.unroute("**/api/account/run");
    let posts = 0;
    page.on("request", (request) => (posts += request.url().endsWith("/api/account/run") ? 1 : 0));
    await page.goto(site.url + site.summarizer);
    await resultOf(page).getByText("The price rose from 5 to 8 credits").waitFor();
    expect(await resultOf(page).textContent()).toContain("Nothing was charged. Press Run to agree");
    expect(posts).toBe(1);
    await page.locator("#by-credits").check({ force: true });
    await page.getByRole("button", { name: /^Run 8 credits/ }).click();
    await resultOf(page).getByText("Paid 8 credits. 92 credits left.").waitFor();
    expect(await textOf(page).inputValue()).toBe("At five credits.");
  } finally {
    await publishAgent(site.context, site.market.creator, "summarizer", summarizer as object);
  }
  await close();
});

/** Who has no wallet that can be paid sells nothing per call. */
async function sellPerCall(isSold: boolean): Promise<void> {
  const states = isSold ? ["unpayable", "checked"] : ["checked", "unpayable"];
  const update = "update payout_wallets set state = $3 where account_id = $1 and state = $2";
  await site.context.db.query(update, [site.market.creator.id, ...states]);
}

test("what was paid for is found on the agent's page after its creator took another handle", async () => {
  const { page, close } = await atAgent();
  const { db } = site.context;
  const { creator } = site.market;
  const before = await site.usdcOf("evm");
  await payForFailedRun(page);
  await renameAccount(db, creator, `${creator.handle}-new`);
  try {
    await page.goto(`${site.url}/${creator.handle}-new/summarizer`);
    await runAgain(page).click();
    await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
    expect(before - (await site.usdcOf("evm"))).toBe(price);
  } finally {
    await db.query("update accounts set handle_changed_at = null where id = $1", [creator.id]);
    await renameAccount(db, creator, creator.handle);
  }
  await close();
});

test("a payment under way fetches its result although the agent is no longer sold per call", async () => {
  const { page, close } = await atAgent();
  const before = await site.usdcOf("evm");
  site.model.injectFault({ delayMs: 600_000 });
  await payOnBase(page);
  await page.locator("#payment").getByText("running", { exact: true }).waitFor();
  await sellPerCall(false);
  try {
    const posted: string[] = [];
    page.on("request", (request) => request.method() === "POST" && posted.push(new URL(request.url()).pathname));
    await page.reload();
    expect(await page.getByRole("button", { name: /Pay and run/ }).count()).toBe(0);
    expect(await page.locator("#by-wallet").count()).toBe(0);
    site.model.answerHeld();
    await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
    expect(posted).not.toContain(site.summarizer);
    expect(before - (await site.usdcOf("evm"))).toBe(price);
  } finally {
    await sellPerCall(true);
  }
  await close();
});

test.each([
  ["known to be charged", { charged: true }],
  ["not known to be charged, of a payment that is settled", {}],
])(
  "wrong input of an owed run, %s, is told at its field, and the corrected input is run without another payment",
  async (_, charge) => {
    const { page, close } = await atAgent();
    const before = await site.usdcOf("evm");
    await payForFailedRun(page);
    let posts = 0;
    page.on("request", (request) => (posts += request.url().includes("/api/agent/") ? 1 : 0));
    await textOf(page).fill("");
    await runAgain(page).click();
    expect(await textOf(page).evaluate((area) => area.matches(":focus:invalid"))).toBe(true);
    expect(posts).toBe(0);
    await textOf(page).fill("Refused by the service.");
    const error = '"text" must have at most 10 characters.';
    await answerPaid(page, 422, { error, field: "text", ...charge });
    const settled = { network: "eip155:84532", state: "settled", ran: false, delivered: false, settled_at: null };
    await page.route("**/api/payments?*", (route) => route.fulfill({ json: settled }));
    await runAgain(page).click();
    await page.locator("#in-text-error").getByText(error).waitFor();
    expect(await textOf(page).getAttribute("aria-invalid")).toBe("true");
    await page.unroute("**/api/agent/**");
    await page.unroute("**/api/payments?*");
    await textOf(page).fill("Corrected.");
    const [request] = await Promise.all([page.waitForRequest("**/api/agent/**"), runAgain(page).click()]);
    expect(request.postDataJSON()).toMatchObject({ text: "Corrected." });
    await resultOf(page).getByText("Paid 0.05 USDC").waitFor();
    expect(before - (await site.usdcOf("evm"))).toBe(price);
    await close();
  },
);
