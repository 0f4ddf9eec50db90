import { PrivateKey } from "@hashgraph/sdk";
import jsQR from "jsqr";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { freePort } from "../../infra/free-port.ts";
import { type MockRelay, startMockRelay } from "../../infra/mock-walletconnect/relay.ts";
import { startMarketplace } from "../support/marketplace.ts";
import { type OutsideWallet, startOutsideWallet } from "../support/walletconnect-wallet.ts";
import type { PaidSite } from "./paid-site.ts";

/** A copy of a paid site that offers WalletConnect and has no wallet in its browser, and a wallet outside it. */
export interface OutsideSite extends PaidSite {
  readonly relay: MockRelay;
  readonly wallet: OutsideWallet;
  readonly accountId: string;
  /** What the wallet has, in base units. */
  usdc(): Promise<number>;
}

export async function startOutsideSite(site: PaidSite): Promise<OutsideSite> {
  const { ledger } = site.paid;
  const key = PrivateKey.generateECDSA();
  const { accountId } = ledger.faucet.createAccount({
    publicKey: key.publicKey.toStringRaw(),
    associate: [ledger.usdc],
  });
  ledger.faucet.giveToken(accountId, 10_000_000n);
  const [relay, port] = await Promise.all([startMockRelay(), freePort()]);
  const wallet = await startOutsideWallet({
    relayUrl: relay.url,
    network: "hedera:testnet",
    accountId,
    privateKey: key.toStringDer(),
  });
  const { databaseUrl, model, environment } = site;
  const marketplace = await startMarketplace({
    databaseUrl,
    model,
    env: {
      ...environment,
      MARKETPLACE_PORT: String(port),
      MARKETPLACE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      DEMO_WALLET_SCRIPT: "",
      WALLETCONNECT_PROJECT_ID: "test-project",
      WALLETCONNECT_RELAY_URL: relay.url,
    },
  });
  const usdc = async () => {
    const answer = await fetch(`${ledger.mirrorUrl}/api/v1/accounts/${accountId}/tokens?token.id=${ledger.usdc}`);
    const { tokens } = (await answer.json()) as { tokens: Array<{ balance: number }> };
    return tokens[0]?.balance ?? 0;
  };
  const stop = async () => {
    await marketplace.stop();
    await wallet.stop();
    await relay.stop();
  };
  return { ...site, ...marketplace, relay, wallet, accountId, usdc, stop };
}

/** Has the wallet's camera look at the code that the page shows. */
export async function scan(page: Page, wallet: OutsideWallet): Promise<void> {
  const code = page.locator("#walletconnect-code svg");
  await code.waitFor();
  const picture = sharp(await code.screenshot()).ensureAlpha();
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  const found = jsQR(new Uint8ClampedArray(data), info.width, info.height);
  if (!found) throw new Error("The code cannot be read.");
  await wallet.scan(found.data);
}
