import { expect } from "vitest";
import { docsPages, docsPath } from "../../marketplace/web/docs/chapters.ts";
import { open, visitEverywhere } from "./browser.ts";
import { test } from "./site.ts";

test.for(docsPages.map(({ slug }) => docsPath(slug)))(
  "%s shows without a fault at every width, in both themes",
  (path, { site }) => visitEverywhere(site, path),
);

test.for(["runAgent", "payAgent", "listAgents", "saveAgentVersion"])(
  "the operation %s shows without a fault at every width, in both themes",
  (id, { site }) => visitEverywhere(site, `/docs/api/${id}`),
);

test.for(["/pricing", "/status", "/mcp"])("%s shows without a fault at every width, in both themes", (path, { site }) =>
  visitEverywhere(site, path),
);

test("an agent is reported by keyboard alone, and the page says what it refuses and what it took", async ({ site }) => {
  const path = `/${site.market.agent.address}/report`;
  await visitEverywhere(site, path, { name: "report" });
  const { page, complaints, close } = await open(site, path);
  await page.getByLabel("It does not do what it says").press("Space");
  await page.getByLabel("What happened").fill("  ");
  await page.getByRole("button", { name: "Send report" }).press("Enter");
  await page.getByText("Must say what is wrong.").waitFor();
  expect(await page.getByLabel("It does not do what it says").isChecked()).toBe(true);
  await page.getByLabel("What happened").fill("It answers something else.");
  await page.getByRole("button", { name: "Send report" }).press("Enter");
  await page.getByText("The operator has your report").waitFor();
  expect(complaints.filter((text) => !text.includes("422"))).toEqual([]);
  await close();
});

test("copying code copies what is shown, and nothing of the other languages", async ({ site }) => {
  const { page, context, complaints, close } = await open(site, "/docs/first-run");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByText("Python", { exact: true }).click();
  await page.locator(".code:has(.lang-3:checked) .copy").click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^import json, os, urllib\.request\n/);
  expect(copied).not.toContain("curl");
  expect(complaints).toEqual([]);
  await close();
});
