import { PrivateKey } from "@hashgraph/sdk";
import { AgentMarketplace, type AgentMarketplaceOptions } from "../../client/agent-marketplace.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { paidTest } from "../support/fixtures.ts";
import { balanceOf } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";

/** Both services, both chains, and a proxy before the marketplace that loses answers as told until the end of a test. */
export const test = paidTest({ env: { MARKETPLACE_PUBLIC_URL: "http://127.0.0.1", SMTP_URL: "", MAIL_FROM: "" } })
  .extend("proxy", { scope: "file" }, async ({ paid }, { onCleanup }) => {
    const proxy = await startCutProxy(paid.marketplace.url);
    onCleanup(proxy.stop);
    return proxy;
  })
  .extend("calm", { auto: true }, ({ paid, proxy }, { onCleanup }) => {
    onCleanup(() => {
      proxy.behave(() => "pass");
      paid.toFacilitator.behave(() => "pass");
    });
  })
  .extend("client", ({ paid, proxy }) => {
    return (options: AgentMarketplaceOptions = {}) =>
      new AgentMarketplace({ baseUrl: proxy.url, key: paid.market.key, ...options });
  });

/** What the agent's creator holds on a chain, in base units. */
export async function earnedOn(chain: "evm" | "hedera", paid: PaidMarket): Promise<bigint> {
  if (chain === "evm") return (await paid.setting.chain.balances(paid.evmWallet)).usdc;
  const { mirrorUrl, usdc, accounts } = paid.ledger;
  const url = `${mirrorUrl}/api/v1/accounts/${accounts.creator.accountId}/tokens?token.id=${usdc}`;
  const { tokens } = (await (await fetch(url)).json()) as { tokens: Array<{ balance: number }> };
  return BigInt(tokens[0]?.balance ?? 0);
}

/** A wallet of that chain with money, which counts what it is asked to sign. */
export async function countingWallet(chain: "evm" | "hedera", paid: PaidMarket) {
  const asked = { times: 0 };
  if (chain === "hedera") {
    const { accountId, privateKey } = paid.ledger.accounts.buyer;
    const key = PrivateKey.fromStringDer(privateKey);
    const sign = (bytes: Uint8Array) => {
      asked.times += 1;
      return key.sign(bytes);
    };
    // Three nodes, three signatures of one payment.
    return {
      wallets: { hedera: { accountId, key: { publicKey: key.publicKey, sign } } },
      payments: () => asked.times / 3,
    };
  }
  const buyer = await paid.setting.fundedBuyer();
  const signTypedData: typeof buyer.signTypedData = (typedData) => {
    asked.times += 1;
    return buyer.signTypedData(typedData);
  };
  return { wallets: { evm: { ...buyer, signTypedData } }, payments: () => asked.times };
}

export const creditsOf = async ({ marketplace, market }: PaidMarket) =>
  (await balanceOf(marketplace, market.key)).credits as number;
