import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startHttpServer } from "../../support/http-server.ts";
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
  "%s shows without a fault at every width, in both themes, to who is signed in",
  (path, { site }) => visitEverywhere(site, path, { prepare: signedIn(site) }),
);

test("the page that opens an account shows without a fault at every width, in both themes", ({ site }) =>
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

test("the page that asks whether a client may run agents shows without a fault at every width, in both themes", async ({
  site,
}) => {
  const { headers } = await fetch(site.url + (await askedBy(site, "https://desk.example/back")), {
    redirect: "manual",
  });
  await visitEverywhere(site, headers.get("location") ?? "", { name: "consent", prepare: signedIn(site) });
});

test("a client that is allowed gets its code in the browser, past the page's policy", async ({ site }) => {
  const client = await startHttpServer((_request, response) => response.end("Back at the client."));
  const redirectUri = `${client.url}/back`;
  const { page, complaints, close } = await open(site, await askedBy(site, redirectUri));
  await signedIn(site)(page);
  await page.getByRole("button", { name: "Allow" }).press("Enter");
  await page.getByText("Back at the client.").waitFor();
  expect(new URL(page.url()).searchParams.get("code")).toMatch(/^amc_/);
  await page.goto(`${site.url}/settings/keys`);
  await page.getByRole("heading", { name: "Clients that you allowed" }).waitFor();
  expect(complaints).toEqual([]);
  await close();
  await client.stop();
});
