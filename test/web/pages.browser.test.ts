import { expect } from "vitest";
import { open, visitEverywhere } from "./browser.ts";
import { signIn, test } from "./site.ts";

test("the first page shows without a fault at every width, in both themes", ({ site }) => visitEverywhere(site, "/"));

test.for([true, false])(
  "a visitor runs an agent on the first page with one press (JavaScript: %s)",
  async (scripts, { site }) => {
    const { page, complaints, close } = await open(site, "/", { javaScriptEnabled: scripts });
    const card = page.locator("#try");
    await card.getByRole("button", { name: "Run" }).press("Enter");
    await card.getByText("success").waitFor();
    expect(await card.locator(".result-text").textContent()).toMatch(/\w/);
    expect(complaints).toEqual([]);
    await close();
  },
);

test("the first page shows what a run gave without a fault, and keeps an input that is refused", async ({ site }) => {
  await visitEverywhere(site, "/", {
    name: "home-ran",
    prepare: async (page) => {
      await page.locator("#try").getByRole("button", { name: "Run" }).press("Enter");
      await page.locator("#try").getByText("success").waitFor();
    },
  });
  const { page, close } = await open(site, "/", { javaScriptEnabled: false });
  const field = page.locator("#try textarea");
  await field.fill("a".repeat(8_001));
  await page.locator("#try").getByRole("button", { name: "Run" }).press("Enter");
  await page.locator("#try .error:visible").waitFor();
  expect(await page.locator("#try textarea").inputValue()).toHaveLength(8_001);
  await close();
});

test("the page of what is not there shows without a fault at every width, in both themes", ({ site }) =>
  visitEverywhere(site, "/there/is/nothing-here", { status: 404 }));

test("the menu of somebody signed in leads out again", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/");
  await signIn(site, page, `person-${Date.now().toString(36)}`);
  await page.reload();
  await page.getByRole("button", { name: /^Account/ }).press("Enter");
  await page.getByRole("button", { name: "Sign out" }).press("Enter");
  await page.getByRole("link", { name: "Sign in" }).first().waitFor();
  expect(page.url()).toBe(`${site.url}/`);
  expect(complaints).toEqual([]);
  await close();
});

test("the theme that one chose stays, and the next page does not flash", async ({ site }) => {
  const { page, close } = await open(site, "/", { colorScheme: "light" });
  await page.getByRole("button", { name: /light and dark/ }).press("Enter");
  await page.goto(`${site.url}/there/is/nothing`);
  const html = await page.request.get(site.url, { headers: { accept: "text/html" } });
  expect(await html.text()).toContain('data-theme="dark"');
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(11, 13, 17)");
  await close();
});
