import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page, Route } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { credits } from "../../marketplace/credits/amount.ts";
import { readBalances } from "../../marketplace/credits/balance.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { logo, picture, png } from "../marketplace/tracer/pictures.ts";
import { open } from "./browser.ts";
import { type Site, signIn, test } from "./site.ts";

let logoPng: Buffer;
beforeAll(async () => {
  logoPng = await png(picture(400, 300, logo));
});

const choose = (page: Page, name = "logo.png") =>
  page.setInputFiles("input[type=file]", { name, mimeType: "image/png", buffer: logoPng });
const drawing = (page: Page) => page.getByRole("img", { name: "The drawing" });
const stat = async (page: Page, name: string) =>
  (await page.locator("dl.stats > div", { hasText: name }).locator("dd").first().textContent())?.trim();

async function traced(site: Site) {
  const opened = await open(site, "/svg");
  await choose(opened.page);
  await drawing(opened.page).waitFor();
  await opened.page.getByText("Name objects as layers").first().click();
  await opened.page.getByRole("button", { name: /Trace for free/ }).click();
  await opened.page.getByText(/Traced in .* It was free/).waitFor();
  return opened;
}

/** The workbench of a person with so many credits. */
async function withCredits(site: Site, amount: bigint) {
  const opened = await open(site, "/svg");
  const handle = `bench-${Math.random().toString(36).slice(2)}`;
  await signIn(site, opened.page, handle);
  const { db } = site.context;
  const { rows } = await db.query<{ id: AccountId }>("select id from accounts where handle = $1", [handle]);
  const accountId = rows[0]!.id;
  await grant(db, { accountId, credits: credits(amount) });
  await opened.page.reload();
  return { ...opened, left: async () => (await readBalances(db, [accountId]))[0]?.credits };
}

test("Enter in a field of the workbench buys nothing, and what was edited stays", async ({ site }) => {
  const { page, complaints, close } = await traced(site);
  const posted: string[] = [];
  page.on("request", (request) => void (request.method() === "POST" && posted.push(request.url())));
  await page.locator(".layers .name", { hasText: "triangle-1" }).click();
  await page.getByLabel("Colour as hex").fill("#00ff88");
  await page.keyboard.press("Enter");
  await page.getByLabel(/^Show circle-1$/).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("slider", { name: /^Compare/ }).focus();
  await page.keyboard.press("Enter");
  await page.locator("#style").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.getByText("Markup", { exact: true }).click();
  expect(await page.locator(".canvas-markup code").textContent()).toContain("#0f8");
  expect(await page.getByRole("button", { name: "Trace for free 2 left today" }).isVisible()).toBe(true);
  expect(posted).toEqual([]);
  expect(complaints).toEqual([]);
  await close();
});

test("a drawing whose answer was lost is charged once, whatever refuses the next presses", async ({ site }) => {
  const { page, left, close } = await withCredits(site, 5n);
  await choose(page);
  await drawing(page).waitFor();
  const names = new Set<string | undefined>();
  let press = 0;
  await page.route("**/api/account/svg/vectorize", async (route: Route) => {
    press += 1;
    names.add(route.request().headers()["idempotency-key"]);
    if (press === 1) {
      await route.fetch();
      return route.abort();
    }
    if (press < 4) return route.fulfill({ status: press === 2 ? 429 : 503, json: { error: "Too busy right now." } });
    return route.continue();
  });
  const trace = page.getByRole("button", { name: "Trace 1 credit" });
  await trace.click();
  await page.getByText("The answer was lost on the way.").waitFor();
  for (let n = 0; n < 2; n += 1) {
    await trace.click();
    await expect.poll(() => press).toBe(n + 2);
    await page.getByText("Too busy right now.").waitFor();
    expect(await page.getByText(/nothing was charged/).count()).toBe(0);
    await page.getByText("Press again: it is drawn and charged once").waitFor();
  }
  await trace.click();
  await page.getByText(/Traced in .* for 1 credit\./).waitFor();
  expect(names.size).toBe(1);
  expect(await left()).toBe(4n);
  await close();
});

test.for([500, 503])(
  "a drawing whose first answer is %i, after it was made, is not said to cost nothing, and the next press charges it once",
  async (status, { site }) => {
    const { page, left, close } = await withCredits(site, 5n);
    await choose(page);
    await drawing(page).waitFor();
    const fail = async (route: Route) => {
      await route.fetch();
      return route.fulfill({ status, json: { error: "The service cannot reach its database." } });
    };
    await page.route("**/api/account/svg/vectorize", fail, { times: 1 });
    const trace = page.getByRole("button", { name: "Trace 1 credit" });
    await trace.click();
    await page.getByText("The service cannot reach its database.").waitFor();
    expect(await page.getByText(/nothing was charged/).count()).toBe(0);
    await trace.click();
    await page.getByText(/Traced in .* for 1 credit\./).waitFor();
    expect(await left()).toBe(4n);
    await close();
  },
);

test.for([1, 2])(
  "a drawing that was refused for now, %i times, does not come before another one",
  async (times, { site }) => {
    const { page, close } = await withCredits(site, 20n);
    const refuse = (route: Route) => route.fulfill({ status: 503, json: { error: "Try again." } });
    await page.route("**/api/account/svg/generate", refuse, { times });
    const draw = page.getByRole("button", { name: /^Draw 3 credits/ });
    await page.getByText("Draw", { exact: true }).click();
    await page.getByLabel("What to draw").fill("A fox made of paper");
    for (let n = 0; n < times; n += 1) {
      await Promise.all([page.waitForResponse("**/api/account/svg/generate"), draw.click()]);
      await page.getByText("Try again.").waitFor();
    }
    await page.getByLabel("What to draw").fill("A bear made of snow");
    const [posted] = await Promise.all([page.waitForRequest("**/api/account/svg/generate"), draw.click()]);
    expect(posted.postDataJSON()).toMatchObject({ prompt: "A bear made of snow" });
    await close();
  },
);

test("a drawing that was charged and is no longer kept is told so, and the next press has another drawn", async ({
  site,
}) => {
  const { page, close } = await withCredits(site, 5n);
  await choose(page);
  await drawing(page).waitFor();
  const names: (string | undefined)[] = [];
  await page.route("**/api/account/svg/vectorize", (route) => {
    names.push(route.request().headers()["idempotency-key"]);
    const json = { error: "The run succeeded; its output is no longer kept.", charged: true };
    return names.length === 1 ? route.fulfill({ status: 410, json }) : route.fallback();
  });
  const button = page.getByRole("button", { name: /^Trace 1 credit/ });
  await button.click();
  await page.getByText("It was drawn before, and charged once.").waitFor();
  expect(await page.getByText(/nothing was charged/).count()).toBe(0);
  await button.click();
  await page.getByText(/Traced in .* for 1 credit/).waitFor();
  expect(new Set(names).size).toBe(2);
  await close();
});

test("of a free try whose answer was lost the page does not say that it can be had again", async ({ site }) => {
  const { page, close } = await open(site, "/svg");
  await choose(page);
  await drawing(page).waitFor();
  await page.route("**/api/svg/try", (route) => route.abort());
  await page.getByRole("button", { name: /Trace for free/ }).click();
  await page.getByText("The answer was lost on the way.").waitFor();
  await page.getByText("it may have used up one of today’s tries").waitFor();
  await close();
});

test("what is drawn from words is not compared with a picture that was chosen before", async ({ site }) => {
  const { page, close } = await withCredits(site, 10n);
  await choose(page);
  await drawing(page).waitFor();
  expect(await page.getByText("Source", { exact: true }).count()).toBe(1);
  await page.getByText("Draw", { exact: true }).click();
  await page.getByLabel("What to draw").fill("A fox made of paper");
  await page.getByRole("button", { name: /^Draw 3 credits/ }).click();
  await page.getByText(/^Drawn in/).waitFor();
  await page.getByText("Compare", { exact: true }).click();
  expect(await page.locator(".ba-tag-a").count()).toBe(0);
  expect(await page.locator(".ba img").count()).toBe(1);
  // The picture is still there to be traced.
  await page.getByText("Trace an image", { exact: true }).click();
  await expect.poll(() => page.locator(".ba-tag-a").allInnerTexts()).toEqual(["Source"]);
  await close();
});

test("text that is pasted or dropped stays text, and a finished trace is there after another picture was chosen", async ({
  site,
}) => {
  const { page, complaints, close } = await traced(site);
  await page.getByText("Draw", { exact: true }).click();
  const isTaken = await page.evaluate(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add("a fox", "text/plain");
      data.items.add(new File([new Uint8Array(bytes)], "copied.png", { type: "image/png" }));
      const prompt = document.querySelector("#prompt");
      prompt?.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data }));
      const text = new DataTransfer();
      text.items.add("a fox", "text/plain");
      return !prompt?.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: text }));
    },
    [...logoPng],
  );
  expect(isTaken).toBe(false);
  expect(await page.getByLabel("What to draw").isVisible()).toBe(true);
  await page.getByText("Trace an image", { exact: true }).click();
  // Neither that nor the way back is an option of the trace.
  await page.getByText(/Traced in/).waitFor();
  await choose(page, "another.png");
  await page.getByText(/^Preview of/).waitFor();
  await page.getByRole("button", { name: "Back to the trace" }).click();
  expect(await page.getByRole("button", { name: "Save as SVG" }).isDisabled()).toBe(false);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as SVG" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("logo.svg");
  const source = page.locator(".ba-before");
  expect(await source.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(400);
  expect(complaints).toEqual([]);
  await close();
});

test("figures are of what is saved: hidden layers do not count, and an edited drawing has no score", async ({
  site,
}) => {
  const { page, close } = await traced(site);
  const before = { paths: Number(await stat(page, "Paths")), score: Number(await stat(page, "Score")) };
  expect(before.score).toBeGreaterThan(0.9);
  await page.getByLabel(/^Show circle-1$/).uncheck({ force: true });
  await expect.poll(async () => Number(await stat(page, "Paths"))).toBeLessThan(before.paths);
  expect(await stat(page, "Score")).toBe("–");
  const hidden = await stat(page, "Paths");
  await page.getByRole("button", { name: "Keep as A" }).click();
  expect(await page.locator("dl.stats > div", { hasText: "Paths" }).textContent()).toContain(`A: ${hidden}`);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect.poll(async () => Number(await stat(page, "Paths"))).toBe(before.paths);
  expect(Number(await stat(page, "Score"))).toBe(before.score);
  await close();
});

test("zoom keeps the place that the pointer is at, and by its buttons the middle", async ({ site }) => {
  const { page, close } = await open(site, "/svg");
  await page.setInputFiles("input[type=file]", {
    name: "tall.png",
    mimeType: "image/png",
    buffer: await png(picture(150, 300, logo)),
  });
  await drawing(page).waitFor();
  /** Where a point of the window lies in the picture, in shares. */
  const placeOf = (x: number, y: number) =>
    page.locator(".ba").evaluate(
      (element, [x, y]) => {
        const box = element.getBoundingClientRect();
        return [(x - box.left) / box.width, (y - box.top) / box.height];
      },
      [x, y] as const,
    );
  const near = (place: number[], [x = 0, y = 0]: number[]) => {
    expect(place[0]).toBeCloseTo(x, 1);
    expect(place[1]).toBeCloseTo(y, 1);
  };
  const box = (await page.locator(".ba").boundingBox())!;
  const [x, y] = [box.x + box.width * 0.7, box.y + box.height * 0.4];
  await page.mouse.move(x, y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -600);
  await page.keyboard.up("Control");
  await expect.poll(() => page.locator(".zoom-told").textContent()).toBe("800 %");
  near(await placeOf(x, y), [0.7, 0.4]);
  const pane = (await page.getByRole("group", { name: /^Picture/ }).boundingBox())!;
  const middle = [pane.x + pane.width / 2, pane.y + pane.height / 2] as const;
  const before = await placeOf(...middle);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.getByRole("button", { name: "Zoom out" }).click();
  await page.getByRole("button", { name: "Zoom out" }).click();
  await expect.poll(() => page.locator(".zoom-told").textContent()).toBe("533 %");
  near(await placeOf(...middle), before);
  await close();
});

test("a seed that is none does not keep a picture from being traced, and is refused in words where it counts", async ({
  site,
}) => {
  const { page, close } = await withCredits(site, 10n);
  await choose(page);
  await drawing(page).waitFor();
  await page.getByText("Draw", { exact: true }).click();
  await page.getByLabel("Seed").fill("1.5");
  await page.getByLabel("What to draw").fill("A fox");
  await page.getByRole("button", { name: /^Draw 3 credits/ }).click();
  await page.getByRole("alert").getByText(/seed/).waitFor();
  await page.getByText("Trace an image", { exact: true }).click();
  await page.getByRole("button", { name: "Trace 1 credit" }).click();
  await page.getByText(/Traced in .* for 1 credit\./).waitFor();
  await close();
});

test("the call that is copied is the one that is shown, and HD's price is the one that is asked", async ({ site }) => {
  const { page, context, close } = await open(site, "/svg");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = async () => {
    await page.getByRole("button", { name: "Copy the call" }).click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(await copied()).toMatch(/^curl [^}]*\}'$/);
  await page.getByText("MCP", { exact: true }).click();
  await expect.poll(copied).toMatch(/^\{ "name": "svg_vectorize"[\s\S]*\} \}$/);
  await page.getByText("Draw", { exact: true }).click();
  await page.getByText(/More detail/).click();
  await page.getByRole("link", { name: "Sign in to draw 8 credits" }).waitFor();
  await close();
});

/** Lets the service draw what is posted first, and keeps its answer from the page; told are the names of all posts. */
async function loseFirstAnswer(page: Page, product: "vectorize" | "generate") {
  const names: (string | undefined)[] = [];
  await page.route(`**/api/account/svg/${product}`, async (route: Route) => {
    names.push(route.request().headers()["idempotency-key"]);
    if (names.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  return names;
}

test("a page that is loaded again while a drawing is made goes on with it, and it is charged once", async ({
  site,
}) => {
  const { page, left, close } = await withCredits(site, 5n);
  const names = await loseFirstAnswer(page, "vectorize");
  await choose(page);
  await drawing(page).waitFor();
  await page.locator("#style").selectOption("logo");
  await page.getByRole("button", { name: "Trace 1 credit" }).click();
  await expect.poll(() => names.length).toBe(1);
  await page.reload();
  await page.getByText(/^Asked for before: logo, style logo\. Traced in .* for 1 credit\./).waitFor();
  await page.locator(".ba-before").waitFor();
  expect(new Set(names).size).toBe(1);
  expect(await left()).toBe(4n);
  // It is over: the next press is for another one.
  await page.getByRole("button", { name: "Trace 1 credit" }).click();
  await expect.poll(() => new Set(names).size).toBe(2);
  await expect.poll(left).toBe(3n);
  await close();
});

test("what was asked for before a reload comes before another drawing of its kind", async ({ site }) => {
  const { page, close } = await withCredits(site, 20n);
  const names = await loseFirstAnswer(page, "generate");
  await page.getByText("Draw", { exact: true }).click();
  await page.getByLabel("What to draw").fill("A fox made of paper");
  await page.getByRole("button", { name: /^Draw 3 credits/ }).click();
  await page.getByText("The answer was lost on the way.").waitFor();
  await page.getByLabel("What to draw").fill("A bear made of snow");
  await page.getByRole("button", { name: /^Draw 3 credits/ }).click();
  await page.getByText(/^Asked for before: “A fox made of paper”\. Drawn in/).waitFor();
  expect(names).toEqual([names[0], names[0]]);
  // The form is as it was left: the next press is for what it says.
  await page.getByRole("button", { name: /^Draw 3 credits/ }).click();
  await expect.poll(() => new Set(names).size).toBe(2);
  await close();
});

test("a trace that is made meanwhile does not have a drawing whose answer was lost charged again", async ({ site }) => {
  const { page, close } = await withCredits(site, 20n);
  const names = await loseFirstAnswer(page, "generate");
  const draw = page.getByRole("button", { name: /^Draw 3 credits/ });
  await page.getByText("Draw", { exact: true }).click();
  await page.getByLabel("What to draw").fill("A fox made of paper");
  await draw.click();
  await page.getByText("The answer was lost on the way.").waitFor();
  await choose(page);
  await page.getByRole("button", { name: "Trace 1 credit" }).click();
  await page.getByText(/Traced in .* for 1 credit\./).waitFor();
  await page.reload();
  await page.getByText(/^Asked for before: “A fox made of paper”\. Drawn in/).waitFor();
  expect(names).toEqual([names[0], names[0]]);
  await close();
});

test("a picture that is too large to be kept is charged once when it is chosen again after a reload", async ({
  site,
}) => {
  const { page, left, close } = await withCredits(site, 5n);
  const names = await loseFirstAnswer(page, "vectorize");
  await choose(page);
  await drawing(page).waitFor();
  // Room for a name, and not for a picture.
  await page.evaluate(() => {
    for (let size = 2 ** 22; size > 512; size /= 2) {
      try {
        for (let n = 0; n < 3; n += 1) sessionStorage.setItem(`filled ${size} ${n}`, "x".repeat(size));
      } catch {
        // It is full for this size.
      }
    }
  });
  await page.getByRole("button", { name: "Trace 1 credit" }).click();
  await page.getByText("The answer was lost on the way.").waitFor();
  await page.reload();
  await choose(page, "the same.png");
  await drawing(page).waitFor();
  await page.getByRole("button", { name: "Trace 1 credit" }).click();
  await page.getByText(/Traced in .* for 1 credit\./).waitFor();
  expect(new Set(names).size).toBe(1);
  expect(await left()).toBe(4n);
  await close();
});

test("where the browser keeps nothing, the next press on the page is for the same drawing all the same", async ({
  site,
}) => {
  const { page, left, close } = await withCredits(site, 5n);
  await page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await page.reload();
  const names = await loseFirstAnswer(page, "vectorize");
  await choose(page);
  await drawing(page).waitFor();
  const trace = page.getByRole("button", { name: "Trace 1 credit" });
  await trace.click();
  await page.getByText("The answer was lost on the way.").waitFor();
  await trace.click();
  await page.getByText(/Traced in .* for 1 credit\./).waitFor();
  expect(names).toEqual([names[0], names[0]]);
  expect(await left()).toBe(4n);
  await close();
});

test("what was drawn last is there again after a reload, for the account that had it drawn and for no other", async ({
  site,
}) => {
  const { page, left, close } = await withCredits(site, 5n);
  await choose(page);
  await drawing(page).waitFor();
  await page.getByRole("button", { name: "Trace 1 credit" }).click();
  await page.getByText(/Traced in .* for 1 credit\./).waitFor();
  const paths = await stat(page, "Paths");
  await page.reload();
  await page.getByText("Traced last in this tab.").waitFor();
  expect(await stat(page, "Paths")).toBe(paths);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as SVG" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("logo.svg");
  expect(await left()).toBe(4n);
  await signIn(site, page, `other-${Math.random().toString(36).slice(2)}`);
  await page.reload();
  await page
    .getByRole("button", { name: /^Trace/ })
    .first()
    .waitFor();
  await page.getByText("nothing is sent until you press the button").waitFor();
  expect(await page.getByText("Traced last in this tab.").count()).toBe(0);
  await close();
});

test("a trace is compared with the picture that it was made of, though another was chosen meanwhile", async ({
  site,
}) => {
  const { page, close } = await open(site, "/svg");
  await choose(page);
  await drawing(page).waitFor();
  let letThrough = () => {};
  const through = new Promise<void>((resolve) => (letThrough = resolve));
  await page.route("**/api/svg/try", async (route) => {
    await through;
    await route.continue();
  });
  const source = page.getByRole("img", { name: "Source" });
  const before = await source.getAttribute("src");
  await page.getByRole("button", { name: /Trace for free/ }).click();
  await choose(page, "other.png");
  await expect.poll(() => source.getAttribute("src")).not.toBe(before);
  letThrough();
  await page.getByText(/Traced in .* It was free/).waitFor();
  await expect.poll(() => source.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(400);
  await close();
});

test("a file that was chosen before is taken again after another picture was dropped", async ({ site }) => {
  const { page, context, close } = await open(site, "/svg");
  const directory = await mkdtemp(join(tmpdir(), "pictures-"));
  const file = join(directory, "chosen.png");
  await writeFile(file, logoPng);
  const browser = await context.newCDPSession(page);
  // As a person chooses it: the browser tells the page of a choice that changes something, and of no other.
  const chooseFile = async () => {
    const { root } = await browser.send("DOM.getDocument");
    const { nodeId } = await browser.send("DOM.querySelector", { nodeId: root.nodeId, selector: "input[type=file]" });
    await browser.send("DOM.setFileInputFiles", { nodeId, files: [file] });
  };
  await chooseFile();
  await page.getByText("chosen.png").waitFor();
  await page.evaluate(
    (bytes) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(bytes)], "dropped.png", { type: "image/png" }));
      document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
    },
    [...logoPng],
  );
  await page.getByText("dropped.png").waitFor();
  await chooseFile();
  await page.getByText("chosen.png").waitFor();
  await close();
  await rm(directory, { recursive: true });
});

test("a drawing that only newer code can read is shown and saved as it came, and read after a reload", async ({
  site,
}) => {
  const { page, complaints, close } = await open(site, "/svg");
  await choose(page);
  await drawing(page).waitFor();
  let asTheServiceWrote = "";
  await page.route("**/api/svg/try", async (route: Route) => {
    const response = await route.fetch();
    const made = await response.json();
    asTheServiceWrote = made.svg;
    await route.fulfill({ response, json: { ...made, svg: made.svg.replace("</svg>", "<title>New</title></svg>") } });
  });
  await page.getByRole("button", { name: /Trace for free/ }).click();
  await page.getByText(/Traced in .* It was free/).waitFor();
  await page.getByText("This page is older than the service").waitFor();
  expect(await drawing(page).evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(400);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as SVG" }).click();
  expect(await readFile(await (await saving).path(), "utf8")).toContain("<title>New</title>");
  await page.getByText("Markup", { exact: true }).click();
  expect(await page.locator(".canvas-markup code").textContent()).toContain("<title>New</title>");
  await page.getByText("Result", { exact: true }).click();

  // Another option shows its preview, from which there is a way back.
  await page.getByText("Name objects as layers").first().click();
  await page.getByText(/^Preview of/).waitFor();
  await page.getByRole("button", { name: "Back to the trace" }).click();
  await page.getByText("This page is older than the service").waitFor();

  // So does another picture.
  await choose(page);
  await page.getByText(/^Preview of/).waitFor();
  await page.getByRole("button", { name: "Back to the trace" }).click();
  await page.getByText("This page is older than the service").waitFor();

  await page.evaluate((svg) => {
    const [key] = Object.keys(sessionStorage).filter((name) => name.startsWith("drawing of "));
    const kept = JSON.parse(sessionStorage.getItem(key!)!);
    sessionStorage.setItem(key!, JSON.stringify({ ...kept, made: { ...kept.made, svg } }));
  }, asTheServiceWrote);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("Traced last in this tab.").waitFor();
  expect(await page.locator(".layers li").count()).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
  await close();
});

test.for([
  [1, 3_000],
  [3_000, 1],
])("something is seen of a picture of %d × %d pixels", async ([width, height], { site }) => {
  const { page, close } = await open(site, "/svg");
  const buffer = await png(picture(width!, height!, `<rect width="${width}" height="${height}" fill="#c33"/>`));
  await page.setInputFiles("input[type=file]", { name: "line.png", mimeType: "image/png", buffer });
  await drawing(page).waitFor();
  await page.getByRole("button", { name: /Trace for free/ }).click();
  await page.getByText(/Traced in .* It was free/).waitFor();
  const box = await drawing(page).boundingBox();
  expect(Math.min(box!.width, box!.height)).toBeGreaterThanOrEqual(7.9);
  expect(box!.height / box!.width).toBeCloseTo(height! / width!, 1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-${width}.png` });
  await close();
});
