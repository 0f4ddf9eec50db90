import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { open, visitEverywhere } from "../browser.ts";
import { type Site, signIn, test } from "../site.ts";

const newHandle = () => `person-${Math.random().toString(36).slice(2, 8)}`;

/** The page again, signed in, with an account of one's own. */
const signedIn = (site: Site) => async (page: Page) => {
  await signIn(site, page, newHandle());
  await page.goto(
    page.url().replace(/\/sign-in.*/, decodeURIComponent(new URL(page.url()).searchParams.get("next") ?? "/")),
  );
};

test.for(["/settings/keys", "/settings/keys/new", "/settings/account", "/settings/account/close"])(
  "%s is for everybody who is signed in",
  (path, { site }) => visitEverywhere(site, path, { prepare: signedIn(site) }),
);

test("the page that opens an account", ({ site }) =>
  visitEverywhere(site, "/settings/open", {
    prepare: async (page) => {
      await signIn(site, page);
      await page.goto(`${site.url}/settings/open`);
    },
  }));

/** Where a client that registers itself sends a person. */
async function askedBy(site: Site, redirectUri: string): Promise<string> {
  const answer = await fetch(`${site.url}/api/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Paper Desk", redirect_uris: [redirectUri] }),
  });
  const { client_id } = (await answer.json()) as { client_id: string };
  const asked = { client_id, redirect_uri: redirectUri, response_type: "code", code_challenge_method: "S256" };
  return `/api/oauth/authorize?${new URLSearchParams({ ...asked, code_challenge: "x".repeat(43) })}`;
}

test("the page that asks whether a client may run agents", async ({ site }) => {
  const { headers } = await fetch(site.url + (await askedBy(site, "https://desk.example/back")), {
    redirect: "manual",
  });
  await visitEverywhere(site, headers.get("location") ?? "", { prepare: signedIn(site) });
});

test("a client that is allowed gets its code in the browser, past the page's policy", async ({ site }) => {
  const client = createServer((_request, response) => response.end("Back at the client."));
  await once(client.listen(0, "127.0.0.1"), "listening");
  const redirectUri = `http://127.0.0.1:${(client.address() as AddressInfo).port}/back`;
  const { page, complaints, close } = await open(site, await askedBy(site, redirectUri));
  await signedIn(site)(page);
  await page.getByRole("button", { name: "Allow" }).press("Enter");
  await page.getByText("Back at the client.").waitFor();
  expect(new URL(page.url()).searchParams.get("code")).toMatch(/^amc_/);
  await page.goto(`${site.url}/settings/keys`);
  await page.getByRole("heading", { name: "Clients that you allowed" }).waitFor();
  expect(complaints).toEqual([]);
  await close();
  client.close();
});

test("a key is made, changed and revoked by keyboard alone, and copied before it is gone", async ({ site }) => {
  const { page, complaints, close } = await open(site, "/settings/keys/new");
  await signedIn(site)(page);
  await page.getByLabel("Name").focus();
  await page.keyboard.type("server");
  await page.keyboard.press("Enter");
  await page.getByText("Copy your new key now").waitFor();
  const token = await page.locator(".once-key output").textContent();
  expect(token).toMatch(/^amk_/);
  await visitNothingButDone(page);
  expect(await page.content()).not.toContain(token as string);
  await page.getByRole("link", { name: "Calls and settings of server" }).press("Enter");
  await page.getByLabel("Daily cap").fill("200");
  await page.keyboard.press("Enter");
  await page.getByText("It holds from the key’s next call on.").waitFor();
  // What was done is said once.
  expect(page.url()).not.toContain("done=");
  await page.getByRole("link", { name: "Revoke" }).press("Enter");
  await page.getByRole("button", { name: "Revoke key" }).press("Enter");
  await page.getByText("The key is revoked.").waitFor();
  expect(complaints).toEqual([]);
  await close();
});

/** The form does not go on before one says that the key is stored. */
async function visitNothingButDone(page: Page): Promise<void> {
  const finish = page.getByRole("button", { name: "Done" });
  await finish.press("Enter");
  expect(await page.locator(".once").isVisible()).toBe(true);
  await page.getByLabel("I have stored it").press("Space");
  await finish.press("Enter");
  await page.getByText("1 of 5 in use").waitFor();
  await page.locator(".once").waitFor({ state: "detached" });
}
