import type { Context as FacilitatorContext } from "../../facilitator/context.ts";
import { type LocalHedera, startLocalHedera } from "../../infra/local-hedera/local-hedera.ts";
import type { MockModels } from "../../infra/mock-models/server.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { type EvmSetting, evmSetting } from "./evm-facilitator.ts";
import { newBuyer } from "./evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "./facilitator.ts";
import { hederaVariables } from "./hedera-payments.ts";
import { type HttpProxy, startHttpProxy } from "./http-proxy.ts";
import { operatorVariables } from "./ledger-agents.ts";
import { type Market, seedMarket, startMarketplace, type TestMarketplace } from "./marketplace.ts";

/** Both services and both chains, with a creator who can be paid on each. */
export async function startPaidMarket(options: PaidOptions = {}): Promise<PaidMarket> {
  const [setting, ledger] = await Promise.all([evmSetting(), startLocalHedera({ consensusDelayMs: 5 })]);
  const facilitator = await startFacilitator({
    ...setting.variables,
    ...hederaVariables(ledger),
    ...options.facilitatorEnv,
  });
  const toFacilitator = await startHttpProxy(facilitator.url);
  const publicUrl = "https://market.example.com";
  const platformWallet = newBuyer().address;
  const env = {
    FACILITATOR_URL: toFacilitator.url,
    MARKETPLACE_PUBLIC_URL: publicUrl,
    PLATFORM_WALLETS: `hedera:testnet=${ledger.accounts.platform.accountId},eip155:84532=${platformWallet}`,
    // The chains are read where a wallet is to be shown.
    EVM_RPC_URLS: `eip155:84532=${setting.chain.rpcUrl}`,
    HEDERA_MIRROR: ledger.mirrorUrl,
    ...(options.withOperator && operatorVariables({ ledger })),
    ...options.env,
  };
  const { databaseUrl, model } = options;
  const marketplace = await startMarketplace({ env, ...(databaseUrl && { databaseUrl }), ...(model && { model }) });
  const market = await seedMarket(marketplace.context);
  const evmWallet = newBuyer().address;
  const wallets = { "eip155:84532": evmWallet, "hedera:testnet": ledger.accounts.creator.accountId };
  for (const [network, address] of Object.entries(wallets)) {
    await addPayoutWallet(marketplace.context.db, { accountId: market.creator.id, network, address, checked: true });
  }
  const address = `${market.creator.handle}/echo`;
  return {
    setting,
    ledger,
    facilitator,
    toFacilitator,
    marketplace,
    market,
    evmWallet,
    platformWallet,
    address,
    url: `${marketplace.url}/api/agent/${address}`,
    publicUrl: `${publicUrl}/api/agent/${address}`,
    stop: async () => {
      await marketplace.stop();
      await toFacilitator.stop();
      await facilitator.stop();
      await Promise.all([ledger.close(), setting.stop()]);
    },
  };
}

export interface PaidOptions {
  readonly env?: Record<string, string>;
  readonly facilitatorEnv?: Record<string, string>;
  /** The marketplace's database; a fresh one when none is given. */
  readonly databaseUrl?: string;
  /** Agents act on Hedera by the marketplace's own account. */
  readonly withOperator?: boolean;
  /** What answers for the models; a test that passes one stops it. */
  readonly model?: MockModels;
}

export interface PaidMarket {
  readonly setting: EvmSetting;
  readonly ledger: LocalHedera;
  readonly facilitator: RunningFacilitator & { readonly context: FacilitatorContext };
  /** The marketplace's way to the facilitator, which can lose calls and answers. */
  readonly toFacilitator: HttpProxy;
  readonly marketplace: TestMarketplace;
  readonly market: Market;
  readonly evmWallet: `0x${string}`;
  readonly platformWallet: `0x${string}`;
  /** `handle/slug` */
  readonly address: string;
  /** The agent's payment route. */
  readonly url: string;
  /** The same as the quote names it. */
  readonly publicUrl: string;
  stop(): Promise<void>;
}
