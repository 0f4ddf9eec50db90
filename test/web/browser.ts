import { mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFailed } from "vitest";
import { oneOf } from "../support/sample.ts";
import type { Site } from "./site.ts";

/** Where pictures of pages are kept, if `PICTURES=all` asks for them: they take as long as all else. Git ignores it. */
const withPictures = process.env.PICTURES === "all";
const pictures = fileURLToPath(new URL("../../.artefacts/web/", import.meta.url));

/** CSS pixels: the narrowest phone, a phone, 200 % zoom of 1440, a tablet, a desktop. */
const widths = [320, 375, 720, 768, 1440] as const;

/** Where pages are, and what looks at them. */
export type Seen = Pick<Site, "url" | "chromium">;

/** A page in the browser, with what it complained of since. */
export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console, of the policy, of scripts and of requests. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Opens a page as a new visitor, from an address of their own. */
export async function open(site: Seen, path: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await newContext(site, options);
  const opened = await openIn(context, site, path, options.javaScriptEnabled);
  if (expect.getState().currentTestName) onTestFailed(() => tellWhatItShows(opened));
  return { ...opened, close: () => context.close() };
}

/** What waited for a text in vain is understood by what stood there instead. */
async function tellWhatItShows({ page, complaints }: Pick<Opened, "page" | "complaints">): Promise<void> {
  if (page.isClosed()) return;
  const shown = await page.locator("body").ariaSnapshot({ timeout: 10_000 });
  console.error([page.url(), ...complaints, shown.slice(0, 6_000)].join("\n"));
}

async function newContext(site: Seen, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await site.chromium.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    extraHTTPHeaders: { "x-forwarded-for": newAddress() },
    ...options,
  });
  context.setDefaultTimeout(waitsMs);
  return context;
}

/** As long as a poll waits, and for as much as a page does at once. */
const waitsMs = 120_000;

const newAddress = () => `10.${byte()}.${byte()}.${byte()}`;
const byte = () => Math.floor(Math.random() * 256);

async function openIn(context: BrowserContext, site: Seen, path: string, hasScripts = true): Promise<Opened> {
  const page = await context.newPage();
  const complaints = listen(page, hasScripts);
  await page.goto(site.url + path, { waitUntil: "load" });
  return { page, context, complaints, close: () => page.close() };
}

/** What the page complains of from now on is added to the list. */
function listen(page: Page, hasScripts: boolean): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`script: ${error.message}`));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // Chromium calls it the policy's doing when a script's own imports are not fetched ahead because scripts are switched off.
    if (why === "csp" && !hasScripts && request.url().endsWith(".js")) return;
    // A page that is left gives up what it was loading.
    if (why !== "net::ERR_ABORTED") complaints.push(`request: ${request.url()} ${why}`);
  });
  return complaints;
}

/** When the page has done what it was told before, and has drawn it. */
export async function afterFrames(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
}

export interface Everywhere {
  /** The name of its pictures; made of the path when left out. */
  readonly name?: string;
  /** Brings the page into the state to be looked at: signed in, a tab open, a result there. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** What the page answers with; 200 when left out. */
  readonly status?: number;
}

/**
 * A page as everybody meets it: light and dark, at five widths, with JavaScript and without. Fails for what the console
 * complains of, for what axe finds on a phone in light or on a desktop in dark (on both with FUZZ=all), and for anything
 * wider than the window.
 */
export async function visitEverywhere(site: Seen, path: string, everywhere: Everywhere = {}): Promise<void> {
  const { name = nameOf(path), prepare, status = 200 } = everywhere;
  const { page, complaints, close } = prepare ? await open(site, path) : await openAgain(site, path);
  try {
    await prepare?.(page);
    const picture = async (width: number, theme: string) => {
      if (!withPictures) return;
      await mkdir(pictures, { recursive: true });
      await page.screenshot({ path: `${pictures}${name}-${width}-${theme}.png`, fullPage: true });
    };
    // The colours hang on the theme, and all else on the width. Axe takes longer than all the rest.
    const looks = oneOf(["light, 375 px", "dark, 1440 px"], `the look of ${name}`);
    const look = (as: string) => (looks.includes(as) ? expectAccessible(page, `${path}, ${as}`) : undefined);
    await page.emulateMedia({ colorScheme: "light" });
    for (const width of widths) {
      await page.setViewportSize({ width, height: width < 700 ? 740 : 900 });
      await expectNoSidewaysScrolling(page, `${path} at ${width} px`);
      await look(`light, ${width} px`);
      if (width === 375 || width === 1440) await picture(width, "light");
    }
    await page.emulateMedia({ colorScheme: "dark" });
    await look("dark, 1440 px");
    await picture(1440, "dark");
    expect(
      complaints.filter((text) => !isTheAnswer(text, status)),
      path,
    ).toEqual([]);
  } finally {
    await close();
  }
  if (!prepare) await expectReadableWithoutScripts(site, path);
}

/** The browser itself notes an answer that is no success. */
function isTheAnswer(complaint: string, status: number): boolean {
  return status !== 200 && complaint.includes(`the server responded with a status of ${status}`);
}

/**
 * In a window that is kept, by a visitor who keeps nothing but the cache: a new window takes the browser as long as the
 * look over the page.
 */
async function openAgain(site: Seen, path: string): Promise<Opened> {
  let kept = windows.get(site.chromium);
  if (!kept) {
    kept = openWindow(site);
    windows.set(site.chromium, kept);
  }
  const { page, context, complaints } = await kept;
  await context.clearCookies();
  await context.setExtraHTTPHeaders({ "x-forwarded-for": newAddress() });
  complaints.length = 0;
  await page.goto(site.url + path, { waitUntil: "load" });
  const close = () =>
    page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
  return { page, context, complaints, close };
}

async function openWindow(site: Seen): Promise<Omit<Opened, "close"> & { complaints: string[] }> {
  const context = await newContext(site);
  const page = await context.newPage();
  return { page, context, complaints: listen(page, true) };
}

const windows = new WeakMap<Seen["chromium"], ReturnType<typeof openWindow>>();

/** What is served is all there is without JavaScript. */
async function expectReadableWithoutScripts(site: Seen, path: string): Promise<void> {
  const headers = { accept: "text/html", "x-forwarded-for": newAddress() };
  const html = await (await fetch(site.url + path, { headers })).text();
  expect(html.match(/<h1[\s>]/g), `${path} as it is served has one heading`).toHaveLength(1);
  const [, main = ""] = /<main[^>]*>(.*)<\/main>/s.exec(html) ?? [];
  expect(main.replaceAll(/<[^>]*>/g, ""), `${path} as it is served`).toMatch(/\w/);
}

const axeSource = readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** No finding of axe, of any severity. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  // Not by a script of the page, which its policy would refuse.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await axeSource);
  const found = await page.evaluate(async () => {
    const inPage = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Finding[] }> } };
    return (await inPage.axe.run({ resultTypes: ["violations"] })).violations;
  });
  expect(found.map(describeFinding), where).toEqual([]);
}

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>;
}

function describeFinding({ id, help, nodes }: Finding): string {
  return `${id}: ${help}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" | ")}`;
}

export async function expectNoSidewaysScrolling(page: Page, where: string): Promise<void> {
  const wide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const outside = [...document.querySelectorAll("body *")].filter((element) => {
      return element.getBoundingClientRect().right > clientWidth + 1;
    });
    return [
      `${scrollWidth} px in ${clientWidth}`,
      ...outside.slice(0, 5).map(({ outerHTML }) => outerHTML.slice(0, 160)),
    ];
  });
  expect(wide, where).toEqual([]);
}

/** `/explore?q=x` → `explore-q-x`. */
function nameOf(path: string): string {
  return path.replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-|-$/g, "") || "home";
}
