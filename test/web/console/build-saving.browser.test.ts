import type { Dialog, Page, Request, Route } from "playwright-core";
import { expect } from "vitest";
import { open } from "../browser.ts";
import { test } from "../site.ts";
import { begin, dragRow, heldSave, namesOfFields, saved } from "./editor.ts";

/** What each post of the editor pressed, in their order. */
function pressesOf(page: Page): string[] {
  const presses: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") presses.push(pressedIn(request));
  });
  return presses;
}

const pressedIn = (request: Request) => new URLSearchParams(request.postData() ?? "").get("do") ?? "";
const focusedId = (page: Page) => page.evaluate(() => document.activeElement?.id);
const nameOfField = (page: Page, at: number, name: string) =>
  page.waitForFunction(([id, wanted]) => (document.getElementById(id) as HTMLInputElement | null)?.value === wanted, [
    `at-fields-${at}-name`,
    name,
  ] as const);

/** Holds what a try asks before it reaches the service, or what the service answers to it. */
async function heldTry(page: Page, held: "question" | "answer") {
  let letThrough = () => {};
  const through = new Promise<void>((resolve) => (letThrough = resolve));
  await page.route(/\/build\//, async (route) => {
    if (pressedIn(route.request()) !== "try") return route.continue();
    const response = held === "answer" ? await route.fetch() : undefined;
    await through;
    return response ? route.fulfill({ response }) : route.continue();
  });
  return { tried: page.waitForRequest((request) => pressedIn(request) === "try"), letThrough };
}

test("a secret that is ticked to be taken away stays until the agent is tried or published", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/");
  await begin(site, page, "HTTP API");
  await page.locator("#secret-name").fill("token");
  await page.locator("#secret-value").fill("a long secret");
  await page.locator("#at-name").focus();
  await page.locator("#secret-token").waitFor();
  const takeAway = page.getByLabel("Take away");
  await takeAway.check();
  await page.getByText("What is ticked is taken away when you").waitFor();
  // There is no button that only saves.
  expect(await page.locator("#at-secrets [data-save]").isVisible()).toBe(false);
  await page.locator("#at-name").fill("Renamed meanwhile");
  await saved(page);
  expect(await takeAway.isChecked()).toBe(true);
  await takeAway.uncheck();
  await page.reload();
  expect(await page.locator("#at-name").inputValue()).toBe("Renamed meanwhile");
  await page.locator("#secret-token").waitFor();
  await takeAway.check();
  await page.getByRole("button", { name: "Try it" }).press("Enter");
  await page.locator("#secret-token").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await close();
});

test("a field's bin that is pressed twice in a hurry removes that field alone", async ({ site }) => {
  const { page, close } = await open(site, "/");
  await begin(site, page);
  const save = await heldSave(page);
  await page.locator('[value="remove.0"]').dblclick();
  await save.asked;
  save.letThrough();
  await nameOfField(page, 0, "tone");
  await page.locator("#at-name").fill("Saved after both presses");
  await saved(page);
  expect(await namesOfFields(page)).toEqual(["tone", "max_words"]);
  // The answer to the first click is there before the second, which meets the next row's bin.
  const box = (await page.locator('[value="remove.0"]').boundingBox())!;
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down({ clickCount: 1 });
  await page.mouse.up({ clickCount: 1 });
  await nameOfField(page, 0, "max_words");
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await page.locator("#at-name").fill("Saved after all presses");
  await saved(page);
  expect(await namesOfFields(page)).toEqual(["max_words"]);
  await close();
});

test("a field that is moved twice in a hurry moves by two places, and one whose key is held by one", async ({
  site,
}) => {
  const { page, close } = await open(site, "/");
  await begin(site, page);
  const save = await heldSave(page);
  await page.locator('[value="up.2"]').press("Enter");
  await save.asked;
  await page.locator('[value="up.2"]').press("Enter");
  save.letThrough();
  await nameOfField(page, 0, "max_words");
  expect(await namesOfFields(page)).toEqual(["max_words", "text", "tone"]);
  const presses = pressesOf(page);
  const held = await heldSave(page);
  await page.locator("#at-fields-0-name").focus();
  await page.keyboard.down("Alt");
  for (let repeated = 0; repeated < 4; repeated += 1) await page.keyboard.down("ArrowDown");
  await page.keyboard.up("ArrowDown");
  await page.keyboard.up("Alt");
  await held.asked;
  held.letThrough();
  await nameOfField(page, 1, "max_words");
  await page.locator("#at-name").fill("Saved after the moves");
  await saved(page);
  expect(await namesOfFields(page)).toEqual(["text", "max_words", "tone"]);
  expect(presses).toEqual(["down.0", "save"]);
  await close();
});

test("who leaves while a save is under way is asked", async ({ site }) => {
  const { page, close } = await open(site, "/");
  await begin(site, page);
  const save = await heldSave(page);
  await page.locator("#at-name").press("End");
  await page.keyboard.type(" again");
  await save.asked;
  const asked = new Promise<string>((resolve) => {
    page.once("dialog", (dialog) => void dialog.dismiss().then(() => resolve(dialog.type())));
    page.once("close", () => resolve("left without a question"));
  });
  await page.close({ runBeforeUnload: true });
  expect(await asked).toBe("beforeunload");
  save.letThrough();
  await saved(page);
  await close();
});

test("publishing right after a secret was typed asks nothing, and keeps it", async ({ site }) => {
  const { page, close } = await open(site, "/");
  await begin(site, page, "HTTP API");
  await page.locator("#at-settings-url").fill(`${site.model.url}/demo/rate?from={{from}}&to={{to}}`);
  await saved(page);
  const asked: string[] = [];
  page.on("dialog", (dialog: Dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  await page.locator("#secret-name").pressSequentially("token");
  await page.locator("#secret-value").pressSequentially("a long secret");
  await page.locator("#build-head").getByRole("button", { name: "Publish" }).press("Enter");
  await Promise.race([page.getByText("Published. Buyers").waitFor(), expect.poll(() => asked).not.toEqual([])]);
  expect(asked).toEqual([]);
  await page.locator("#secret-token").waitFor();
  await close();
});

test("a try runs once however often it is pressed, and what is typed meanwhile is saved beside it", async ({
  site,
}) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  const presses = pressesOf(page);
  const { tried, letThrough } = await heldTry(page, "answer");
  const button = page.getByRole("button", { name: "Try it" });
  await button.press("Enter");
  await button.press("Enter");
  await tried;
  expect(await button.getAttribute("aria-busy")).toBe("true");
  await button.press("Enter");
  await page.locator("#at-name").fill("Typed during a try");
  await saved(page);
  const other = await context.newPage();
  await other.goto(page.url());
  expect(await other.locator("#at-name").inputValue()).toBe("Typed during a try");
  letThrough();
  await page.locator("#build-result").getByText("success").waitFor();
  expect(await button.getAttribute("aria-busy")).toBe("false");
  expect(presses.filter((pressed) => pressed === "try")).toEqual(["try"]);
  await page.locator("#at-description").fill("And after it.");
  await saved(page);
  expect(await page.locator("#build-notes").textContent()).toBe("");
  await close();
});

test("a try that comes after the next save says that it was not run, and the next press runs", async ({ site }) => {
  const { page, close } = await open(site, "/");
  await begin(site, page);
  const { tried, letThrough } = await heldTry(page, "question");
  const button = page.getByRole("button", { name: "Try it" });
  await button.press("Enter");
  await tried;
  await page.locator("#at-name").fill("Typed before it came");
  await saved(page);
  letThrough();
  await page.locator("#build-saved").getByText("Not run: the draft was changed since.").waitFor();
  await button.press("Enter");
  await page.locator("#build-result").getByText("success").waitFor();
  expect(await page.locator("#at-name").inputValue()).toBe("Typed before it came");
  await close();
});

test("what stands in the editor of a draft that is gone can be kept as a draft of its own", async ({ site }) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByText("Throw the draft away").press("Enter");
  await other.getByRole("button", { name: "Throw away" }).press("Enter");
  await other.waitForURL((url) => url.pathname === "/build");
  await page.locator("#at-name").fill("Typed into what is gone");
  await page.getByRole("button", { name: "Keep it as a draft of its own" }).press("Enter");
  await page.getByText("What you had is a draft of its own.").waitFor();
  expect(await page.locator("#at-name").inputValue()).toBe("Typed into what is gone");
  await close();
});

test("what stands in the editor of a draft that is gone is there still after pressing Publish", async ({ site }) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  const other = await context.newPage();
  await other.goto(page.url());
  await other.locator("#new-slug").fill("moved-away");
  await other.locator("#new-slug").press("Enter");
  await other.waitForURL(/moved-away/);
  await page.locator("#at-name").fill("Typed into what is gone");
  await page.getByRole("button", { name: "Publish", exact: true }).press("Enter");
  const keep = page.getByRole("button", { name: "Keep it as a draft of its own" });
  await keep.waitFor();
  expect(await page.locator("#at-name").inputValue()).toBe("Typed into what is gone");
  await page.locator("#at-name").fill("Typed after that");
  await page.locator("#build-saved").getByText("Not saved", { exact: true }).waitFor();
  await keep.press("Enter");
  await page.getByText("What you had is a draft of its own.").waitFor();
  expect(await page.locator("#at-name").inputValue()).toBe("Typed after that");
  await close();
});

test("what was typed after the session ended is saved when one comes back signed in", async ({ site }) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  const cookies = await context.cookies();
  await context.clearCookies();
  await page.locator("#at-name").fill("Typed when signed out");
  await page.getByRole("link", { name: "Sign in in another tab" }).waitFor();
  await page.getByText("Not saved: sign in again.").waitFor();
  await context.addCookies(cookies);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await saved(page);
  expect(await page.getByRole("link", { name: "Sign in in another tab" }).isVisible()).toBe(false);
  await page.reload();
  expect(await page.locator("#at-name").inputValue()).toBe("Typed when signed out");
  await close();
});

test("the keyboard stays where it was while a row is dragged", async ({ site }) => {
  const { page, close } = await open(site, "/");
  await begin(site, page);
  await page.locator("#at-fields-0-label").focus();
  await dragRow(page, 2, 0);
  await page.mouse.up();
  await nameOfField(page, 0, "max_words");
  await expect.poll(() => focusedId(page)).toBe("at-fields-1-label");
  await close();
});

test("a type whose change could not be saved has its rules once what is typed next is saved, on a phone too", async ({
  site,
}) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  await page.setViewportSize({ width: 375, height: 740 });
  await context.setOffline(true);
  await page.locator("#at-fields-0-type").selectOption("choice");
  await page.getByText("Not saved: no answer. Trying again.").waitFor();
  await context.setOffline(false);
  await page.locator("#at-name").fill("Typed after that");
  await saved(page);
  await page.locator("#at-fields-0-choices").waitFor({ state: "attached" });
  await close();
});

test("what is typed after a save whose answer was lost is saved over it, and is no change of another tab", async ({
  site,
}) => {
  const { page, close } = await open(site, "/");
  await begin(site, page);
  const lose = async (route: Route) => {
    await route.fetch();
    await route.abort();
  };
  await page.route(/\/build\//, lose, { times: 1 });
  await page.locator("#at-name").fill("The first");
  await page.getByText("Not saved: no answer. Trying again.").waitFor();
  await page.locator("#at-name").fill("The second");
  await saved(page);
  expect(await page.getByText("Nothing of yours is lost").count()).toBe(0);
  await page.reload();
  expect(await page.locator("#at-name").inputValue()).toBe("The second");
  await close();
});

test("who comes back to the editor sees what is saved, and writes nothing older over it", async ({ site }) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  const here = page.url();
  const prompt = (of: Page) => of.locator("textarea[name='s.prompt']");
  await prompt(page).fill("An older prompt: {{text}}");
  await saved(page);
  await page.goto(`${site.url}/docs`);
  const other = await context.newPage();
  await other.goto(here);
  await prompt(other).fill("A newer prompt: {{text}}");
  await saved(other);
  await page.goBack();
  expect(await prompt(page).inputValue()).toBe("A newer prompt: {{text}}");
  await close();
});
