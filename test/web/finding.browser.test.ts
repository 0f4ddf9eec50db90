import { describe, expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { moveAccount } from "../../marketplace/accounts/state.ts";
import { countRuns } from "../../marketplace/agents/count-runs.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { echoAgent, until } from "../support/marketplace.ts";
import { open, visitEverywhere } from "./browser.ts";
import { type Site, test } from "./site.ts";

/** The seeded creator is paid on two chains, and figures are there. */
async function settle({ context, market }: Site): Promise<void> {
  const { db } = context;
  const { rowCount } = await db.query("select from payout_wallets where account_id = $1", [market.creator.id]);
  if (rowCount === 0) {
    const accountId = market.creator.id;
    await addPayoutWallet(db, { accountId, network: "eip155:84532", address: `0x${"5".repeat(40)}`, checked: true });
    await addPayoutWallet(db, { accountId, network: "hedera:testnet", address: "0.0.51877", checked: true });
  }
  await until(async () => {
    await countRuns(db);
    const { rows } = await db.query("select coalesce(sum(runs), 0)::integer as runs from agent_figures");
    return rows[0].runs >= 3;
  });
}

const cards = "article.agent .agent-name";

describe("/explore", () => {
  test("shows without a fault at every width, in both themes", async ({ site }) => {
    await settle(site);
    await visitEverywhere(site, "/explore");
  });

  test("shows without a fault at every width, in both themes: found, narrowed, misspelt, empty, wrong and with its filters open", async ({
    site,
  }) => {
    await visitEverywhere(site, "/explore?q=sumarise+text&per_call=true&max_price=30", { name: "explore-found" });
    await visitEverywhere(site, "/explore?q=qqqqqqq", { name: "explore-empty" });
    await visitEverywhere(site, "/explore?min_price=9&max_price=3", { name: "explore-wrong", status: 400 });
    await visitEverywhere(site, "/explore?per_call=true#filters", { name: "explore-filters" });
  });

  test("without JavaScript: words, boxes and order go by the form, and each filter can be taken off", async ({
    site,
  }) => {
    const { page, close } = await open(site, "/explore", { javaScriptEnabled: false });
    await page.getByLabel("Search agents").fill("summarise");
    await page.getByLabel("Without an account").check();
    await page.getByLabel("Language model").check();
    await page.getByLabel("To, credits").fill("8");
    await page.getByRole("button", { name: "Apply" }).click();
    await expect.poll(() => page.locator(cards).allTextContents()).toContain("Summarizer");
    expect(await page.getByLabel("Search agents").inputValue()).toBe("summarise");
    expect(await page.getByLabel("Language model").isChecked()).toBe(true);
    await page.getByRole("link", { name: /Up to 8 credits/ }).click();
    await expect.poll(() => new URL(page.url()).searchParams.has("max_price")).toBe(false);
    expect(new URL(page.url()).searchParams.get("q")).toBe("summarise");
    await page.getByRole("link", { name: "Summarizer" }).first().click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/summarizer$/);
    await close();
  });

  test("finds while one types, with the newest word only, and the address tells it", async ({ site }) => {
    const { page, complaints, close } = await open(site, "/explore");
    // A best match, and figures of all agents beside filters, would say what is not so.
    const orders = () => page.getByLabel("Sort by").locator("option").allTextContents();
    const figuresShown = () => page.locator("#filters .count").first().isVisible();
    expect([await orders(), await figuresShown()]).toEqual([["Most run", "Cheapest", "Newest"], true]);
    await page.keyboard.press("/");
    await page.keyboard.type("greet", { delay: 30 });
    await expect.poll(() => page.locator(cards).allTextContents()).toEqual(["Greeter"]);
    await expect.poll(() => new URL(page.url()).search).toBe("?q=greet");
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).id)).toBe("q");
    await expect.poll(orders).toEqual(["Best match", "Most run", "Cheapest", "Newest"]);
    expect(await figuresShown()).toBe(false);
    await page.locator("#q").fill("poster");
    await page.getByLabel("Free").check();
    await expect.poll(() => page.locator("#found").textContent()).toContain("No agent found for “poster”");
    await page.getByLabel("Free").uncheck();
    // Another file of the same worker may have published its own.
    await expect.poll(async () => [...new Set(await page.locator(cards).allTextContents())]).toEqual(["Poster"]);
    await page.getByLabel("Sort by").selectOption("cheapest");
    await page.locator("#q").fill("");
    await expect.poll(() => new URL(page.url()).search).toBe("?sort=cheapest");
    await expect.poll(() => page.locator(cards).first().textContent()).toBe("Greeter");
    await page.reload();
    expect(await page.locator(cards).first().textContent()).toBe("Greeter");
    expect(complaints.filter((text) => !text.includes("ERR_ABORTED"))).toEqual([]);
    await close();
  });

  test("on a phone the filters are a sheet that says how many it leaves, and Escape closes it", async ({ site }) => {
    const { page, complaints, close } = await open(site, "/explore", { viewport: { width: 375, height: 740 } });
    await page.getByRole("link", { name: "Filters" }).press("Enter");
    await page.getByLabel("Free").check();
    const show = page.getByRole("button", { name: /^Show/ });
    await expect.poll(() => show.textContent()).toBe("Show 1 agent");
    await show.press("Enter");
    await expect.poll(() => show.isVisible()).toBe(false);
    expect(new URL(page.url()).search).toBe("?free=true");
    await page.getByRole("link", { name: "Filters" }).press("Enter");
    await expect.poll(() => show.isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    await expect.poll(() => show.isVisible()).toBe(false);
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Filters");
    expect(complaints.filter((text) => !text.includes("ERR_ABORTED"))).toEqual([]);
    await close();
  });

  test("a long list goes on by links, without JavaScript too", async ({ site }) => {
    const { context, market } = site;
    for (let n = 0; n < 30; n += 1) {
      const agent = { ...echoAgent, name: `Parrot ${n}`, description: "Repeats.", tags: ["parrot"] };
      await publishAgent(context, market.creator, `parrot-${n}`, agent);
    }
    const { page, close } = await open(site, "/explore?tag=parrot&sort=newest", { javaScriptEnabled: false });
    const seen = await page.locator(cards).allTextContents();
    expect(seen.length).toBe(24);
    await page.getByRole("link", { name: "Next" }).click();
    const both = async () => new Set([...seen, ...(await page.locator(cards).allTextContents())]).size;
    await expect.poll(both).toBe(30);
    await page.getByRole("link", { name: "First" }).click();
    await expect.poll(() => page.locator(cards).first().textContent()).toBe("Parrot 29");
    await close();
    await context.db.query("update agents set state = 'unpublished' where slug like 'parrot-%'");
  });

  test("words as long as a creator may write them stay within their places, and off the price", async ({ site }) => {
    const { context, market } = site;
    const word = "Donaudampfschifffahrtsgesellschaft";
    const field = { name: word.repeat(2).slice(0, 64), type: "string", example: "x" };
    const agent = {
      ...echoAgent,
      name: word,
      description: word.repeat(6),
      tags: ["longest"],
      fields: [field],
      settings: { prompt: `{{${field.name}}}` },
    };
    await publishAgent(context, market.creator, "longest", agent);
    for (const tab of ["", "/about"]) await visitEverywhere(site, `/${market.creator.handle}/longest${tab}`);
    const { page, close } = await open(site, "/explore?tag=longest", { viewport: { width: 320, height: 740 } });
    const end = (selector: string) =>
      page.locator(selector).evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getBoundingClientRect();
      });
    expect((await end(cards)).right).toBeLessThanOrEqual((await end("article.agent .agent-price")).left);
    await close();
    await context.db.query("update agents set state = 'unpublished' where slug = 'longest'");
  });

  test("what creators write is text on the page and nothing else", async ({ site }) => {
    const { context, market } = site;
    const evil = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    await publishAgent(context, market.creator, "evil", { ...echoAgent, name: evil, description: `${evil} xyzzyx` });
    const { page, complaints, close } = await open(site, "/explore");
    await page.locator("#q").fill("xyzzyx");
    await expect.poll(() => page.locator(cards).allTextContents()).toEqual([evil]);
    await page.goto(`${site.url}/explore?q=${encodeURIComponent(`xyzzyx "><script>document.title='owned'</script>`)}`);
    expect(await page.title()).not.toBe("owned");
    expect(complaints.filter((text) => !text.includes("ERR_ABORTED"))).toEqual([]);
    await close();
    await context.db.query("update agents set state = 'unpublished' where slug = 'evil'");
  });
});

describe("/{handle}", () => {
  test("shows without a fault at every width, in both themes", async ({ site }) => {
    await settle(site);
    await visitEverywhere(site, `/${site.market.creator.handle}`, { name: "creator" });
  });

  test("tells the agents, how they did, and where and since when payments go there", async ({ site }) => {
    await settle(site);
    const { page, close } = await open(site, `/${site.market.creator.handle.toUpperCase()}?sort=cheapest`);
    expect(new URL(page.url()).pathname).toBe(`/${site.market.creator.handle}`);
    const text = (await page.locator("main").textContent()) ?? "";
    expect(text).toContain("Base Sepolia");
    expect(text).toContain("0.0.51877");
    expect(text).toMatch(/checked\s*just now|checked \d+ \w+ ago/);
    expect(text).toContain("none failed");
    await close();
  });

  test("tells of no account that sells nothing: it is the 404 that was there before the account", async ({ site }) => {
    const { context } = site;
    const handle = `gone-${Date.now().toString(36)}`;
    const page = async () => {
      const answer = await fetch(`${site.url}/${handle}`, { headers: { accept: "text/html" } });
      return [answer.status, await answer.text()];
    };
    const never = await page();
    expect(never[0]).toBe(404);
    const account = await createAccount(context.db, { handle });
    expect(await page()).toEqual(never);
    await publishAgent(context, account, "echo", { ...echoAgent, name: "Gone" });
    expect((await page())[0]).toBe(200);
    await moveAccount(context.db, account, "close");
    expect(await page()).toEqual(never);
  });
});
