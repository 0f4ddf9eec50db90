import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { signHederaTransfer } from "../support/hedera-payments.ts";
import { startChild } from "./child.ts";
import { ledgerVariables, startLedger } from "./ledger-process.ts";
import { type Figures, measure, poster } from "./load.ts";
import { isAsked } from "./only.ts";
import { printTable } from "./table.ts";
import { byTurns, type Load, postPayments } from "./turns.ts";

const title = "Facilitator, Hedera exact, beside the SDK with its default back-off on the same ledger";
const inFlight = 16;
const inFlightMany = 32;
const warmingMs = 20_000;

/** Hedera /verify and /settle beside the SDK doing the same on the same ledger, turn by turn, with new payments each. */
export async function benchFacilitatorHedera(): Promise<void> {
  if (!isAsked(title)) return;
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const [ledger, postgres] = await Promise.all([
    startLedger(),
    startPostgres({ directory: join(directory, "postgres"), durable: true }),
  ]);
  const { buyer, operator } = ledger.accounts;
  const ours = await startChild("../../facilitator/main.ts", "FACILITATOR_PORT", {
    LOG_LEVEL: "error",
    FACILITATOR_MIGRATE: "on",
    FACILITATOR_DATABASE_URL: await postgres.createDatabase("facilitator"),
    ...ledgerVariables(ledger),
  });
  const sdk = {
    PEER_NODES: JSON.stringify(ledger.nodes),
    PEER_FEE_PAYER_KEY: operator.privateKey,
    PEER_PAYER_PUBLIC_KEY: buyer.publicKey,
  };
  const peer = await startChild("peers/hedera-sdk.ts", "PEER_PORT", sdk);
  const tuned = await startChild("peers/hedera-sdk.ts", "PEER_PORT", { ...sdk, PEER_MIN_BACKOFF_MS: "20" });
  const bare = await startChild("peers/bare-express.ts", "PEER_PORT", {});
  try {
    await compare(ledger, { ours: ours.url, peer: peer.url, tuned: tuned.url, bare: bare.url });
  } finally {
    await Promise.all([ours.stop(), peer.stop(), tuned.stop(), bare.stop()]);
    await Promise.all([ledger.stop(), postgres.stop()]);
    await rm(directory, { recursive: true, force: true });
  }
}

/** URLs. */
interface Compared {
  readonly ours: string;
  readonly peer: string;
  /** The peer that waits less before it asks the ledger again. */
  readonly tuned: string;
  readonly bare: string;
}

async function compare(ledger: Ledger, { ours, peer, tuned, bare }: Compared): Promise<void> {
  const { feePayer, operator } = ledger.accounts;
  const run = async (url: string, { count, ...load }: Load) => {
    // The peers have a fee payer of their own: what ours pays for without a record is found on the chain and recorded.
    const { accountId } = url === ours ? feePayer : operator;
    const payments: string[] = [];
    for (let made = 0; made < count; made += 1) payments.push(await paymentOn(ledger, accountId));
    return postPayments(url, payments, load);
  };
  const echo = async () => {
    const body = await paymentOn(ledger, operator.accountId);
    const { post, close } = poster(bare, inFlight);
    const calls = Array.from({ length: 2_000 }, () => () => post("/echo", body, () => true));
    const figures = await measure(calls, inFlight);
    await close();
    return figures;
  };
  const beside = async (load: Load, peerName: string, other: () => Promise<Figures>) => {
    return { what: load.path, inFlight: load.inFlight, peerName, ...(await byTurns(() => run(ours, load), other)) };
  };
  const pair = (load: Load) => beside(load, "@hashgraph/sdk", () => run(peer, load));
  const settleMany = { path: "/settle", count: 960, inFlight: inFlightMany } as const;
  await echo();
  for (const url of [ours, peer, tuned]) {
    await run(url, { path: "/verify", count: 1_000, inFlight });
    // Each for as long: V8 goes on optimizing for some thousand settlements, as it does in a service that was just started.
    const warmAt = performance.now() + warmingMs;
    while (performance.now() < warmAt) await run(url, settleMany);
  }
  printTable(title, [
    { ...(await pair({ path: "/verify", count: 600, inFlight })), wanted: 5 },
    { ...(await beside({ path: "/verify", count: 1_000, inFlight }, "bare Express", echo)), wanted: 0.4 },
    { ...(await pair({ path: "/settle", count: 5, inFlight: 1 })), wanted: 3 },
    { ...(await pair({ path: "/settle", count: 160, inFlight })), wanted: 3 },
    { ...(await pair(settleMany)), wanted: 5 },
    {
      ...(await beside(settleMany, "@hashgraph/sdk, back-off 20 ms", () => run(tuned, settleMany))),
      wanted: 1,
    },
  ]);
}

type Ledger = Awaited<ReturnType<typeof startLedger>>;

async function paymentOn({ usdc, accounts: { buyer, creator } }: Ledger, feePayer: string): Promise<string> {
  const terms = {
    scheme: "exact",
    network: "hedera:testnet",
    asset: usdc,
    amount: "1000",
    payTo: creator.accountId,
    maxTimeoutSeconds: 180,
    extra: { feePayer },
  };
  const payload = await signHederaTransfer(buyer, terms);
  const paymentPayload = { x402Version: 2, accepted: terms, payload };
  return JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: terms });
}
