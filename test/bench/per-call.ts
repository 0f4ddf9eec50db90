import { createTestClient, http, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type EvmChain, startSteadyEvmChain } from "../../infra/local-evm/chain.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { newBuyer, signAuthorization } from "../support/evm-payments.ts";
import { signHederaTransfer, usdcOf } from "../support/hedera-payments.ts";
import { post, quoteIn } from "../support/pay-call.ts";
import { startChild } from "./child.ts";
import { askLedger, ledgerVariables, newLedgerBuyer, startLedger } from "./ledger-process.ts";
import type { Figures } from "./load.ts";
import { seedBench, startSetting } from "./marketplace/setting.ts";
import { isAsked } from "./only.ts";
import { printRounds, type Round } from "./per-call/report.ts";
import {
  buyingAt,
  callInput,
  partsAsOneChain,
  partsByThemselves,
  type Shop,
  type Signers,
  type Way,
} from "./per-call/ways.ts";

const evm = "eip155:84532";
const hedera = "hedera:testnet";
/**
 * Turns before anything is measured: as many as it takes until all services are compiled through and a call costs what
 * it costs in a service that has been up for a while; a marketplace needs some 8,000 calls.
 */
const warmUpTurns = 16;
/** As the ledger has it by itself. */
const consensusAtOnceMs = 20;
/**
 * On a chain that answers at once there is nothing to wait for but the machine: 16 in flight are as many as two processors
 * can take, with the buyers, the chain and all databases on them, and what is measured is processor time. On one that takes
 * its time (Base has a block in two seconds, Hedera consensus in two to three; here it is one) it is what a buyer waits
 * longer; where blocks come at fixed times, what is done before the next one costs none. Turns are short, every fourth is
 * the route's, and each begins with `leadIn` calls that are not counted, so that what changes on the machine in the meantime
 * changes for all.
 */
const paces: readonly Pace[] = [
  {
    name: "a chain that answers at once",
    chainSeconds: 0,
    turns: [
      { inFlight: 16, count: 160, leadIn: 80, rounds: 20 },
      { inFlight: 1, count: 40, leadIn: 5, rounds: 8 },
    ],
  },
  {
    name: "a chain that takes a second",
    chainSeconds: 1,
    turns: [
      { inFlight: 16, count: 64, leadIn: 16, rounds: 4 },
      { inFlight: 1, count: 6, leadIn: 1, rounds: 4 },
    ],
  },
];

interface Pace {
  readonly name: string;
  readonly chainSeconds: number;
  /** `rounds` is even, since every other one goes the other way round. */
  readonly turns: ReadonlyArray<{ inFlight: number; count: number; leadIn: number; rounds: number }>;
}

/** What is measured on a network, of what is asked for. */
const rowsOf = (network: string) =>
  paces
    .flatMap(({ name, chainSeconds, turns }) =>
      turns.map((turn) => ({ ...turn, chainSeconds, title: `${network}, ${name}, ${turn.inFlight} in flight` })),
    )
    .filter(({ title }) => isAsked(title));

/**
 * The per-call route beside the bare sum of its parts. A call of the route is one POST with a payment, from the request to
 * the agent's result. Its parts are what cannot be left out: POST /verify and POST /settle at the same facilitator, over
 * kept-alive connections as any resource server sends them, and the connector's run between them. They are measured each
 * by itself and summed call by call, and as one chain without anything between them: by itself a part shares its
 * statements and blocks with more of its kind than it does among others. All are kept at the same number in flight, turn
 * by turn in rounds, each with payments of its own that no service has seen before; so what the machine can take limits all
 * alike. The route's turn is next to both that it is held against. The overhead is what the route's middle call takes
 * longer, and how much longer a round of calls takes. The peer is the official SDK's paywall at the same facilitator, held
 * against the same parts; it keeps no record of anything and, unlike ours and the parts, asks for nothing to be listed.
 * The chain says at the end that every payment arrived, once.
 */
export async function benchPerCall(): Promise<void> {
  const stops: Array<() => Promise<unknown>> = [];
  try {
    const [chain, ledger] = await Promise.all([startSteadyEvmChain(), startLedger()]);
    stops.push(
      () => chain.stop(),
      () => ledger.stop(),
    );
    const { facilitatorUrl, ours, peer, wallets } = await startShops(chain, ledger, stops);
    const signers = await fundPayers(chain, ledger);
    const ways: Ways = {
      ours: buyingAt(ours, signers),
      peer: buyingAt(peer, signers),
      bare: partsAsOneChain(facilitatorUrl, ours, signers),
      sum: partsByThemselves(facilitatorUrl, ours, signers),
    };
    process.stdout.write("\nPer-call route beside the bare sum of verify, settle and an instant connector\n");
    const amount = Number(ours.quote.accepts[0]!.amount);
    const networks = [hederaNetwork(ledger), evmNetwork(chain, wallets[evm] as `0x${string}`)];
    for (const network of networks.filter(({ id }) => rowsOf(id).length > 0)) await compareOn(network, ways, amount);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

type Ledger = Awaited<ReturnType<typeof startLedger>>;
type Ways = Readonly<Record<keyof Round, Way>>;

/** Both services, and the peer's paywall at the same facilitator for the same payee. */
async function startShops(chain: EvmChain, ledger: Ledger, stops: Array<() => Promise<unknown>>) {
  const setting = await startSetting();
  stops.push(() => setting.stop());
  const signerKey = generatePrivateKey();
  await chain.fund(privateKeyToAccount(signerKey).address, { wei: parseEther("100") });
  const facilitator = await startChild("../../facilitator/main.ts", "FACILITATOR_PORT", {
    LOG_LEVEL: "error",
    FACILITATOR_MIGRATE: "on",
    FACILITATOR_DATABASE_URL: await setting.createDatabase("facilitator"),
    EIP155_84532_RPC_URL: chain.rpcUrl,
    EIP155_84532_SIGNERS: signerKey,
    ...ledgerVariables(ledger),
  });
  stops.push(() => facilitator.stop());
  const { url: databaseUrl, db } = await setting.database("per_call");
  const { creator, agent } = await seedBench(db, 1);
  const wallets: Readonly<Record<string, string>> = {
    [evm]: newBuyer().address,
    [hedera]: ledger.accounts.creator.accountId,
  };
  for (const [network, address] of Object.entries(wallets))
    await addPayoutWallet(db, { accountId: creator.id, network, address, checked: true });
  const marketplace = await setting.service(databaseUrl, facilitator.url);
  const ours = await shopAt(marketplace, `/api/agent/${agent.address}`);
  const paywall = await startChild(
    "peers/x402-express.ts",
    "PEER_PORT",
    { PEER_FACILITATOR: facilitator.url, PEER_ACCEPTS: JSON.stringify(ours.quote.accepts) },
    "/health",
  );
  stops.push(() => paywall.stop());
  return { facilitatorUrl: facilitator.url, ours, peer: await shopAt(paywall.url, "/call"), wallets };
}

async function shopAt(url: string, path: string): Promise<Shop> {
  return { url, path, quote: quoteIn(await post(url + path, { body: callInput })) };
}

/** More payers than there are calls in flight: what a facilitator reads about one payer is of no use for another. */
async function fundPayers(chain: EvmChain, ledger: Ledger): Promise<Signers> {
  const onEvm = Array.from({ length: 20 }, newBuyer);
  await Promise.all(onEvm.map(({ address }) => chain.fund(address, { usdc: 10n ** 12n })));
  const onHedera = await Promise.all(onEvm.map(() => newLedgerBuyer(ledger, 10n ** 12n)));
  return {
    [evm]: (accepted, n) => {
      const validBefore = String(Math.floor(Date.now() / 1_000) + accepted.maxTimeoutSeconds);
      return signAuthorization(onEvm[n % onEvm.length]!, { ...accepted, chainId: chain.chainId }, { validBefore });
    },
    [hedera]: (accepted, n) => signHederaTransfer(onHedera[n % onHedera.length]!, accepted),
  };
}

interface Network {
  readonly id: string;
  /** What the creator's wallet holds. */
  arrived(): Promise<number>;
  /** 0 answers at once. */
  setPace(chainSeconds: number): Promise<unknown>;
}

function evmNetwork(chain: EvmChain, wallet: `0x${string}`): Network {
  return {
    id: evm,
    arrived: async () => Number((await chain.balances(wallet)).usdc),
    setPace: (seconds) => {
      const node = createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) });
      return seconds === 0 ? node.setAutomine(true) : node.setIntervalMining({ interval: seconds });
    },
  };
}

function hederaNetwork(ledger: Ledger): Network {
  return {
    id: hedera,
    arrived: () => usdcOf({ mirrorUrl: ledger.mirror, usdc: ledger.usdc }, ledger.accounts.creator.accountId),
    setPace: (seconds) =>
      askLedger(ledger, "/faults", { consensusDelayMs: seconds === 0 ? consensusAtOnceMs : seconds * 1_000 }),
  };
}

/** Measures every pace of a network; every payment must have arrived in the end. */
async function compareOn(network: Network, ways: Ways, amount: number): Promise<void> {
  const before = await network.arrived();
  let paid = 0;
  const take = (way: Way, count: number, inFlight: number) => {
    paid += count;
    return way(network.id, count, inFlight);
  };
  for (let turn = 0; turn < warmUpTurns; turn += 1) {
    for (const way of [ways.sum, ways.bare]) await take(way, 160, 16);
    for (const way of [ways.ours, ways.peer]) await take(way, 480, 16);
  }
  for (const { title, chainSeconds, inFlight, count, leadIn, rounds } of rowsOf(network.id)) {
    await network.setPace(chainSeconds);
    const figures: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const order: Array<keyof Round> = ["peer", "sum", "ours", "bare"];
      if (round % 2 === 0) order.reverse();
      const taken: Partial<Record<keyof Round, Figures>> = {};
      for (const name of order) {
        await take(ways[name], leadIn, inFlight);
        taken[name] = await take(ways[name], count, inFlight);
      }
      figures.push(taken as Round);
    }
    printRounds(title, figures);
  }
  const expected = before + paid * amount;
  for (let waited = 0; (await network.arrived()) !== expected && waited < 5_000; waited += 100)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const received = (await network.arrived()) - before;
  process.stdout.write(`${network.id}: ${paid} payments; the creator's wallet rose by ${received}, `);
  process.stdout.write(received === expected - before ? "exactly what they were for\n" : "WHICH IS WRONG\n");
}
