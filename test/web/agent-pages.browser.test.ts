import { expect } from "vitest";
import { open, visitEverywhere } from "./browser.ts";
import { type PaidSite, test } from "./paid-site.ts";

let site: PaidSite;
test.beforeEach(({ site: shared }) => {
  site = shared;
});

test.each(["", "/api", "/mcp", "/about"])(
  "the page of an agent%s shows without a fault at every width, in both themes",
  (tab) => visitEverywhere(site, `${site.summarizer}${tab}`, { name: `agent${tab.replace("/", "-")}` }),
);

test("the page of a free agent shows without a fault at every width, in both themes", () =>
  visitEverywhere(site, site.greeter, { name: "agent-free" }));

test("what a paid run gave shows without a fault at every width, in both themes", () =>
  visitEverywhere(site, site.summarizer, {
    name: "agent-result",
    // The quote is a 402, which the browser notes.
    status: 402,
    prepare: async (page) => {
      await page.locator("#wallet-name").getByText("Demo wallet").waitFor();
      await page.getByRole("button", { name: /Pay and run/ }).click();
      await page.locator("#payment").getByText("settled", { exact: true }).waitFor();
      await page.locator("#result").getByText("success").waitFor();
    },
  }));

test("Run stands above the fold of a desktop, with the form filled in", async () => {
  const { page, complaints, close } = await open(site, site.summarizer);
  const button = page.getByRole("button", { name: /Pay and run/ });
  await button.waitFor();
  const box = await button.boundingBox();
  expect((box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)).toBeLessThan(900);
  expect(await page.getByLabel("Text").inputValue()).not.toBe("");
  expect(complaints).toEqual([]);
  await close();
});

test("on a phone Run stays in sight, once: the bar steps aside for the button that does the same", async () => {
  const { page, close } = await open(site, site.summarizer, { viewport: { width: 375, height: 740 } });
  const bar = page.locator(".run-bar button");
  const button = page.getByRole("button", { name: /Pay and run/ });
  await button.waitFor({ state: "attached" });
  await expect.poll(() => bar.isVisible()).toBe(true);
  await button.scrollIntoViewIfNeeded();
  await expect.poll(() => bar.isVisible()).toBe(false);
  await close();
});
