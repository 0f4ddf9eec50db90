import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { type EvmChain, startSteadyEvmChain } from "../../infra/local-evm/chain.ts";
import { type Buyer, type EvmTerms, newBuyer, paymentBody, signAuthorization } from "../support/evm-payments.ts";
import { startChild } from "./child.ts";
import { evmCeiling } from "./evm-ceiling.ts";
import { type Figures, median } from "./load.ts";
import { isAsked } from "./only.ts";
import { printTable } from "./table.ts";
import { byTurns, type Load, postPayments, warmingSettlements } from "./turns.ts";

const title = "Facilitator, EVM exact, beside the official SDK's facilitator on the same anvil";
const verifications = 600;
const settlements = 200;
const inFlight = 16;
const settlementsMany = 500;
const inFlightMany = 64;

/**
 * EVM /verify and /settle beside the official SDK's facilitator: the same node, the same run, turn by turn, payments
 * that neither has seen before.
 */
export async function benchFacilitatorEvm(): Promise<void> {
  if (!isAsked(title)) return;
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const [chain, postgres] = await Promise.all([
    startSteadyEvmChain(),
    startPostgres({ directory: join(directory, "postgres"), durable: true }),
  ]);
  const [ourKey, peerKey, ceilingKey] = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()];
  for (const key of [ourKey, peerKey, ceilingKey])
    await chain.fund(privateKeyToAccount(key).address, { wei: parseEther("100") });
  const ours = await startChild("../../facilitator/main.ts", "FACILITATOR_PORT", {
    LOG_LEVEL: "error",
    FACILITATOR_MIGRATE: "on",
    FACILITATOR_DATABASE_URL: await postgres.createDatabase("facilitator"),
    EIP155_84532_RPC_URL: chain.rpcUrl,
    EIP155_84532_SIGNERS: ourKey,
  });
  const peer = await startChild("peers/x402-evm.ts", "PEER_PORT", { PEER_RPC_URL: chain.rpcUrl, PEER_SIGNER: peerKey });
  try {
    const payers = await fundPayers(chain);
    for (const { url } of [ours, peer]) {
      await run(payers, url, { path: "/verify", count: verifications, inFlight: inFlightMany });
      await run(payers, url, { path: "/settle", count: warmingSettlements, inFlight: inFlightMany });
    }
    await compare(payers, {
      ours: ours.url,
      peer: peer.url,
      ceiling: async ({ count, inFlight }) => {
        const signed = await Promise.all(times(count, (n) => signAuthorization(payers.next(n), payers.terms)));
        return evmCeiling({ rpcUrl: chain.rpcUrl, asset: chain.usdc, key: ceilingKey }, signed, inFlight);
      },
    });
  } finally {
    await Promise.all([ours.stop(), peer.stop()]);
    await Promise.all([chain.stop(), postgres.stop()]);
    await rm(directory, { recursive: true, force: true });
  }
}

interface Compared {
  readonly ours: string;
  readonly peer: string;
  readonly ceiling: (load: Omit<Load, "path">) => Promise<Figures>;
}

async function compare(payers: Payers, { ours, peer, ceiling }: Compared): Promise<void> {
  const pair = async (load: Load) => ({
    ...(await byTurns(
      () => run(payers, ours, load),
      () => run(payers, peer, load),
    )),
    peerName: "@x402/evm",
  });
  const settleMany = { path: "/settle", count: settlementsMany, inFlight: inFlightMany } as const;
  const many = await pair(settleMany);
  const node = median([await ceiling(settleMany), await ceiling(settleMany)]);
  const verify = (inFlight: number, count = verifications) => pair({ path: "/verify", count, inFlight });
  printTable(title, [
    { what: "/verify", inFlight: 1, ...(await verify(1, verifications / 4)), wanted: 2 },
    { what: "/verify", inFlight, ...(await verify(inFlight)), wanted: 3 },
    { what: "/verify", inFlight: inFlightMany, ...(await verify(inFlightMany)), wanted: 5 },
    { what: "/settle", inFlight, ...(await pair({ path: "/settle", count: settlements, inFlight })), wanted: 1.5 },
    { what: "/settle", inFlight: inFlightMany, ...many, wanted: 3 },
    { what: "/settle", inFlight: inFlightMany, ...many, peer: node, peerName: "the node itself", wanted: 0.6 },
  ]);
}

interface Payers {
  readonly terms: EvmTerms;
  /** The payer of the payment `n`. */
  next(n: number): Buyer;
}

async function fundPayers(chain: EvmChain): Promise<Payers> {
  const payers = times(20, newBuyer);
  await Promise.all(payers.map(({ address }) => chain.fund(address, { usdc: 10n ** 12n })));
  const payTo = newBuyer().address;
  return {
    terms: { network: "eip155:84532", chainId: 84532, asset: chain.usdc, payTo, amount: "10000" },
    next: (n) => payers[n % payers.length]!,
  };
}

async function run({ terms, next }: Payers, url: string, { count, ...load }: Load): Promise<Figures> {
  const payments = await Promise.all(times(count, async (n) => JSON.stringify(await paymentBody(next(n), terms))));
  return postPayments(url, payments, load);
}

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
