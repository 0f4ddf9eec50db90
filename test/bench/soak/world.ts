import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startPostgres } from "../../../infra/dev/postgres.ts";
import { startAnvil } from "../../../infra/local-evm/anvil.ts";
import { type EvmChain, startEvmChain } from "../../../infra/local-evm/chain.ts";
import { type Buyer, type EvmTerms, newBuyer } from "../../support/evm-payments.ts";
import { askLedger, type LedgerProcess, ledgerVariables, startLedger } from "../ledger-process.ts";
import { price } from "./payments.ts";

/** Both networks, a database, and buyers with money. `blocksEverySecond`: as on a public chain, not on arrival. */
export async function startWorld({ blocksEverySecond }: { blocksEverySecond: boolean }): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "soak-"));
  const anvilOptions = {
    chainId: 84532,
    stateFile: join(directory, "chain.json"),
    ...(blocksEverySecond && { blockTimeSeconds: 1, instant: false }),
  };
  const [postgres, chain, ledger] = await Promise.all([
    startPostgres({ directory: join(directory, "postgres"), durable: true }),
    startEvmChain(anvilOptions),
    startLedger({ stateFile: join(directory, "ledger.json") }),
  ]);
  let anvil: Pick<EvmChain, "stop"> = chain;
  const signers = [generatePrivateKey(), generatePrivateKey()];
  for (const key of signers) await chain.fund(privateKeyToAccount(key).address, { wei: parseEther("1000") });
  const buyers = Array.from({ length: 8 }, newBuyer);
  await Promise.all(buyers.map((buyer) => chain.fund(buyer.address, { usdc: 10n ** 12n })));
  await askLedger(ledger, "/faucet", { account: ledger.accounts.buyer.accountId, amount: "1000000000000" });
  const databaseUrl = await postgres.createDatabase("facilitator");
  return {
    chain,
    ledger,
    buyers,
    databaseUrl,
    createDatabase: (name) => postgres.createDatabase(name),
    terms: {
      network: "eip155:84532",
      chainId: 84532,
      asset: chain.usdc,
      payTo: newBuyer().address,
      amount: String(price),
    },
    variables: {
      LOG_LEVEL: "error",
      FACILITATOR_DATABASE_URL: databaseUrl,
      FACILITATOR_MIGRATE: "on",
      DRAIN_MS: "0",
      EIP155_84532_RPC_URL: chain.rpcUrl,
      EIP155_84532_SIGNERS: signers.join(","),
      ...ledgerVariables(ledger),
    },
    restartChain: async () => {
      await anvil.stop();
      anvil = await startAnvil({ ...anvilOptions, port: Number(new URL(chain.rpcUrl).port) });
    },
    stop: async () => {
      await Promise.all([anvil.stop(), ledger.stop(), postgres.stop()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** For a daemon that reaches the EVM chain by way of a proxy that misbehaves: it gives up soon and holds nothing against payers. */
export function variablesAmongFaults({ variables }: World, rpcUrl: string): Record<string, string> {
  return {
    ...variables,
    EIP155_84532_RPC_URL: rpcUrl,
    EIP155_84532_RPC_TIMEOUT_MS: "2000",
    EIP155_84532_BUMP_AFTER_MS: "4000",
    SETTLE_TIMEOUT_MS: "8000",
    LIMIT_READ_PER_ADDRESS: "0",
    LIMIT_FAILURES_PER_PAYER: "0",
    LIMIT_FAILURES_PER_PAYER_DAY: "0",
  };
}

export interface World {
  readonly chain: EvmChain;
  readonly ledger: LedgerProcess;
  readonly buyers: readonly Buyer[];
  readonly databaseUrl: string;
  /** One more, on the same server. */
  createDatabase(name: string): Promise<string>;
  readonly terms: EvmTerms;
  /** For a daemon that talks to both networks without anything in between. */
  readonly variables: Readonly<Record<string, string>>;
  /** The node stops, which loses what was not mined yet, and comes back. */
  restartChain(): Promise<void>;
  stop(): Promise<void>;
}
