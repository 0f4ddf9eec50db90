import { mkdtemp, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";
import { startEvmChain } from "../../infra/local-evm/chain.ts";
import { startLocalHedera } from "../../infra/local-hedera/local-hedera.ts";
import type { LocalHederaOptions } from "../../infra/local-hedera/options.ts";
import { createServer } from "../../marketplace/server.ts";
import { connect } from "../../shared/postgres.ts";
import { openLedger } from "../infra/local-hedera/sdk.ts";
import { documented } from "./documented.ts";
import { evmSetting } from "./evm-facilitator.ts";
import { startFacilitator, type Variables } from "./facilitator.ts";
import { hederaVariables } from "./hedera-payments.ts";
import { startHttpServer } from "./http-server.ts";
import { startLedgerMarket } from "./ledger-agents.ts";
import {
  marketplaceContext,
  type Seed,
  type StartOptions,
  seedMarket,
  startCopy,
  startMarketplace,
} from "./marketplace.ts";
import { type PaidOptions, startPaidMarket } from "./paid-market.ts";
import { kept, type OnCleanup, part, perFile } from "./part.ts";
import { freshDatabase } from "./postgres.ts";
import { startRpcProxy } from "./rpc-proxy.ts";
import { startMailServer } from "./sign-in-servers.ts";
import { statements } from "./statements.ts";

/**
 * What a service may stand on besides its database, for `options` that name it: `marketTest().extend("options", perFile,
 * ({ chain }) => ({ env: { EVM_RPC_URLS: … } }))`.
 */
function partsTest() {
  return base
    .extend("chain", perFile, part(startEvmChain))
    .extend("open", perFile, part(openLedger))
    .extend("mail", perFile, part(startMailServer))
    .extend("directory", perFile, newDirectory);
}

// biome-ignore lint/correctness/noEmptyPattern: as above
async function newDirectory({}, { onCleanup }: { onCleanup: OnCleanup }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "test-"));
  onCleanup(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

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

/** A marketplace with an agent, its creator, and a buyer with a key and credits; `copy` is another one on its database. */
export function marketTest(options: StartOptions = {}, seed: Seed = {}) {
  return partsTest()
    .extend("options", perFile, options)
    .extend("market", perFile, ({ options }, { onCleanup }) => kept(startMarketplace(options), onCleanup))
    .extend("copy", perFile, ({ market }, { onCleanup }) => kept(startCopy(market), onCleanup))
    .extend("seeded", perFile, ({ market }) => seedMarket(market.context, seed));
}

/** A marketplace that may call one server of this machine, at `base`, which the test answers for. */
export function upstreamTest(answer: RequestListener) {
  return marketTest()
    .extend(
      "upstream",
      perFile,
      part(() => startHttpServer(answer)),
    )
    .extend("base", perFile, ({ upstream }) => upstream.url)
    .extend("options", perFile, ({ upstream }) => ({ env: { OUTBOUND_ALLOW_HOSTS: upstream.host } }));
}

/** Both services and both chains; `paid` has a creator who can be paid on each, `copy` is another marketplace beside it. */
export function paidTest(options: PaidOptions = {}) {
  return partsTest()
    .extend("options", perFile, options)
    .extend("paid", perFile, ({ options }, { onCleanup }) => kept(startPaidMarket(options), onCleanup))
    .extend("copy", perFile, ({ paid }, { onCleanup }) => kept(startCopy(paid.marketplace), onCleanup));
}

/** A facilitator that settles on a local EVM chain; its answers must be as its document says. */
export function evmTest(variables: Variables = {}) {
  return chainTest(variables).extend("facilitator", perFile, ({ setting }, { onCleanup }) =>
    kept(startFacilitator(setting.variables).then(documented), onCleanup),
  );
}

/**
 * The same, whose node is reached through a proxy that misbehaves as told, until the end of the test; `path` is what the
 * node's URL ends with.
 */
export function proxiedEvmTest(variables: Variables = {}, path = "") {
  return chainTest(variables)
    .extend("proxy", perFile, async ({ setting }, { onCleanup }) => {
      const proxy = await kept(startRpcProxy(setting.chain.rpcUrl), onCleanup);
      setting.variables[`EIP155_${setting.chain.chainId}_RPC_URL`] = `${proxy.url}${path}`;
      return proxy;
    })
    .extend("calm", { auto: true }, ({ proxy }, { onCleanup }) => {
      onCleanup(() => proxy.behave(() => "pass"));
    })
    .extend("facilitator", perFile, ({ setting, proxy: _ }, { onCleanup }) =>
      kept(startFacilitator(setting.variables).then(documented), onCleanup),
    );
}

/** A local EVM chain, and what a facilitator needs to settle on it. */
export function chainTest(variables: Variables = {}) {
  return base
    .extend("variables", perFile, variables)
    .extend("setting", perFile, ({ variables }, { onCleanup }) => kept(evmSetting(variables), onCleanup));
}

/** A local EVM chain and a local Hedera ledger, with what a facilitator needs to settle on both. */
export function chainsTest(options: LocalHederaOptions = {}) {
  return chainTest()
    .extend(
      "ledger",
      perFile,
      part(() => startLocalHedera(options)),
    )
    .extend("forBoth", perFile, ({ setting, ledger }) => ({ ...setting.variables, ...hederaVariables(ledger) }));
}

/** A facilitator that settles on a local Hedera ledger, which has no faults at the end of a test. */
export function hederaTest(changes: Variables = {}) {
  return base
    .extend("ledger", perFile, part(startLocalHedera))
    .extend("calm", { auto: true }, ({ ledger }, { onCleanup }) => {
      onCleanup(() => ledger.faults.clear());
    })
    .extend("variables", perFile, async ({ ledger }) => ({
      ...hederaVariables(ledger),
      FACILITATOR_DATABASE_URL: await freshDatabase("facilitator"),
      ...changes,
    }))
    .extend("facilitator", perFile, ({ variables }, { onCleanup }) => kept(startFacilitator(variables), onCleanup));
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
export function ledgerTest(options: LocalHederaOptions = {}) {
  return base.extend(
    "on",
    perFile,
    part(() => openLedger(options)),
  );
}

/** A marketplace with an operator on a local ledger, and `copy`, another one on its database. */
export function ledgerMarketTest(env: Record<string, string> = {}) {
  return partsTest()
    .extend("env", perFile, env)
    .extend("market", perFile, ({ env }, { onCleanup }) => kept(startLedgerMarket(env), onCleanup))
    .extend("copy", perFile, ({ market }, { onCleanup }) => kept(startCopy(market), onCleanup));
}
