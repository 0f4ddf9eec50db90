import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { beforeAll, describe, expect } from "vitest";
import { freePort } from "../../infra/free-port.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { checkSvg } from "../../marketplace/tracer/sanitize/check-svg.ts";
import { trace } from "../../marketplace/tracer/trace.ts";
import { landscape, logo, noise, picture, png } from "../marketplace/tracer/pictures.ts";
import { startMarketplace } from "../support/marketplace.ts";
import { afterFrames, open, visitEverywhere } from "./browser.ts";
import { type Site, signIn, test } from "./site.ts";

let small: Buffer;
let large: Buffer;
beforeAll(async () => {
  small = await png(picture(200, 150, `<g transform="scale(.5)">${logo}</g>`));
  large = await png(picture(400, 300, logo));
});

const choose = (page: Page, buffer: Buffer, name = "logo.png") =>
  page.setInputFiles("input[type=file]", { name, mimeType: "image/png", buffer });
const drawing = (page: Page) => page.getByRole("img", { name: "The drawing" });

async function chosen(site: Site, buffer: Buffer) {
  const opened = await open(site, "/svg");
  await choose(opened.page, buffer);
  await drawing(opened.page).waitFor();
  return opened;
}

async function stat(page: Page, name: string): Promise<string> {
  const told = await page.locator("dl.stats > div", { hasText: name }).locator("dd").first().textContent();
  return (told ?? "").trim();
}

/** Runs in the page: counts what its workers answered, once the page has dealt with it. */
function countWorkersAnswers(): void {
  Reflect.set(globalThis, "answers", 0);
  const count = () => Reflect.set(globalThis, "answers", Reflect.get(globalThis, "answers") + 1);
  globalThis.Worker = class extends Worker {
    constructor(...asked: ConstructorParameters<typeof Worker>) {
      super(...asked);
      this.addEventListener("message", () => setTimeout(count));
    }
  };
}

/** Runs in the page: pictures are read when `read` is called. */
function holdPictures(): void {
  const decode = createImageBitmap;
  globalThis.createImageBitmap = async (...asked: unknown[]) => {
    await new Promise<void>((resolve) => Reflect.set(globalThis, "read", resolve));
    return Reflect.apply(decode, globalThis, asked);
  };
}

async function traceForFree(page: Page): Promise<void> {
  await page.getByRole("button", { name: /Trace for free/ }).click();
  await page.getByText(/Traced in .* It was free/).waitFor();
}

describe("the workbench", () => {
  test("shows without a fault at every width, in both themes: empty, with a preview, and with a trace", async ({
    site,
  }) => {
    await visitEverywhere(site, "/svg");
    const preview = async (page: Page) => {
      await choose(page, large);
      await drawing(page).waitFor();
    };
    await visitEverywhere(site, "/svg", { name: "svg-preview", prepare: preview });
    await visitEverywhere(site, "/svg", {
      name: "svg-traced",
      prepare: async (page) => {
        await preview(page);
        await traceForFree(page);
        await page.locator(".layers .name").first().click();
      },
    });
  });

  test("shows without a fault at every width, in both themes: the drawing of words, and what an account pays with", async ({
    site,
  }) => {
    const prepare = async (page: Page) => {
      await signIn(site, page, `draws-${Date.now().toString(36)}`);
      await page.reload();
      await page.getByText("Draw", { exact: true }).click();
    };
    await visitEverywhere(site, "/svg", { name: "svg-draw", prepare });
  });

  test("the empty stage leads to a picture: one of the visitor's, or the example", async ({ site }) => {
    const { page, complaints, close } = await open(site, "/svg");
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose a picture" }).click();
    await chooser;
    await page.getByRole("button", { name: "Try an example" }).click();
    await expect.poll(() => drawing(page).getAttribute("src")).toMatch(/^blob:/);
    expect(complaints).toEqual([]);
    await close();
  });

  test("each option shows at once what it does, and nothing is asked of the service", async ({ site }) => {
    const { page, complaints, close } = await chosen(site, large);
    const asked: string[] = [];
    page.on("request", (request) => void (request.method() === "POST" && asked.push(request.url())));
    const before = await drawing(page).getAttribute("src");
    await page.locator("#colors").fill("0");
    await expect.poll(() => stat(page, "Colours")).toBe("2");
    await expect.poll(() => drawing(page).getAttribute("src")).not.toBe(before);
    expect(await page.locator("#call").textContent()).toContain('"colors": 2');
    await page.locator("#colors").fill("18");
    await expect.poll(() => stat(page, "Colours")).not.toBe("2");
    const nodes = Number(await stat(page, "Nodes"));
    await page.locator("#simplify").fill("0.9");
    await expect.poll(async () => Number(await stat(page, "Nodes"))).toBeLessThan(nodes);
    await expect.poll(async () => Number(await stat(page, "Score"))).toBeGreaterThan(0.3);
    expect(asked).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test("the page's tracer and the service's write the same SVG for the same pixels and options", async ({ site }) => {
    const { page, close } = await chosen(site, small);
    await page.getByText("Name objects as layers").first().click();
    await page.locator("#simplify").fill("0.2");
    const { data, info } = await sharp(small).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    const image = { width: info.width, height: info.height, rgba: new Uint8Array(data) };
    const own = trace(image, { layers: true, simplify: 0.2 }).svg;
    await page.getByText("Markup", { exact: true }).click();
    await expect.poll(() => page.locator(".canvas-markup code").textContent()).toBe(own);
    await traceForFree(page);
    expect(await page.locator(".canvas-markup code").textContent()).toBe(own);
    await close();
  });

  test("the page's tracer and the service's write the same SVG for see-through pictures, noise, pixel art and gradients", async ({
    site,
  }) => {
    const { page, close } = await open(site, "/svg");
    const seeThrough = `<rect x="20" y="20" width="90" height="60" fill="#06c" fill-opacity=".4"/><circle cx="80" cy="60" r="30" fill="#c03"/>`;
    const cells = `<g shape-rendering="crispEdges"><rect width="160" height="160" fill="#fff"/><path d="M0 0h20v20h-20zM40 40h20v40h-20z" fill="#036"/></g>`;
    const kinds = [
      picture(120, 100, seeThrough),
      noise(64, 48),
      picture(160, 160, cells),
      picture(240, 160, landscape),
    ];
    await page.getByText("Markup", { exact: true }).click();
    for (const image of kinds) {
      await choose(page, await png(image));
      const shown = page.locator(".canvas-markup code");
      await expect.poll(() => shown.textContent()).toBe(trace(image).svg);
    }
    await close();
  });

  test("layers are hidden, recoloured and saved, and each file holds what is shown", async ({ site }) => {
    const { page, complaints, close } = await chosen(site, large);
    await expect.poll(() => page.getByRole("button", { name: "Save as SVG" }).isDisabled()).toBe(true);
    await page.getByText("Name objects as layers").first().click();
    await traceForFree(page);
    const layers = await page.locator(".layers .name").allInnerTexts();
    expect(layers.length).toBeGreaterThan(2);
    await page.getByLabel(/^Show circle-1$/).uncheck({ force: true });
    await page.locator(".layers .name", { hasText: "triangle-1" }).click();
    await page.getByLabel("Colour as hex").fill("#00ff88");
    const saved = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const svg = await saved("Save as SVG");
    checkSvg(svg.bytes.toString());
    expect(svg.bytes.toString()).not.toContain('id="circle-1"');
    expect(svg.bytes.toString()).toMatch(/id="triangle-1"[^<]*><[^>]*#0f8/);
    expect(svg.name).toBe("logo.svg");
    const one = await saved("Save triangle-1");
    expect(one.bytes.toString().match(/<g /g)).toHaveLength(1);
    expect((await saved("Save as PDF")).bytes.toString("latin1")).toMatch(/^%PDF-1\.4[\s\S]*%%EOF\n$/);
    const meta = await sharp((await saved("Save as PNG")).bytes).metadata();
    expect([meta.format, meta.width, meta.height]).toEqual(["png", 1200, 900]);
    await page.getByRole("button", { name: "Show all" }).click();
    expect(await page.getByLabel(/^Show circle-1$/).isChecked()).toBe(true);
    expect(complaints).toEqual([]);
    await close();
  });

  test("what was traced is there again after other options were tried, with its edits", async ({ site }) => {
    const { page, close } = await chosen(site, large);
    await traceForFree(page);
    await page.locator(".layers .name").first().click();
    await page.getByLabel("Colour as hex").fill("#00ff88");
    await page.locator("#simplify").fill("0.9");
    await page.getByText(/^Preview of/).waitFor();
    expect(await page.getByRole("button", { name: "Save as SVG" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Back to the trace" }).click();
    await page.getByText("Markup", { exact: true }).click();
    expect(await page.locator(".canvas-markup code").textContent()).toContain("#0f8");
    expect(await page.getByRole("button", { name: "Save as SVG" }).isDisabled()).toBe(false);
    await close();
  });

  test("nothing moves while it loads, and its scripts keep to their weight", async ({ site }) => {
    const { page, close } = await open(site, "/svg");
    await page.evaluate(() => document.fonts.ready.then(() => {}));
    await afterFrames(page);
    await page.evaluate(() => document.fonts.ready.then(() => {}));
    await afterFrames(page);
    const moved = await page.evaluate(() => {
      const observer = new PerformanceObserver(() => {});
      observer.observe({ type: "layout-shift", buffered: true });
      const shifts = observer.takeRecords() as Array<PerformanceEntry & { value: number }>;
      return shifts.reduce((sum, { value }) => sum + value, 0);
    });
    expect(moved).toBeLessThanOrEqual(0.02);
    const worker = await page.locator("[data-worker]").getAttribute("data-worker");
    const scripts = await page
      .locator("script[src], link[rel=modulepreload]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("src") ?? one.getAttribute("href") ?? ""));
    expect(scripts).not.toContain(worker);
    const weigh = async (path: string) => {
      const answer = await page.request.get(site.url + path, { headers: { "accept-encoding": "gzip" } });
      return Number(answer.headers()["content-length"]);
    };
    const weights = await Promise.all(scripts.map(weigh));
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(40_000);
    expect(await weigh(worker ?? "")).toBeLessThanOrEqual(150_000);
    await close();
  });

  test("two settings are compared over each other", async ({ site }) => {
    const { page, close } = await chosen(site, large);
    await page.getByRole("button", { name: "Keep as A" }).click();
    await page.locator("#colors").fill("0");
    await expect.poll(() => stat(page, "Colours")).toBe("2");
    expect(await page.locator(".ba-tag").allInnerTexts()).toEqual(["A: as it is", "B: colors 2"]);
    const sources = await page
      .locator(".ba img")
      .evaluateAll((images) => images.map((image) => image.getAttribute("src")));
    expect(new Set(sources).size).toBe(2);
    await page.getByRole("button", { name: "Let A go" }).click();
    expect(await page.locator(".ba-tag").first().textContent()).toBe("Source");
    await close();
  });

  test("a picture is pasted or dropped; what is no picture is refused in words", async ({ site }) => {
    const { page, complaints, close } = await open(site, "/svg");
    const give = (kind: "paste" | "drop", type: string, bytes: number[]) =>
      page.evaluate(
        ([kind, type, bytes]) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(bytes as number[])], "given.png", { type: type as string }));
          const init = { bubbles: true, cancelable: true };
          document.body.dispatchEvent(
            kind === "paste"
              ? new ClipboardEvent("paste", { ...init, clipboardData: data })
              : new DragEvent("drop", { ...init, dataTransfer: data }),
          );
        },
        [kind, type, bytes] as const,
      );
    await give("paste", "image/png", [...small]);
    await drawing(page).waitFor();
    await give("drop", "image/svg+xml", [60, 115]);
    await page.getByText("PNG, JPEG or WebP only.").waitFor();
    await give("drop", "image/png", [1, 2, 3]);
    await page.getByText("It cannot be read: it is damaged or cut short.").waitFor();
    await give("drop", "image/png", [...large]);
    await page.getByText("400 × 300").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test("a preview that comes after the trace does not take its place", async ({ site }) => {
    const { page, close } = await open(site, "/svg");
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.addInitScript(countWorkersAnswers);
    await page.route(/svg-tracer/, async (route) => {
      await released;
      await route.continue();
    });
    await page.reload();
    await choose(page, large);
    await traceForFree(page);
    release();
    await page.waitForFunction(() => Reflect.get(globalThis, "answers") > 0);
    expect(await page.getByText(/Traced in .* It was free/).isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: "Save as SVG" }).isEnabled()).toBe(true);
    await close();
  });

  test("a press while a picture is still being read is for that picture", async ({ site }) => {
    const { page, close } = await open(site, "/svg");
    await page.addInitScript(holdPictures);
    await page.reload();
    const read = () => page.evaluate(() => Reflect.get(globalThis, "read")());
    await choose(page, large);
    await page.getByRole("button", { name: /Trace for free/ }).click();
    await read();
    await page.getByText(/Traced in .* It was free/).waitFor();
    await choose(page, small, "other.png");
    await page.getByRole("button", { name: /Trace for free/ }).click();
    await read();
    await page.getByRole("button", { name: "Trace for free 1 left today" }).waitFor();
    await page.getByText("Markup", { exact: true }).click();
    expect(await page.locator(".canvas-markup code").textContent()).toContain('width="200" height="150"');
    await close();
  });

  test("by keyboard alone: options, a free try, zoom, the line, a layer", async ({ site }) => {
    const { page, complaints, close } = await chosen(site, large);
    await page.locator("#simplify").focus();
    for (let n = 0; n < 4; n++) await page.keyboard.press("ArrowRight");
    expect(await page.locator('output[for="simplify"]').textContent()).toBe("0.2");
    await page.getByRole("button", { name: /Trace for free/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByText(/Traced in/).waitFor();
    const stage = page.getByRole("group", { name: /^Picture/ });
    await stage.focus();
    await page.keyboard.press("+");
    expect(await page.locator(".zoom-told").textContent()).toBe("150 %");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => stage.evaluate((pane) => pane.scrollLeft)).toBeGreaterThan(0);
    await page.keyboard.press("0");
    expect(await page.locator(".zoom-told").textContent()).toBe("100 %");
    const line = page.getByRole("slider", { name: /^Compare/ });
    await line.focus();
    await page.keyboard.press("Home");
    expect(await line.inputValue()).toBe("0");
    await page.locator(".layers .name").first().focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Colour as hex").waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test("by pointer: the line follows, Ctrl and the wheel zoom where it points, and a zoomed picture is dragged", async ({
    site,
  }) => {
    const { page, close } = await chosen(site, large);
    const box = await page.locator(".ba").boundingBox();
    if (!box) throw new Error("no picture");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 2, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 4, y, { steps: 4 });
    await page.mouse.up();
    expect(Number(await page.getByRole("slider", { name: /^Compare/ }).inputValue())).toBeCloseTo(25, -1);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -400);
    await page.keyboard.up("Control");
    await expect.poll(() => page.locator(".zoom-told").textContent()).toBe("400 %");
    const stage = page.getByRole("group", { name: /^Picture/ });
    const left = () => stage.evaluate((pane) => pane.scrollLeft);
    const before = await left();
    await page.mouse.move(box.x + 350, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 250, y, { steps: 4 });
    await page.mouse.up();
    expect((await left()) - before).toBeCloseTo(100, -1);
    await close();
  });
});

describe("free tries", () => {
  test("the fourth of a day is refused on the page, saying what to do; another address has its own", async ({
    site,
  }) => {
    const extraHTTPHeaders = { "x-forwarded-for": "2001:db8:77:1::1" };
    const { page, close } = await open(site, "/svg", { extraHTTPHeaders });
    await choose(page, small);
    for (const left of [2, 1, 0]) {
      await page.getByRole("button", { name: /Trace for free/ }).click();
      await page.getByRole("button", { name: `Trace for free ${left} left today` }).waitFor();
    }
    await page.getByRole("button", { name: /Trace for free/ }).click();
    const refusal = page.getByRole("alert").filter({ hasText: "Nothing was drawn, and nothing was charged." });
    await refusal.getByText(/used up.*Sign in and pay with credits/).waitFor();
    await page.reload();
    expect(await page.getByRole("button", { name: /Trace for free/ }).count()).toBe(0);
    expect(await page.getByRole("link", { name: /Sign in to trace/ }).isVisible()).toBe(true);
    await close();
    const other = await open(site, "/svg", { extraHTTPHeaders: { "x-forwarded-for": "2001:db8:77:2::1" } });
    await other.page.getByRole("button", { name: "Trace for free 3 left today" }).waitFor();
    await other.close();
  });

  test("a picture over 1 megapixel is made smaller before it is sent", async ({ site }) => {
    const photo = await sharp({ create: { width: 1_600, height: 1_000, channels: 3, background: "#c03" } })
      .png()
      .toBuffer();
    const { page, close } = await chosen(site, photo);
    await traceForFree(page);
    await page.getByText("Markup", { exact: true }).click();
    expect(await page.locator(".canvas-markup code").textContent()).toContain('width="1264" height="790"');
    await close();
  });

  test("where the operator allows none, none is offered", async ({ chromium }) => {
    const env = { LIMIT_SVG_TRIES_PER_ADDRESS: "0", MARKETPLACE_PORT: String(await freePort()) };
    const none = await startMarketplace({ env });
    try {
      const { page, close } = await open({ ...none, chromium }, "/svg");
      expect(await page.getByText(/free/i).count()).toBe(0);
      expect(await page.getByRole("link", { name: /Sign in to trace 1 credit/ }).isVisible()).toBe(true);
      await close();
    } finally {
      await none.stop();
    }
  });
});

describe("with credits", () => {
  test("a trace costs what its button says; where credits lack nothing is charged, and the page says so", async ({
    site,
  }) => {
    const { page, complaints, close } = await open(site, "/svg");
    const handle = `traces-${Date.now().toString(36)}`;
    await signIn(site, page, handle);
    const { rows } = await site.context.db.query<{ id: AccountId }>("select id from accounts where handle = $1", [
      handle,
    ]);
    await grant(site.context.db, { accountId: rows[0]!.id, credits: credits(1n) });
    await page.reload();
    await choose(page, small);
    await page.getByRole("button", { name: "Trace 1 credit" }).click();
    await page.getByText(/Traced in .* s for 1 credit\./).waitFor();
    const stored = await page.getByRole("link", { name: /^\/files\// }).getAttribute("href");
    expect((await page.request.get(site.url + stored)).status()).toBe(200);
    expect(complaints).toEqual([]);
    await page.getByRole("button", { name: "Trace 1 credit" }).click();
    await page.getByText("Not enough credits.").waitFor();
    await close();
  });
});

describe("without JavaScript", () => {
  const plain = { javaScriptEnabled: false };

  test("a form takes a picture and answers a page with its drawing, its layers and its markup", async ({ site }) => {
    const { page, close } = await open(site, "/svg", plain);
    await choose(page, large);
    const [drop, card] = await Promise.all([".drop", ".bench > .card"].map((part) => page.locator(part).boundingBox()));
    expect((drop?.x ?? 0) + (drop?.width ?? 0), "what names the file stays in its card").toBeLessThan(
      (card?.x ?? 0) + (card?.width ?? 0),
    );
    await page.getByText("Name objects as layers").first().click();
    await page.getByRole("button", { name: /Trace for free/ }).click({ noWaitAfter: true });
    await page.locator(".ba svg").waitFor();
    await page.waitForLoadState();
    expect(await page.locator(".ba svg g").count()).toBeGreaterThan(2);
    checkSvg(await page.locator("#markup").inputValue());
    expect(await page.getByRole("button", { name: "Trace for free 2 left today" }).isVisible()).toBe(true);
    expect(await page.getByLabel("Name objects as layers").first().isChecked()).toBe(true);
    await close();
  });

  test("words are drawn for an account, and the files are there", async ({ site }) => {
    const { page, close } = await open(site, "/svg", plain);
    const handle = `plain-${Date.now().toString(36)}`;
    await signIn(site, page, handle);
    await page.reload();
    await page.getByText("Draw", { exact: true }).click();
    await page.getByLabel("What to draw").fill("A fox made of paper");
    await page.getByRole("button", { name: "Draw 3 credits" }).click({ noWaitAfter: true });
    await page.locator(".ba svg").waitFor();
    await page.waitForLoadState();
    expect(await page.locator(".ba svg path, .ba svg rect, .ba svg circle").count()).toBeGreaterThan(0);
    const stored = await page.getByRole("link", { name: "PNG" }).getAttribute("href");
    expect(new URL(stored ?? "").pathname).toMatch(/^\/files\/.*\.png$/);
    await close();
  });

  test("what is refused is said on the page, and the options stay", async ({ site }) => {
    const { page, close } = await open(site, "/svg", plain);
    await page.locator("#style").selectOption("logo");
    await page.getByRole("button", { name: /Trace for free/ }).click();
    await page.getByText("Choose a picture first.").waitFor();
    expect(await page.locator("#style").inputValue()).toBe("logo");
    await close();
  });
});

test("a preview without its background is as like its picture as with it", async ({ site }) => {
  const sign = `<path fill="#e8644a" d="M0 0h200v150H0z"/><circle cx="100" cy="75" r="50" fill="#123"/>`;
  const { page, close } = await chosen(site, await png(picture(200, 150, sign)));
  const score = () => stat(page, "Score").then(Number);
  await expect.poll(score).toBeGreaterThan(0.5);
  const before = await score();
  const paths = await stat(page, "Paths");
  await page.getByText("Remove the background").click();
  await expect.poll(() => stat(page, "Paths")).not.toBe(paths);
  await expect.poll(score).toBeCloseTo(before, 1);
  await close();
});

test("a preview keeps gradients", async ({ site }) => {
  const { page, close } = await chosen(site, await png(picture(300, 200, landscape)));
  await page.getByText("Markup", { exact: true }).click();
  await expect.poll(() => page.locator(".canvas-markup code").textContent()).toContain("linearGradient");
  await close();
});
