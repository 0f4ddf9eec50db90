import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { startSteadyEvmChain } from "../../infra/local-evm/chain.ts";
import { newBuyer, paymentBody, signAuthorization } from "../support/evm-payments.ts";
import { startChild } from "./child.ts";
import { evmCeiling } from "./evm-ceiling.ts";
import { type Figures, measure, median, poster } from "./load.ts";
import { isAsked } from "./only.ts";
import { printTable } from "./table.ts";

const title = "Facilitator, EVM exact, beside the official SDK's facilitator on the same anvil";
const verifications = 600;
const settlements = 200;
const inFlight = 16;
const settlementsMany = 500;
const inFlightMany = 64;
const rounds = 3;
/** Of each service before anything is measured: until so many a settlement costs V8 half as much again, as it does after a start. */
const warmingSettlements = 1_280;

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
  const [ourKey, peerKey, blasterKey] = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()];
  for (const key of [ourKey, peerKey, blasterKey])
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
    const terms = {
      network: "eip155:84532",
      chainId: 84532,
      asset: chain.usdc,
      payTo: newBuyer().address,
      amount: "10000",
    };
    const buyers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const buyer = newBuyer();
        await chain.fund(buyer.address, { usdc: 10n ** 12n });
        return buyer;
      }),
    );
    const payments = (count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, i) =>
          JSON.stringify(await paymentBody(buyers[i % buyers.length] as (typeof buyers)[0], terms)),
        ),
      );
    const run = async (url: string, path: "/verify" | "/settle", count: number, concurrency: number) => {
      const bodies = await payments(count);
      const { post, close } = poster(url, concurrency);
      const good = (reply: Record<string, unknown>) => reply.isValid === true || reply.success === true;
      const figures = await measure(
        bodies.map((body) => () => post(path, body, good)),
        concurrency,
      );
      await close();
      return figures;
    };
    const pair = async (path: "/verify" | "/settle", count: number, concurrency: number) => {
      const figures = { ours: [] as Figures[], peer: [] as Figures[] };
      for (let round = 0; round < rounds; round += 1) {
        figures.ours.push(await run(ours.url, path, count, concurrency));
        figures.peer.push(await run(peer.url, path, count, concurrency));
      }
      return { ours: median(figures.ours), peer: median(figures.peer), peerName: "@x402/evm" };
    };
    for (const { url } of [ours, peer]) {
      await run(url, "/verify", verifications, inFlightMany);
      await run(url, "/settle", warmingSettlements, inFlightMany);
    }
    const ceiling = async (count: number, concurrency: number) => {
      const signed = await Promise.all(
        Array.from({ length: count }, (_, i) =>
          signAuthorization(buyers[i % buyers.length] as (typeof buyers)[0], terms),
        ),
      );
      return evmCeiling({ rpcUrl: chain.rpcUrl, asset: chain.usdc, key: blasterKey }, signed, concurrency);
    };
    const many = await pair("/settle", settlementsMany, inFlightMany);
    const blasted = [await ceiling(settlementsMany, inFlightMany), await ceiling(settlementsMany, inFlightMany)];
    printTable(title, [
      { what: "/verify", inFlight: 1, ...(await pair("/verify", verifications / 4, 1)), wanted: 2 },
      { what: "/verify", inFlight, ...(await pair("/verify", verifications, inFlight)), wanted: 3 },
      { what: "/verify", inFlight: inFlightMany, ...(await pair("/verify", verifications, inFlightMany)), wanted: 5 },
      { what: "/settle", inFlight, ...(await pair("/settle", settlements, inFlight)), wanted: 1.5 },
      { what: "/settle", inFlight: inFlightMany, ...many, wanted: 3 },
      {
        what: "/settle",
        inFlight: inFlightMany,
        ...many,
        peer: median(blasted),
        peerName: "the node itself",
        wanted: 0.6,
      },
    ]);
  } finally {
    await Promise.all([ours.stop(), peer.stop()]);
    await Promise.all([chain.stop(), postgres.stop()]);
    await rm(directory, { recursive: true, force: true });
  }
}
