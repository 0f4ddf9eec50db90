import { type Browser as Chromium, chromium } from "playwright-core";
import { test as base } from "vitest";
import { findChromium } from "../support/chromium.ts";

export type { Chromium };

/** Tests get `chromium`: one for all files and all sites of a worker. */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
export const test = base.extend("chromium", { scope: "worker" }, async ({}, { onCleanup }): Promise<Chromium> => {
  const executablePath = findChromium();
  if (!executablePath) throw new Error("There is no Chromium: install one, or say where it is with CHROMIUM.");
  // Without the renderer that Chromium keeps ready for the next page: each test opens few, and starting one is a fifth of a page.
  const args = ["--no-sandbox", "--disable-gpu", "--renderer-process-limit=1"];
  const browser = await chromium.launch({ executablePath, args });
  onCleanup(() => browser.close());
  return browser;
});
