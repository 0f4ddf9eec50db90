import type { Page } from "playwright-core";
import { expect } from "vitest";
import { oneOf } from "../support/sample.ts";
import { open } from "./browser.ts";
import { type Site, signIn, test } from "./site.ts";

/** A control, and where it is on the page. */
interface Control {
  readonly name: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const signedIn = (site: Site, page: Page) => signIn(site, page, `tab-${Math.random().toString(36).slice(2, 10)}`);

const pages: Readonly<Record<string, (site: Site, page: Page) => Promise<void>>> = {
  "the sign-in page": async (site, page) => {
    await page.goto(`${site.url}/sign-in`);
  },
  "the page of an agent": async (site, page) => {
    await page.goto(`${site.url}/house/summarizer`);
  },
  "the page that makes a key": async (site, page) => {
    await signedIn(site, page);
    await page.goto(`${site.url}/settings/keys/new`);
  },
  "the gallery of connectors": async (site, page) => {
    await signedIn(site, page);
    await page.goto(`${site.url}/build`);
  },
  "the editor of an agent": async (site, page) => {
    await signedIn(site, page);
    await page.goto(`${site.url}/build`);
    await page.getByRole("button", { name: "Start from Language model", exact: true }).press("Enter");
    await page.waitForURL(/\/build\/.+/);
    await page.locator("#at-name").waitFor();
  },
};

const walks = Object.keys(pages).flatMap((name) => [375, 1440].map((width) => [name, width] as const));

test.for(oneOf(walks, "the page that Tab walks through"))(
  "Tab reaches every control of %s, from left to right and from top to bottom, at %i px",
  async ([name, width], { site }) => {
    const { page, close } = await open(site, "/docs");
    await pages[name]!(site, page);
    // So high that nothing scrolls: what sticks to the window stands where it belongs.
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height: Math.min(15_000, 2 * height + 2_000) });
    // A page that begins in its only field is walked through from its top as well.
    await page.evaluate(() => {
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
    });
    const { all, walked } = await walk(page);
    expect(all.length).toBeGreaterThan(5);
    const reached = new Set(walked.map((control) => control.name));
    expect(all.filter((control) => !reached.has(control.name)).map((control) => control.name)).toEqual([]);
    const steps = walked.slice(1).map((to, at) => [walked[at] as Control, to] as const);
    expect(steps.filter(([from, to]) => goesBack(from, to)).map(([from, to]) => `${from.name} → ${to.name}`)).toEqual(
      [],
    );
    await close();
  },
);

/** Upwards but not into the next column, or to the left in one line. */
function goesBack(from: Control, to: Control): boolean {
  const slack = 4;
  if (to.bottom <= from.top + slack) return to.left < from.right - slack;
  const overlap = Math.min(from.bottom, to.bottom) - Math.max(from.top, to.top);
  const isOneLine = overlap > Math.min(from.bottom - from.top, to.bottom - to.top) / 2;
  return isOneLine && to.right <= from.left + slack;
}

/** All controls that one sees, and those that Tab came by, each once. */
async function walk(page: Page): Promise<{ all: readonly Control[]; walked: readonly Control[] }> {
  const all = await page.evaluate(() => {
    const seen = "a[href], button, input, select, textarea, summary, [tabindex]";
    const groups = new Set<string>();
    const controls = [...document.querySelectorAll<HTMLElement>(seen)].filter((element) => {
      if (element.tabIndex < 0 || element.matches(":disabled, [type=hidden], [inert] *")) return false;
      if (!element.checkVisibility({ visibilityProperty: true })) return false;
      if (!element.matches("[type=radio]")) return true;
      // Of a group the one that is chosen, or its first.
      const { name, form, checked } = element as HTMLInputElement;
      const hasChosen = [...document.querySelectorAll<HTMLInputElement>(`[type=radio][name="${name}"]`)].some(
        (one) => one.checked && one.form === form,
      );
      if (hasChosen) return checked;
      return groups.has(name) ? false : Boolean(groups.add(name));
    });
    const nameOf = (element: HTMLElement) =>
      `${element.tagName.toLowerCase()} “${(element.getAttribute("aria-label") ?? (element.textContent || element.getAttribute("name")) ?? "").trim().replaceAll(/\s+/g, " ").slice(0, 40)}”`;
    const told = controls.map((element, at) => {
      element.dataset.walked = String(at);
      const { left, top, right, bottom } = element.getBoundingClientRect();
      return { name: `${at} ${nameOf(element)}`, left, top, right, bottom };
    });
    const visited: number[] = [];
    Object.assign(globalThis, { visited });
    document.addEventListener("focusin", ({ target }) => {
      const { walked } = (target as HTMLElement).dataset;
      if (walked !== undefined && !visited.includes(Number(walked))) visited.push(Number(walked));
    });
    return told;
  });
  // Long code can be scrolled with the keys, and takes a press of its own.
  for (let press = 0; press < all.length + 20; press += 1) await page.keyboard.press("Tab");
  const visited = await page.evaluate(() => (globalThis as unknown as { visited: number[] }).visited);
  return { all, walked: visited.map((at) => all[at] as Control) };
}
