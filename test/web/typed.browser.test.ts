import type { Page } from "playwright-core";
import { expect } from "vitest";
import { open } from "./browser.ts";
import { signIn, test } from "./site.ts";

/** What was typed and not sent is there when its page is opened again. */
const textOf = (page: Page) => page.getByLabel("Text", { exact: true });
const newHandle = () => `typed-${Math.random().toString(36).slice(2)}`;

test("what was typed for an agent outlasts its other pages and signing in, until it is reset", async ({ site }) => {
  const { page, close } = await open(site, "/house/summarizer");
  const example = await textOf(page).inputValue();
  await textOf(page).fill("Half a story");
  const tabs = page.getByRole("navigation", { name: "Agent" });
  await tabs.getByRole("link", { name: "API" }).click();
  await tabs.getByRole("link", { name: "Try" }).click();
  await page.getByText("The form is filled in as you left it.").waitFor();
  expect(await textOf(page).inputValue()).toBe("Half a story");
  await signIn(site, page, newHandle());
  await page.goto(`${site.url}/house/summarizer`);
  await expect.poll(() => textOf(page).inputValue()).toBe("Half a story");
  await textOf(page).fill("Half a story, and more");
  await page.reload();
  await page.getByRole("link", { name: "Reset to example" }).click();
  await expect.poll(() => textOf(page).inputValue()).toBe(example);
  await page.goto(`${site.url}/house/summarizer`, { waitUntil: "networkidle" });
  expect(await textOf(page).inputValue()).toBe(example);
  await close();
});

test("what was typed in the workbench is there after signing in", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/svg");
  await page.getByText("Draw", { exact: true }).click();
  await page.getByLabel("What to draw").fill("A fox made of paper");
  await page.getByText(/More detail/).click();
  await signIn(site, page, newHandle());
  await page.goto(`${site.url}/svg`);
  await page.getByRole("button", { name: "Draw 8 credits" }).waitFor();
  expect(await page.getByLabel("What to draw").inputValue()).toBe("A fox made of paper");
  expect(complaints).toEqual([]);
  await close();
});

test("a report outlasts leaving its page and a network that fails, and is gone once it was sent", async ({ site }) => {
  const path = "/house/summarizer/report";
  const { page, close } = await open(site, path);
  const told = page.getByLabel("What happened");
  await page.getByRole("radio").nth(1).check();
  await told.fill("It answers with what it was asked.");
  await page.goto(`${site.url}/docs`);
  await page.goto(site.url + path);
  await expect.poll(() => told.inputValue()).toBe("It answers with what it was asked.");
  expect(await page.getByRole("radio").nth(1).isChecked()).toBe(true);
  await page.route(`**${path}`, (route) => (route.request().method() === "POST" ? route.abort() : route.fallback()));
  const send = page.getByRole("button", { name: "Send report" });
  await send.click();
  await expect.poll(() => page.url()).toMatch(/^chrome-error:/);
  await page.goto(site.url + path);
  await expect.poll(() => told.inputValue()).toBe("It answers with what it was asked.");
  await page.unroute(`**${path}`);
  await send.click();
  await page.getByText("The operator has your report").waitFor();
  await page.goto(site.url + path, { waitUntil: "networkidle" });
  expect(await told.inputValue()).toBe("");
  await close();
});

test("a definition that was typed is kept for its account, and not for another", async ({ site }) => {
  const { page, context, close } = await open(site, "/docs");
  await signIn(site, page, newHandle());
  await page.goto(`${site.url}/build`);
  const definition = page.getByLabel("Definition in YAML");
  await page.getByText("Start from a YAML definition").click();
  await definition.fill("agent: half");
  const cookies = await context.cookies();
  await context.clearCookies();
  await signIn(site, page, newHandle());
  await page.goto(`${site.url}/build`, { waitUntil: "networkidle" });
  expect(await definition.inputValue()).toBe("");
  await context.clearCookies();
  await context.addCookies(cookies);
  await page.goto(`${site.url}/build`);
  await expect.poll(() => definition.isVisible()).toBe(true);
  expect(await definition.inputValue()).toBe("agent: half");
  // A text that was refused is shown as it was sent.
  await definition.fill("agent: none");
  await page.getByRole("button", { name: "Make a draft of it" }).click();
  await page
    .locator("#yaml-text-error")
    .getByText(/handle/)
    .waitFor();
  expect(await definition.inputValue()).toBe("agent: none");
  await close();
});
