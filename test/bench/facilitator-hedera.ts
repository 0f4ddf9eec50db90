import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { signHederaTransfer } from "../support/hedera-payments.ts";
import { startChild } from "./child.ts";
import { ledgerVariables, startLedger } from "./ledger-process.ts";
import { type Figures, measure, median, poster } from "./load.ts";
import { isAsked } from "./only.ts";
import { printTable } from "./table.ts";

const title = "Facilitator, Hedera exact, beside the SDK with its default back-off on the same ledger";
const inFlight = 16;
const inFlightMany = 32;
const rounds = 3;
/** Of each service before anything is measured: until so many a settlement costs V8 half as much again, as it does after a start. */
const warmingSettlements = 1_280;

/** Hedera /verify and /settle beside the SDK doing the same on the same ledger, turn by turn, with new payments each. */
export async function benchFacilitatorHedera(): Promise<void> {
  if (!isAsked(title)) return;
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const [ledger, postgres] = await Promise.all([
    startLedger(),
    startPostgres({ directory: join(directory, "postgres"), durable: true }),
  ]);
  const { feePayer, buyer, creator, operator } = ledger.accounts;
  const ours = await startChild("../../facilitator/main.ts", "FACILITATOR_PORT", {
    LOG_LEVEL: "error",
    FACILITATOR_MIGRATE: "on",
    FACILITATOR_DATABASE_URL: await postgres.createDatabase("facilitator"),
    ...ledgerVariables(ledger),
  });
  const peer = await startChild("peers/hedera-sdk.ts", "PEER_PORT", {
    PEER_NODES: JSON.stringify(ledger.nodes),
    PEER_FEE_PAYER_KEY: operator.privateKey,
    PEER_PAYER_PUBLIC_KEY: buyer.publicKey,
  });
  const tuned = await startChild("peers/hedera-sdk.ts", "PEER_PORT", {
    PEER_NODES: JSON.stringify(ledger.nodes),
    PEER_FEE_PAYER_KEY: operator.privateKey,
    PEER_PAYER_PUBLIC_KEY: buyer.publicKey,
    PEER_MIN_BACKOFF_MS: "20",
  });
  const bare = await startChild("peers/bare-express.ts", "PEER_PORT", {});
  try {
    const anyTerms = {
      scheme: "exact",
      network: "hedera:testnet",
      asset: ledger.usdc,
      amount: "1000",
      payTo: creator.accountId,
      maxTimeoutSeconds: 180,
    };
    // The peers have a fee payer of their own: what ours pays for without a record is found on the chain and recorded.
    const payment = async (url: string) => {
      const account = url === ours.url ? feePayer.accountId : operator.accountId;
      const terms = { ...anyTerms, extra: { feePayer: account } };
      const payload = await signHederaTransfer(buyer, terms);
      const paymentPayload = { x402Version: 2, accepted: terms, payload };
      return JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: terms });
    };
    const run = async (url: string, path: "/verify" | "/settle", count: number, concurrency: number) => {
      const bodies: string[] = [];
      for (let made = 0; made < count; made += 1) bodies.push(await payment(url));
      const { post, close } = poster(url, concurrency);
      const good = (reply: Record<string, unknown>) => reply.isValid === true || reply.success === true;
      const figures = await measure(
        bodies.map((body) => () => post(path, body, good)),
        concurrency,
      );
      await close();
      return figures;
    };
    const echo = async (count: number, concurrency: number) => {
      const body = await payment(bare.url);
      const { post, close } = poster(bare.url, concurrency);
      const figures = await measure(
        Array.from({ length: count }, () => () => post("/echo", body, () => true)),
        concurrency,
      );
      await close();
      return figures;
    };
    const beside = async (
      other: () => Promise<Figures>,
      path: "/verify" | "/settle",
      count: number,
      concurrency: number,
    ) => {
      const figures = { ours: [] as Figures[], peer: [] as Figures[] };
      for (let round = 0; round < rounds; round += 1) {
        figures.ours.push(await run(ours.url, path, count, concurrency));
        figures.peer.push(await other());
      }
      return { ours: median(figures.ours), peer: median(figures.peer) };
    };
    const pair = async (path: "/verify" | "/settle", count: number, concurrency: number) => {
      const figures = { ours: [] as Figures[], peer: [] as Figures[] };
      for (let round = 0; round < rounds; round += 1) {
        figures.ours.push(await run(ours.url, path, count, concurrency));
        figures.peer.push(await run(peer.url, path, count, concurrency));
      }
      return { ours: median(figures.ours), peer: median(figures.peer), peerName: "@hashgraph/sdk" };
    };
    await echo(2_000, inFlight);
    for (const { url } of [ours, peer, tuned]) {
      await run(url, "/verify", 1_000, inFlight);
      await run(url, "/settle", warmingSettlements, inFlightMany);
    }
    printTable(title, [
      { what: "/verify", inFlight, ...(await pair("/verify", 600, inFlight)), wanted: 5 },
      {
        what: "/verify",
        inFlight,
        ...(await beside(() => echo(2_000, inFlight), "/verify", 1_000, inFlight)),
        peerName: "bare Express",
        wanted: 0.4,
      },
      { what: "/settle", inFlight: 1, ...(await pair("/settle", 5, 1)), wanted: 3 },
      { what: "/settle", inFlight, ...(await pair("/settle", 160, inFlight)), wanted: 3 },
      { what: "/settle", inFlight: inFlightMany, ...(await pair("/settle", 320, inFlightMany)), wanted: 5 },
      {
        what: "/settle",
        inFlight: inFlightMany,
        ...(await beside(() => run(tuned.url, "/settle", 320, inFlightMany), "/settle", 320, inFlightMany)),
        peerName: "@hashgraph/sdk, back-off 20 ms",
        wanted: 1,
      },
    ]);
  } finally {
    await Promise.all([ours.stop(), peer.stop(), tuned.stop(), bare.stop()]);
    await Promise.all([ledger.stop(), postgres.stop()]);
    await rm(directory, { recursive: true, force: true });
  }
}
