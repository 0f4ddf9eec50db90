import { expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { showProof } from "../../marketplace/proof/ledger-proof.ts";
import { echoAgent } from "../support/marketplace.ts";
import { open, visitEverywhere } from "./browser.ts";
import { type Site, signIn, test } from "./site.ts";

const base = { asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", network: "eip155:84532" };
const hedera = { asset: "0.0.429274", network: "hedera:testnet" };

/** A creator whose agent was paid for so many times. */
async function soldOf(site: Site, count: number): Promise<{ id: string; handle: string }> {
  const { db } = site.context;
  const { browser, handle } = await signedInCreator(site);
  const account = await accountByHandle(db, handle);
  await publishAgent(site.context, account, "echo", echoAgent);
  const { rows } = await db.query("select id from agents where account_id = $1", [account.id]);
  for (const [n, { asset, network }] of Array.from(
    { length: count },
    (_, n) => [n, n % 3 === 0 ? hedera : base] as const,
  )) {
    const transaction = network.startsWith("eip155")
      ? `0x${n.toString(16).padStart(64, "0")}`
      : `0.0.1001@1772443800.${n}`;
    const requirements = { scheme: "exact", network, asset, amount: "50000", payTo: "0.0.1004" };
    await db.query(
      `insert into paid_calls (network, payment_key, product, call_digest, requirements, payer, run_id, transaction_id, created_at)
       values ($1, $2, $3, '\\x00', $4, 'the-payer', 'run_x', $5, now() - $6::integer * interval '1 minute')`,
      [network, `${handle}:${n}`, rows[0].id, JSON.stringify(requirements), transaction, n],
    );
  }
  await browser.close();
  return account;
}

async function signedInCreator(site: Site) {
  const { page, close } = await open(site, "/pricing");
  const handle = `seller-${Math.random().toString(36).slice(2, 8)}`;
  await signIn(site, page, handle);
  return { browser: { close }, handle };
}

test("a creator switches the proof on, and a reader's browser recomputes the totals", async ({ site }) => {
  const creator = await soldOf(site, 64);
  const { db } = site.context;
  const path = `/proof/${creator.handle}`;
  expect((await fetch(site.url + path, { headers: { accept: "text/html" } })).status).toBe(404);
  await showProof(db, (await accountByHandle(db, creator.handle)).id, true);
  await visitEverywhere(site, path, { name: "proof" });
  const ownPage = await fetch(`${site.url}/${creator.handle}`, { headers: { accept: "text/html" } });
  expect(await ownPage.text()).toContain(`href="${path}"`);
  const { page, complaints, close } = await open(site, path);
  await page.getByRole("button", { name: "Recompute here" }).press("Enter");
  await page.getByText("Recomputed from 64 payouts: the totals are right.").waitFor();
  expect(complaints).toEqual([]);
  const html = await (await fetch(site.url + path, { headers: { accept: "text/html" } })).text();
  expect(html).toContain("2.10");
  expect(html).not.toContain("the-payer");
  await close();
});

test("payouts that came in since the totals were added up are left out of the recomputing, and the page says when that was", async ({
  site,
}) => {
  const creator = await soldOf(site, 7);
  const { db } = site.context;
  await showProof(db, (await accountByHandle(db, creator.handle)).id, true);
  const { page, close } = await open(site, `/proof/${creator.handle}`);
  await db.query(
    `insert into paid_calls (network, payment_key, product, call_digest, requirements, payer, run_id, transaction_id, created_at)
     select network, payment_key || ':new', product, '\\x00', requirements, payer, 'run_y', '0xnew', now() + interval '1 second'
     from paid_calls where payment_key = $1`,
    [`${creator.handle}:1`],
  );
  await page.getByRole("button", { name: "Recompute here" }).click();
  await page.getByText("Recomputed from 7 payouts: the totals are right.").waitFor();
  await page.getByText(/Added up .* payouts that settled since/).waitFor();
  await close();
});

test("only its own creator has the switch", async ({ site }) => {
  const { page, close } = await open(site, "/pricing");
  const handle = `seller-${Math.random().toString(36).slice(2, 8)}`;
  await signIn(site, page, handle);
  await page.goto(`${site.url}/proof/${handle}`);
  await page.getByRole("button", { name: "Show my payouts to everybody" }).press("Enter");
  await page.getByText("Nothing was paid out yet").waitFor();
  const other = await open(site, `/proof/${handle}`);
  expect(await other.page.getByRole("button", { name: "Show them no longer" }).count()).toBe(0);
  const posted = await fetch(`${site.url}/proof/${handle}`, {
    method: "POST",
    headers: { accept: "text/html" },
    body: new URLSearchParams({ shown: "false" }),
  });
  expect(posted.status).toBe(404);
  await page.getByRole("button", { name: "Show them no longer" }).press("Enter");
  await page.getByRole("button", { name: "Show my payouts to everybody" }).waitFor();
  expect((await fetch(`${site.url}/proof/${handle}`, { headers: { accept: "text/html" } })).status).toBe(404);
  await other.close();
  await close();
});
