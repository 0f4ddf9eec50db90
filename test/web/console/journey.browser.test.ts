import {
  AccountAllowanceApproveTransaction,
  Hbar,
  TokenCreateTransaction,
  TokenType,
  TopicCreateTransaction,
} from "@hashgraph/sdk";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { type ConnectorId, connectorIds, connectorNames } from "../../../marketplace/connectors/connector.ts";
import { sdkOn } from "../../infra/local-hedera/sdk.ts";
import { proveLedger, run } from "../../support/marketplace.ts";
import { open } from "../browser.ts";
import { type PaidSite, signInWith, test } from "../paid-site.ts";
import { button, link, press, type } from "./keyboard.ts";

test("a stranger signs in, opens an account, makes a key, buys credits and runs an agent by it, by keyboard alone", async ({
  site,
}) => {
  const { page, complaints, close } = await open(site, "/sign-in?next=/settings/keys/new");
  await type(page.getByLabel("E-mail"), `${Math.random().toString(36).slice(2)}@example.com`);
  await page.keyboard.press("Enter");
  await press(link(page, "open this link"));
  await press(button(page, "Sign in"));
  await type(page.getByLabel("Handle"), `stranger-${Math.random().toString(36).slice(2, 8)}`);
  await page.keyboard.press("Enter");
  const token = await makeKey(page);
  await press(link(page, "Credits"));
  await press(page.getByRole("radio", { name: "Base Sepolia" }), "Space");
  await type(page.getByLabel("Another amount"), "12");
  await press(button(page, /^Pay/));
  await page.locator("#purchase").getByText("credited", { exact: true }).waitFor();
  expect((await run(site, token, site.summarizer.slice(1), { text: "A long story." })).body).toMatchObject({
    success: true,
    credits_used: 5,
  });
  await press(link(page, "Activity"));
  const row = page.getByRole("row", { name: /succeeded/ });
  await expect.poll(() => row.textContent()).toMatch(/server.*5 credits/);
  await changeAndRevoke(page);
  expect(complaints.filter((text) => !text.includes("status of 402"))).toEqual([]);
  await close();
});

/** Copies the key before it is gone. */
async function makeKey(page: Page): Promise<string> {
  await type(page.getByLabel("Name"), "server");
  await page.keyboard.press("Enter");
  await page.getByText("Copy your new key now").waitFor();
  const token = (await page.locator(".once-key output").textContent()) ?? "";
  expect(token).toMatch(/^amk_/);
  // Copying is one press away.
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Copy");
  // The form does not go on before one says that the key is stored.
  await press(button(page, "Done"));
  expect(await page.locator(".once").isVisible()).toBe(true);
  await press(page.getByLabel("I have stored it"), "Space");
  await press(button(page, "Done"));
  await page.getByText("1 of 5 in use").waitFor();
  await page.locator(".once").waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(token);
  return token;
}

async function changeAndRevoke(page: Page): Promise<void> {
  await press(link(page, "API keys"));
  await press(link(page, "Calls and settings of server"));
  await type(page.getByLabel("Daily cap"), "200");
  await page.keyboard.press("Enter");
  await page.getByText("It holds from the key’s next call on.").waitFor();
  // What was done is said once.
  await expect.poll(() => page.url()).not.toContain("done=");
  await press(link(page, "Revoke"));
  await press(button(page, "Revoke key"));
  await page.getByText("The key is revoked.").waitFor();
}

// Eleven times two pages and a publication.
test("an agent of each connector is published from its template, by keyboard alone", { timeout: 600_000 }, async ({
  site,
}) => {
  const { page, complaints, close } = await open(site, "/sign-in");
  const handle = await signInWith(site, page, 1_000n);
  const brought = await bring(site, handle);
  for (const connector of connectorIds) {
    await page.goto(`${site.url}/build`);
    await press(button(page, `Start from ${connectorNames[connector]}`));
    await page.waitForURL(/\/build\/.+/);
    for (const [setting, value] of Object.entries(brought[connector] ?? {})) {
      await type(page.locator(`#at-settings-${setting}`), value);
    }
    const publish = page.locator("#build-head").getByRole("button", { name: "Publish" });
    await expect.poll(() => publish.isEnabled(), { message: `${connector} can be published` }).toBe(true);
    await press(publish);
    await page.getByText("Published. Buyers").waitFor();
  }
  await page.goto(`${site.url}/${handle}`);
  expect(await page.locator("article.agent").count()).toBe(connectorIds.length);
  expect(complaints).toEqual([]);
  await close();
});

/** What a creator brings to the agents that act on a ledger: a wallet, an allowance from it, a token and a topic. */
async function bring(site: PaidSite, handle: string): Promise<Partial<Record<ConnectorId, Record<string, string>>>> {
  const sdk = sdkOn(site.paid.ledger);
  const { accounts, keys } = sdk;
  const { db } = site.context;
  const { rows } = await db.query("select id from accounts where handle = $1", [handle]);
  const wallet = { network: "hedera:testnet", address: accounts.creator.accountId, checked: true };
  await addPayoutWallet(db, { accountId: rows[0].id, ...wallet });
  const allowance = new AccountAllowanceApproveTransaction().approveHbarAllowance(
    accounts.creator.accountId,
    accounts.operator.accountId,
    new Hbar(100),
  );
  await sdk.run(allowance, keys.creator);
  const collection = new TokenCreateTransaction()
    .setTokenName("Badges")
    .setTokenSymbol("BDG")
    .setTokenType(TokenType.NonFungibleUnique)
    .setTreasuryAccountId(accounts.creator.accountId)
    .setSupplyKey(keys.operator.publicKey);
  const token = (await sdk.run(collection, keys.creator)).tokenId!.toString();
  const topic = (await sdk.run(new TopicCreateTransaction())).topicId!.toString();
  sdk.close();
  return { "hedera-mint": { token }, "hcs-write": { topic } };
}

test("what was sold is seen, what it earned is moved, and the account is closed, by keyboard alone", async ({
  site,
}) => {
  const { page, complaints, close } = await open(site, "/sign-in");
  const handle = await signInWith(site, page, 0n);
  await page.goto(`${site.url}/build`);
  await press(button(page, "Start from Language model"));
  await press(page.locator("#build-head").getByRole("button", { name: "Publish" }));
  await page.getByText("Published. Buyers").waitFor();
  const slug = page.url().replace(/.*\/build\/([^?]+).*/, "$1");
  const sold = await run(site, site.market.key, `${handle}/${slug}`, { text: "A long story." });
  expect(sold.body).toMatchObject({ success: true, credits_used: 5 });
  await page.goto(`${site.url}/settings/credits`);
  await page.getByText(`${handle}/${slug}`).first().waitFor();
  await press(page.locator("#move-credits"));
  await expect.poll(() => page.locator("#balance-now").textContent()).toBe("5");
  await press(link(page, "Account"));
  await press(link(page, "Close account"));
  await press(page.getByLabel("I give up 5 credits"), "Space");
  await type(page.getByLabel(`Type ${handle} to be sure`), handle);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "The account is closed" }).waitFor();
  expect((await run(site, site.market.key, `${handle}/${slug}`, { text: "Once more." })).status).toBe(404);
  await proveLedger(site.context);
  expect(complaints).toEqual([]);
  await close();
});
