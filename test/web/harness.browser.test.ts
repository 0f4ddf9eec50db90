import { expect } from "vitest";
import { expectAccessible, expectNoSidewaysScrolling, open } from "./browser.ts";
import { test } from "./site.ts";

test("text cannot become mark-up, style or code on a page, and the tests see every attempt", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/");
  const attempts = [
    () => document.body.setAttribute("style", "color: red"),
    () => document.body.insertAdjacentElement("beforeend", document.createElement("style"))?.append("b{}"),
    () => document.body.append(Object.assign(document.createElement("img"), { src: "data:image/gif;base64,R0lGOD" })),
    () => Object.assign(document.body, { innerHTML: "<b>text</b>" }),
    () => Object.assign(document.createElement("script"), { text: "1" }),
  ];
  for (const attempt of attempts) {
    const before = complaints.length;
    await page.evaluate(attempt).catch((error: Error) => expect(error.message).toContain("Trusted"));
    await expect.poll(() => complaints.length, { message: String(attempt) }).toBeGreaterThan(before);
  }
  await close();
});

test("what is too wide, and what not everybody can use, is found", async ({ site }) => {
  const { page, close } = await open(site, "/", { viewport: { width: 375, height: 740 } });
  await page.evaluate(() => {
    const wide = document.createElement("input");
    wide.size = 200;
    document.querySelector("main")?.append(wide);
  });
  await expect(expectNoSidewaysScrolling(page, "/")).rejects.toThrow(/expected \[/);
  await expect(expectAccessible(page, "/")).rejects.toThrow(/expected \[/);
  await close();
});
