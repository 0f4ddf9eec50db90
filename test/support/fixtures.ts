import { test as base } from "vitest";
import { createServer } from "../../marketplace/server.ts";
import { connect } from "../../shared/postgres.ts";
import { openLedger } from "../infra/local-hedera/sdk.ts";
import { documented } from "./documented.ts";
import { evmSetting } from "./evm-facilitator.ts";
import { startFacilitator, type Variables } from "./facilitator.ts";
import { startLedgerMarket } from "./ledger-agents.ts";
import { marketplaceContext, type Seed, type StartOptions, seedMarket, startMarketplace } from "./marketplace.ts";
import { type PaidOptions, startPaidMarket } from "./paid-market.ts";
import { freshDatabase, statements } from "./postgres.ts";
import { startRpcProxy } from "./rpc-proxy.ts";

/**
 * What test files stand on. A part is started for the first test of a file that takes it, and stopped after the file's
 * last; parts that stand on it are stopped before.
 */
export const perFile = { scope: "file" } as const;

/** The marketplace's Express app for supertest: no port, no jobs, no model. */
export function appTest(env: Record<string, string> = {}) {
  return base
    .extend("env", perFile, env)
    .extend("context", perFile, async ({ env }, { onCleanup }) => {
      const context = await marketplaceContext(env);
      onCleanup(() => context.stop());
      return context;
    })
    .extend("app", perFile, ({ context }) => createServer(context));
}

/** A marketplace with an agent, its creator, and a buyer with a key and credits. */
export function marketTest(options: StartOptions = {}, seed: Seed = {}) {
  return base
    .extend("options", perFile, options)
    .extend("market", perFile, async ({ options }, { onCleanup }) => {
      const market = await startMarketplace(options);
      onCleanup(market.stop);
      return market;
    })
    .extend("seeded", perFile, ({ market }) => seedMarket(market.context, seed));
}

/** Both services and both chains; `paid` has a creator who can be paid on each. */
export function paidTest(options: PaidOptions = {}) {
  return base.extend("options", perFile, options).extend("paid", perFile, async ({ options }, { onCleanup }) => {
    const paid = await startPaidMarket(options);
    onCleanup(paid.stop);
    return paid;
  });
}

/** A facilitator that settles on a local EVM chain; its answers must be as its document says. */
export function evmTest(variables: Variables = {}) {
  return chainTest(variables).extend("facilitator", perFile, async ({ setting }, { onCleanup }) => {
    const facilitator = documented(await startFacilitator(setting.variables));
    onCleanup(facilitator.stop);
    return facilitator;
  });
}

/**
 * The same, whose node is reached through a proxy that misbehaves as told, until the end of the test; `path` is what the
 * node's URL ends with.
 */
export function proxiedEvmTest(variables: Variables = {}, path = "") {
  return chainTest(variables)
    .extend("proxy", perFile, async ({ setting }, { onCleanup }) => {
      const proxy = await startRpcProxy(setting.chain.rpcUrl);
      setting.variables[`EIP155_${setting.chain.chainId}_RPC_URL`] = `${proxy.url}${path}`;
      onCleanup(proxy.stop);
      return proxy;
    })
    .extend("calm", { auto: true }, ({ proxy }, { onCleanup }) => {
      onCleanup(() => proxy.behave(() => "pass"));
    })
    .extend("facilitator", perFile, async ({ setting, proxy: _ }, { onCleanup }) => {
      const facilitator = documented(await startFacilitator(setting.variables));
      onCleanup(facilitator.stop);
      return facilitator;
    });
}

/** A local EVM chain, and what a facilitator needs to settle on it. */
export function chainTest(variables: Variables = {}) {
  return base
    .extend("variables", perFile, variables)
    .extend("setting", perFile, async ({ variables }, { onCleanup }) => {
      const setting = await evmSetting(variables);
      onCleanup(setting.stop);
      return setting;
    });
}

/** The facilitator's database alone. */
export function recordTest() {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
  return base.extend("db", perFile, async ({}, { onCleanup }) => {
    const db = connect(await freshDatabase("facilitator"), { poolMax: 4, statements, applicationName: "test" });
    onCleanup(() => db.end());
    return db;
  });
}

/** A local Hedera ledger, and the SDK's clients of it. */
export function ledgerTest() {
  // biome-ignore lint/correctness/noEmptyPattern: as above
  return base.extend("on", perFile, async ({}, { onCleanup }) => {
    const on = await openLedger();
    onCleanup(on.close);
    return on;
  });
}

/** A marketplace with an operator on a local ledger. */
export function ledgerMarketTest(env: Record<string, string> = {}) {
  return base.extend("env", perFile, env).extend("market", perFile, async ({ env }, { onCleanup }) => {
    const market = await startLedgerMarket(env);
    onCleanup(market.stop);
    return market;
  });
}
