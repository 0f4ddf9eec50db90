import type { Browser, Page } from "playwright-core";

/** What a page took on a slow phone. */
export interface PageFigures {
  /** Milliseconds until the largest thing in the window was painted. */
  readonly lcpMs: number;
  /** How much of the window moved by itself. */
  readonly cls: number;
  /** Milliseconds beyond 50 of each task that blocked the page. */
  readonly tbtMs: number;
  /** What was loaded, by address. */
  readonly loaded: readonly string[];
}

/** What pages note of themselves, from before their first byte. It is compiled nowhere else, so it is a text. */
const notes = `
  globalThis.noted = { lcp: 0, cls: 0, blocked: 0 };
  const watch = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note))
    .observe({ type, buffered: true });
  watch("largest-contentful-paint", (entry) => { noted.lcp = entry.startTime; });
  watch("layout-shift", (entry) => { if (!entry.hadRecentInput) noted.cls += entry.value; });
  watch("longtask", (entry) => { noted.blocked += Math.max(0, entry.duration - 50); });
  addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => globalThis.tellPressed?.(performance.now() - timeStamp);
    port2.postMessage("after the picture");
  }), true);
`;

interface Noted {
  readonly lcp: number;
  readonly cls: number;
  readonly blocked: number;
}

/** Slow 4G and a processor four times as slow, as Lighthouse has them. */
const slow4g = { offline: false, latency: 150, downloadThroughput: 204_800, uploadThroughput: 96_000 };
export const slowdown = 4;

async function openPhone(chromium: Browser): Promise<Page> {
  const context = await chromium.newContext({
    viewport: { width: 375, height: 667 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  });
  await context.addInitScript({ content: notes });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", slow4g);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  return page;
}

const notedBy = (page: Page) => page.evaluate(() => (globalThis as unknown as { noted: Noted }).noted);

/** Loads a page with nothing in the cache. */
export async function loadOnPhone(chromium: Browser, url: string): Promise<PageFigures> {
  const page = await openPhone(chromium);
  const loaded: string[] = [];
  page.on("requestfinished", (request) => loaded.push(request.url()));
  await page.goto(url, { waitUntil: "load" });
  // What moves or blocks after the load counts too.
  await page.waitForTimeout(1_500);
  const { lcp, cls, blocked } = await notedBy(page);
  await page.context().close();
  return { lcpMs: lcp, cls, tbtMs: blocked, loaded };
}

/**
 * Milliseconds from a press of `name` to the next picture; undefined where there is no such button. Fields that are
 * required get a text first.
 */
export async function pressOnPhone(chromium: Browser, url: string, name: string): Promise<number | undefined> {
  const page = await openPhone(chromium);
  // Told as it happens: a form that is sent leads to another page, which notes nothing of the press.
  const pressed = new Promise<number>((resolve, reject) => {
    setTimeout(() => reject(new Error(`no picture followed the press of ${name} at ${url}`)), pressedWithinMs).unref();
    void page.exposeFunction("tellPressed", resolve);
  });
  await page.goto(url, { waitUntil: "load" });
  const button = page.locator("main").getByRole("button", { name }).first();
  if (!(await button.isVisible())) return void (await page.context().close());
  for (const field of await page.locator("main form :is(input, textarea):required:visible").all()) {
    if ((await field.inputValue()) === "") await field.fill("a");
  }
  // The answer is not waited for: what counts is that the press is seen.
  await page.route("**/*", (route) => new Promise((resolve) => setTimeout(() => resolve(route.continue()), 2_000)));
  await button.press("Enter", { noWaitAfter: true });
  return pressed.finally(() => page.context().close());
}

const pressedWithinMs = 30_000;
