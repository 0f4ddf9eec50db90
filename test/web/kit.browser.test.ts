import { h } from "preact";
import { expect } from "vitest";
import { browserSources, builtAssets } from "../../marketplace/web/browser-sources.ts";
import { assetsFor } from "../../shared/page/bundle.ts";
import { renderDocument } from "../../shared/page/document.tsx";
import { pageHeaders } from "../../shared/page/policy.ts";
import { expectAccessible, visitEverywhere } from "./browser.ts";
import { KitGallery } from "./kit-gallery.tsx";
import { test } from "./site.ts";

test("every component of the kit can be used by everybody, in light and dark and at any width", async ({ site }) => {
  const html = renderDocument({
    head: { title: "The kit" },
    assets: await assetsFor(browserSources, builtAssets)(),
    stylesheet: "site.css",
    islands: ["site.js"],
    body: h(KitGallery, {}),
  });
  const headers = { ...pageHeaders(), "content-type": "text/html; charset=utf-8" };
  await visitEverywhere(site, "/", {
    name: "kit",
    prepare: async (page) => {
      await page.route(`${site.url}/kit`, (route) => route.fulfill({ headers, body: html }));
      await page.goto(`${site.url}/kit`);
      await page.getByRole("button", { name: "Ask" }).press("Enter");
      const dialog = page.getByRole("dialog", { name: /^The price rose/ });
      expect(await dialog.isVisible()).toBe(true);
      await expectAccessible(page, "an open dialog");
      await page.keyboard.press("Escape");
      expect(await dialog.isVisible()).toBe(false);
      await page.evaluate(() => scrollTo(0, 0));
    },
  });
});
