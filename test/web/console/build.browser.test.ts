import { expect } from "vitest";
import { open, visitEverywhere } from "../browser.ts";
import { test } from "../site.ts";
import { begin, dragRow, heldSave, namesOfFields, saved } from "./editor.ts";

test("the gallery of connectors, beside one's own agents, shows without a fault at every width, in both themes", ({
  site,
}) =>
  visitEverywhere(site, "/build", {
    prepare: async (page) => {
      await begin(site, page, "Hedera mint");
      await page.goto(`${site.url}/build`);
    },
  }));

test("the editor with an answer, a changed draft and a field's rules open shows without a fault at every width, in both themes", ({
  site,
}) =>
  visitEverywhere(site, "/build", {
    name: "build-editor",
    prepare: async (page) => {
      await begin(site, page);
      await page.getByRole("button", { name: "Try it" }).press("Enter");
      await page.locator("#build-result").getByText("success").waitFor();
      await page.locator("#build-head").getByRole("button", { name: "Publish" }).press("Enter");
      await page.getByText("Published. Buyers").waitFor();
      await page.locator("#at-price_credits").fill("six");
      await saved(page);
      await page.locator(".field-rules summary").nth(1).press("Enter");
    },
  }));

test("an agent is written, tried and published by keyboard alone, and saved as one types", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/");
  await begin(site, page);
  await page.locator("#at-name").press("Control+a");
  await page.keyboard.type("Echo of a story");
  await saved(page);
  await page.getByRole("button", { name: "Add a field" }).press("Enter");
  await page.waitForFunction(() => document.activeElement?.id === "at-fields-3-name");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("mood");
  await page.keyboard.press("Alt+ArrowUp");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>("#at-fields-2-name")?.value === "mood");
  // The buyers' form follows, and a slot is written where one was writing.
  await page.locator("#in-mood").waitFor();
  await page.locator("#at-settings-prompt").press("Control+End");
  await page.getByRole("button", { name: "Write the slot mood" }).press("Enter");
  expect(await page.locator("#at-settings-prompt").inputValue()).toBe("{{text}}{{mood}}");
  await saved(page);
  await page.locator("#in-mood").fill("merry");
  await page.getByRole("button", { name: "Try it" }).press("Enter");
  await page.locator("#build-result").getByText("merry").waitFor();
  await saved(page);
  await page.getByLabel("Buyers call it at").press("Control+a");
  await page.keyboard.type("echo-of-a-story");
  await page.keyboard.press("Enter");
  await page.getByText("It has its new address.").waitFor();
  await page.locator("#build-head").getByRole("button", { name: "Publish" }).press("Enter");
  await page.getByText("Published. Buyers").waitFor();
  await page.getByRole("link", { name: "View live" }).press("Enter");
  await page.getByRole("heading", { name: "Echo of a story" }).first().waitFor();
  expect(new URL(page.url()).pathname).toMatch(/\/echo-of-a-story$/);
  expect(complaints).toEqual([]);
  await close();
});

test("a field is dragged to another place, which is saved; Escape puts it back", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/");
  await begin(site, page);
  await dragRow(page, 0, 2);
  expect(await namesOfFields(page)).toEqual(["tone", "max_words", "text"]);
  await page.keyboard.press("Escape");
  await page.mouse.up();
  expect(await namesOfFields(page)).toEqual(["text", "tone", "max_words"]);
  await dragRow(page, 2, 0);
  await page.mouse.up();
  // Drawn anew: the buttons and the buyers' form follow.
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>("#at-fields-0-name")?.value === "max_words",
  );
  await saved(page);
  await page.reload();
  expect(await namesOfFields(page)).toEqual(["max_words", "text", "tone"]);
  expect(await page.locator("#build-form label").first().textContent()).toContain("Max words");
  expect(complaints).toEqual([]);
  await close();
});

test("two tabs: the later is told as one types, loses nothing, and keeps its own", async ({ site }) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  const other = await context.newPage();
  await other.goto(page.url());
  const kept = other.waitForResponse((answer) => answer.request().method() !== "GET" && answer.ok());
  await other.locator("#at-name").fill("From the other tab");
  await kept;
  await page.locator("#at-name").fill("From this tab");
  await page.getByText("Nothing of yours is lost").waitFor();
  expect(await page.locator("#at-name").inputValue()).toBe("From this tab");
  await page.locator("#at-description").fill("And more of mine.");
  await page.getByRole("button", { name: "Keep mine as a draft of its own" }).press("Enter");
  await page.getByText("What you had is a draft of its own.").waitFor();
  expect(await page.locator("#at-name").inputValue()).toBe("From this tab");
  expect(await page.locator("#at-description").inputValue()).toBe("And more of mine.");
  await other.reload();
  expect(await other.locator("#at-name").inputValue()).toBe("From the other tab");
  await close();
});

test("a secret is taken when it is written, and only its name stands there then", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/");
  await begin(site, page, "HTTP API");
  await page.locator("#secret-name").pressSequentially("token");
  await page.locator("#secret-value").pressSequentially("a long secret");
  await page.locator("#at-name").focus();
  await page.locator("#secret-token").waitFor();
  expect(await page.locator("#secret-value").inputValue()).toBe("");
  await page.reload();
  expect(await page.locator("input[id^=secret-]").count()).toBe(3);
  expect(await page.content()).not.toContain("a long secret");
  expect(complaints).toEqual([]);
  await close();
});

test("half a secret is never sent, and one that is typed during a save is kept", async ({ site }) => {
  const { page, close } = await open(site, "/");
  await begin(site, page, "HTTP API");
  const sent: string[] = [];
  page.on("request", (request) => {
    const value = new URLSearchParams(request.postData() ?? "").get("secret_value");
    if (value) sent.push(value);
  });
  await page.locator("#at-name").fill("Calls with a secret");
  await page.locator("#secret-name").fill("token");
  await page.locator("#secret-value").fill("half of");
  await page.getByText("Not saved yet").waitFor();
  const save = await heldSave(page);
  // As by another hand: a save that begins while the focus is elsewhere takes the secret as it is.
  await page.locator("#at-description").evaluate((area) => {
    (area as HTMLTextAreaElement).value = "Calls a service.";
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await save.asked;
  await page.locator("#secret-value").fill("half of it and the rest");
  await page.locator("#at-name").focus();
  save.letThrough();
  await page.locator("#secret-token").waitFor();
  expect(sent).toEqual(["half of it and the rest"]);
  await close();
});

test("a secret that a save under way did not take, since it was being written, is kept by the next", async ({
  site,
}) => {
  const { page, close } = await open(site, "/");
  await begin(site, page, "HTTP API");
  const save = await heldSave(page);
  await page.locator("#at-name").fill("Calls with a secret");
  await page.locator("#secret-name").fill("token");
  await page.locator("#secret-value").fill("a long secret");
  await page.locator("#secret-value").focus();
  await save.asked;
  await page.locator("#at-name").focus();
  save.letThrough();
  await page.locator("#secret-token").waitFor();
  await close();
});

test("a secret with a name that cannot be stays where it was written, and is kept when the name is corrected", async ({
  site,
}) => {
  const { page, close } = await open(site, "/");
  await begin(site, page, "HTTP API");
  await page.locator("#at-name").fill("Calls with a secret");
  await page.locator("#secret-name").fill("x-api-key");
  await page.locator("#secret-value").fill("a long secret");
  await page.locator("#at-description").focus();
  await page.locator("#secret-name-error").getByText("Letters, digits and _").waitFor();
  expect(await page.locator("#secret-name").inputValue()).toBe("x-api-key");
  expect(await page.locator("#secret-value").inputValue()).toBe("a long secret");
  await page.locator("#secret-name").fill("api_key");
  await page.locator("#at-description").focus();
  await page.locator("#secret-api_key").waitFor();
  expect(await page.locator("#secret-value").inputValue()).toBe("");
  expect(await page.locator("#secret-name-error").isVisible()).toBe(false);
  await page.reload();
  expect(await page.locator("#at-name").inputValue()).toBe("Calls with a secret");
  await close();
});

test("what is typed while a save is under way stays, in fields that move and in the form that is tried", async ({
  site,
}) => {
  const { page, close } = await open(site, "/");
  await begin(site, page);
  const save = await heldSave(page);
  await page.locator('[value="up.1"]').press("Enter");
  await save.asked;
  await page.locator("#at-fields-0-name").fill("story");
  await page.locator("#in-text").fill("Typed meanwhile.");
  await page.locator("#at-fields-0-name").focus();
  save.letThrough();
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>("#at-fields-1-name")?.value === "story");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("at-fields-1-name");
  await page.locator("#in-story").waitFor();
  await close();
});

test("what could not be saved is saved when the service answers again", async ({ site }) => {
  const { page, context, close } = await open(site, "/");
  await begin(site, page);
  await context.setOffline(true);
  await page.locator("#at-name").fill("Typed without a network");
  await page.getByText("Not saved: no answer. Trying again.").waitFor();
  await context.setOffline(false);
  await saved(page);
  await page.reload();
  expect(await page.locator("#at-name").inputValue()).toBe("Typed without a network");
  await close();
});
