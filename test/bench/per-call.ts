import { createTestClient, http, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startSteadyEvmChain } from "../../infra/local-evm/chain.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { newBuyer, signAuthorization } from "../support/evm-payments.ts";
import { type HederaTerms, signHederaTransfer, usdcOf } from "../support/hedera-payments.ts";
import { encodeHeader, type Proof, post, quoteIn } from "../support/pay-call.ts";
import { startChild } from "./child.ts";
import { askLedger, ledgerVariables, newLedgerBuyer, startLedger } from "./ledger-process.ts";
import { type Figures, inTurn, measure, poster } from "./load.ts";
import { instantRun } from "./marketplace/instant-run.ts";
import { seedBench, startSetting } from "./marketplace/setting.ts";
import { isAsked } from "./only.ts";

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
 * the rail's, and each begins with `leadIn` calls that are not counted, so that what changes on the machine in the meantime
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

/** Where a call can be bought: ours, and the peer's. */
interface Shop {
  readonly url: string;
  readonly path: string;
  readonly quote: Pick<Proof, "resource" | "extensions"> & { readonly accepts: readonly HederaTerms[] };
}

type Way = (network: string, count: number, inFlight: number) => Promise<Figures>;

interface Round {
  readonly ours: Figures;
  readonly peer: Figures;
  /** The parts as one chain. */
  readonly bare: Figures;
  /** Each part by itself, summed. */
  readonly sum: Figures;
}

/**
 * The per-call rail beside the bare sum of its parts. A call of the rail is one POST with a payment, from the request to
 * the agent's result. Its parts are what cannot be left out: POST /verify and POST /settle at the same facilitator, over
 * kept-alive connections as any resource server sends them, and the connector's run between them. They are measured each
 * by itself and summed call by call, and as one chain without anything between them: by itself a part shares its
 * statements and blocks with more of its kind than it does among others. All are kept at the same number in flight, turn
 * by turn in rounds, each with payments of its own that no service has seen before; so what the machine can take limits all
 * alike. The rail's turn is next to both that it is held against. The overhead is what the rail's middle call takes
 * longer, and how much longer a round of calls takes. The peer is the official SDK's paywall at the same facilitator, held
 * against the same parts; it keeps no record of anything and, unlike ours and the parts, asks for nothing to be listed.
 * The chain says at the end that every payment arrived, once.
 */
export async function benchPerCall(): Promise<void> {
  const setting = await startSetting();
  const [chain, ledger] = await Promise.all([startSteadyEvmChain(), startLedger()]);
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
  let paywall: Awaited<ReturnType<typeof startChild>> | undefined;
  try {
    const { url: databaseUrl, db } = await setting.database("per_call");
    const { creator, agent } = await seedBench(db, 1);
    const wallets = { [evm]: newBuyer().address, [hedera]: ledger.accounts.creator.accountId };
    for (const [network, address] of Object.entries(wallets))
      await addPayoutWallet(db, { accountId: creator.id, network, address, checked: true });
    const marketplace = await setting.service(databaseUrl, facilitator.url);
    const body = { text: "hello" };
    const shopAt = async (url: string, path: string): Promise<Shop> => {
      return { url, path, quote: quoteIn(await post(url + path, { body })) };
    };
    const ours = await shopAt(marketplace, `/api/agent/${agent.address}`);
    const { accepts } = ours.quote;
    paywall = await startChild(
      "peers/x402-express.ts",
      "PEER_PORT",
      { PEER_FACILITATOR: facilitator.url, PEER_ACCEPTS: JSON.stringify(accepts) },
      "/health",
    );
    const peer = await shopAt(paywall.url, "/call");

    // More than there are calls in flight: what a facilitator reads about one payer is of no use for another.
    const buyers = Array.from({ length: 20 }, newBuyer);
    await Promise.all(buyers.map(({ address }) => chain.fund(address, { usdc: 10n ** 12n })));
    const ledgerBuyers = await Promise.all(buyers.map(() => newLedgerBuyer(ledger, 10n ** 12n)));
    const sign: Record<string, (accepted: HederaTerms, n: number) => Promise<object>> = {
      [evm]: (accepted, n) => {
        const validBefore = String(Math.floor(Date.now() / 1_000) + accepted.maxTimeoutSeconds);
        return signAuthorization(buyers[n % buyers.length]!, { ...accepted, chainId: chain.chainId }, { validBefore });
      },
      [hedera]: (accepted, n) => signHederaTransfer(ledgerBuyers[n % ledgerBuyers.length]!, accepted),
    };
    const payments = async (network: string, count: number, { quote } = ours): Promise<Proof[]> => {
      const accepted = quote.accepts.find((entry) => entry.network === network)!;
      const { resource, extensions } = quote;
      const echoed = { resource, ...(extensions && { extensions }) };
      const proofs: Proof[] = [];
      for (let n = 0; n < count; n += 1) {
        proofs.push({ x402Version: 2, ...echoed, accepted, payload: await sign[network]!(accepted, n) });
      }
      return proofs;
    };

    const buyAt = async (shop: Shop, network: string, count: number, inFlight: number): Promise<Figures> => {
      const { url, path } = shop;
      const calls = (await payments(network, count, shop)).map((proof) => encodeHeader(proof));
      const { post: call, close } = poster(url, inFlight);
      const sent = JSON.stringify(body);
      const figures = await measure(
        calls.map((proof) => () => call(path, sent, ({ success }) => success === true, { "payment-signature": proof })),
        inFlight,
      );
      await close();
      return figures;
    };
    const rail: Way = (...asked) => buyAt(ours, ...asked);
    const paywallCalls: Way = (...asked) => buyAt(peer, ...asked);
    const bodiesOf = async (network: string, count: number) =>
      (await payments(network, count)).map((paymentPayload) =>
        JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted }),
      );
    const isValid = (reply: Record<string, unknown>) => reply.isValid === true;
    const isSettled = (reply: Record<string, unknown>) => reply.success === true;
    const parts: Way = async (network, count, inFlight) => {
      const bodies = await bodiesOf(network, count);
      const { post, close } = poster(facilitator.url, inFlight);
      const figures = await measure(
        bodies.map((payment) => async () => {
          const verified = await post("/verify", payment, isValid);
          await instantRun();
          return verified && post("/settle", payment, isSettled);
        }),
        inFlight,
      );
      await close();
      return figures;
    };
    /** Each part by itself, all payments before the next part, and what they take together. */
    const sum: Way = async (network, count, inFlight) => {
      const bodies = await bodiesOf(network, count);
      const { post, close } = poster(facilitator.url, inFlight);
      const each = [
        await measure(
          bodies.map((payment) => () => post("/verify", payment, isValid)),
          inFlight,
        ),
        await measure(
          bodies.map(() => async () => Boolean(await instantRun())),
          inFlight,
        ),
        await measure(
          bodies.map((payment) => () => post("/settle", payment, isSettled)),
          inFlight,
        ),
      ];
      await close();
      return inTurn(each);
    };

    const arrived = {
      [evm]: async () => Number((await chain.balances(wallets[evm] as `0x${string}`)).usdc),
      [hedera]: () => usdcOf({ mirrorUrl: ledger.mirror, usdc: ledger.usdc }, ledger.accounts.creator.accountId),
    };
    const setPace = {
      [evm]: async (seconds: number) => {
        const node = createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) });
        await (seconds === 0 ? node.setAutomine(true) : node.setIntervalMining({ interval: seconds }));
      },
      [hedera]: (seconds: number) =>
        askLedger(ledger, "/faults", { consensusDelayMs: seconds === 0 ? consensusAtOnceMs : seconds * 1_000 }),
    };
    process.stdout.write("\nPer-call rail beside the bare sum of verify, settle and an instant connector\n");
    for (const network of ([hedera, evm] as const).filter((one) => rowsOf(one).length > 0)) {
      const before = await arrived[network]();
      let paid = 0;
      const take = (way: Way, count: number, inFlight: number) => {
        paid += count;
        return way(network, count, inFlight);
      };
      for (let turn = 0; turn < warmUpTurns; turn += 1) {
        for (const way of [sum, parts]) await take(way, 160, 16);
        for (const way of [rail, paywallCalls]) await take(way, 480, 16);
      }
      for (const { title, chainSeconds, inFlight, count, leadIn, rounds } of rowsOf(network)) {
        await setPace[network](chainSeconds);
        const figures: Round[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const ways = [paywallCalls, sum, rail, parts];
          if (round % 2 === 0) ways.reverse();
          const taken = new Map<Way, Figures>();
          for (const way of ways) {
            await take(way, leadIn, inFlight);
            taken.set(way, await take(way, count, inFlight));
          }
          const of = (way: Way) => taken.get(way)!;
          figures.push({ ours: of(rail), peer: of(paywallCalls), bare: of(parts), sum: of(sum) });
        }
        print(title, figures);
      }
      const expected = before + paid * Number(accepts[0]!.amount);
      for (let waited = 0; (await arrived[network]()) !== expected && waited < 5_000; waited += 100)
        await new Promise((resolve) => setTimeout(resolve, 100));
      const received = (await arrived[network]()) - before;
      process.stdout.write(`${network}: ${paid} payments; the creator's wallet rose by ${received}, `);
      process.stdout.write(received === expected - before ? "exactly what they were for\n" : "WHICH IS WRONG\n");
    }
  } finally {
    await setting.stop();
    await paywall?.stop();
    await facilitator.stop();
    await Promise.all([chain.stop(), ledger.stop()]);
  }
}

/**
 * The middle of the rounds' overheads, each round against its own neighbour: what a turn costs by coming later weighs as
 * much on either side of it.
 */
function print(title: string, figures: readonly Round[]): void {
  const middle = (values: number[]) => {
    const sorted = values.toSorted((a, b) => a - b);
    return ((sorted[sorted.length / 2 - 1] as number) + (sorted[sorted.length / 2] as number)) / 2;
  };
  const percent = (ratio: number) => `${ratio >= 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(0)} %`;
  const over = (rail: "ours" | "peer", side: "bare" | "sum") => {
    const byLatency = middle(figures.map((one) => one[rail].p50Ms / one[side].p50Ms));
    const byTime = middle(figures.map((one) => one[side].perSecond / one[rail].perSecond));
    return `p50 ${percent(byLatency)}, time ${percent(byTime)}`;
  };
  const overheads = (rail: "ours" | "peer") =>
    `overhead over the sum: ${over(rail, "sum")}; over the chain: ${over(rail, "bare")}`;
  const told = (side: keyof Round) => {
    const of = figures.map((one) => one[side]);
    const sum = (what: "succeeded" | "calls") => of.reduce((all, one) => all + one[what], 0);
    const rate = middle(of.map(({ perSecond }) => perSecond)).toFixed(0);
    const p50 = middle(of.map(({ p50Ms }) => p50Ms)).toFixed(1);
    return `${rate}/s p50 ${p50} ms ${sum("succeeded")}/${sum("calls")}`;
  };
  process.stdout.write(
    `${title} (wanted ≤ +25 %)\n` +
      `  sum of the parts            ${told("sum")}\n` +
      `  the parts as one chain      ${told("bare")}\n` +
      `  rail                        ${told("ours")}   ${overheads("ours")}\n` +
      `  @x402/express, no records   ${told("peer")}   ${overheads("peer")}\n`,
  );
}
