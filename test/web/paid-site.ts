import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { demoAgents } from "../../infra/dev/demo-agents.ts";
import { writeDemoWallet } from "../../infra/dev/demo-wallet.ts";
import { evmWallets } from "../../infra/dev/wallets.ts";
import { freePort } from "../../infra/free-port.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";
import { type Chromium, test as withChromium } from "./chromium.ts";
import { type Site, signIn } from "./site.ts";

/** A website whose agents are paid on both chains, with the demo wallet and its funded keys. */
export interface PaidSite extends Site {
  readonly paid: PaidMarket;
  /** `/handle/slug` of an agent that costs five credits. */
  readonly summarizer: string;
  readonly greeter: string;
  /** What the demo wallet's buyer has on each chain, in base units. */
  usdcOf(chain: "evm" | "hedera"): Promise<bigint>;
}

const demoBuyer = evmWallets({}).buyer;

/** Tests get `site`: one marketplace with its facilitator and its chains for all files of a worker. */
export const test = withChromium.extend(
  "site",
  { scope: "worker" },
  async ({ chromium }, { onCleanup }): Promise<PaidSite> => {
    const site = await startPaidSite(chromium);
    onCleanup(() => site.stop());
    return site;
  },
);

/** One more, with an environment of its own. */
export async function startPaidSite(chromium: Chromium, env: Record<string, string> = {}): Promise<PaidSite> {
  const port = await freePort();
  const file = join(await mkdtemp(join(tmpdir(), "demo-wallet-")), "wallet.js");
  const publicUrl = `http://127.0.0.1:${port}`;
  const paid = await startPaidMarket({
    withOperator: true,
    env: {
      MARKETPLACE_PORT: String(port),
      MARKETPLACE_PUBLIC_URL: publicUrl,
      NODE_ENV: "development",
      DEMO_WALLET_SCRIPT: file,
      // On this machine a link is shown instead of mailed.
      SMTP_URL: "",
      MAIL_FROM: "",
      ...env,
    },
  });
  const { ledger, setting, market, marketplace } = paid;
  await writeDemoWallet(file, publicUrl, {
    evm: { network: "eip155:84532", ...demoBuyer },
    hedera: { network: "hedera:testnet", ...ledger.accounts.buyer },
  });
  await setting.chain.fund(demoBuyer.address, { usdc: 1_000_000_000n });
  const definitions = demoAgents({ demoService: marketplace.model.url, demoTools: marketplace.model.url });
  for (const slug of ["summarizer", "greeter"]) {
    await publishAgent(marketplace.context, market.creator, slug, definitions[slug] as object);
  }
  return {
    ...marketplace,
    market,
    paid,
    chromium,
    summarizer: `/${market.creator.handle}/summarizer`,
    greeter: `/${market.creator.handle}/greeter`,
    usdcOf: async (chain) => {
      if (chain === "evm") return (await setting.chain.balances(demoBuyer.address)).usdc;
      const { accountId } = ledger.accounts.buyer;
      const answer = await fetch(`${ledger.mirrorUrl}/api/v1/accounts/${accountId}/tokens?token.id=${ledger.usdc}`);
      const { tokens } = (await answer.json()) as { tokens: Array<{ balance: number }> };
      return BigInt(tokens[0]?.balance ?? 0);
    },
    stop: () => paid.stop(),
  };
}

/** Signs the page's visitor in, with an account that has so many credits. */
export async function signInWith(site: Site, page: Parameters<typeof signIn>[1], amount: bigint): Promise<string> {
  const handle = `buyer-${Math.random().toString(36).slice(2, 10)}`;
  await signIn(site, page, handle);
  const { rows } = await site.context.db.query<{ id: AccountId }>("select id from accounts where handle = $1", [
    handle,
  ]);
  if (amount > 0n) await grant(site.context.db, { accountId: rows[0]!.id, credits: credits(amount) });
  return handle;
}

/** From the next page on there is a wallet on Base Sepolia that has so many base units of USDC, and signs nothing. Answers its account. */
export async function announcePoorWallet(page: Page, units: number): Promise<string> {
  const holder = `0x${"7e".repeat(20)}`;
  const balance = `0x${units.toString(16).padStart(64, "0")}`;
  const answers = { eth_accounts: [holder], eth_chainId: "0x14a34", eth_call: balance };
  await page.addInitScript((answers: Record<string, unknown>) => {
    const provider = {
      request: async ({ method }: { method: string }) => answers[method] ?? Promise.reject({ code: 4200 }),
    };
    const detail = { info: { uuid: "poor", name: "A poor wallet", icon: "data:,", rdns: "poor" }, provider };
    const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    addEventListener("eip6963:requestProvider", announce);
  }, answers);
  return holder;
}
