import { setTimeout as sleep } from "node:timers/promises";
import { startMockModels } from "../../infra/mock-models/server.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { ChainFaults } from "../bench/soak/chain-faults.ts";
import { chance } from "../bench/soak/chance.ts";
import { allEnded, allExpired, Killer } from "../bench/soak/chaos.ts";
import { LedgerWitness } from "../bench/soak/verdict.ts";
import { startWorld, variablesAmongFaults, type World } from "../bench/soak/world.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { Service } from "../support/service.ts";
import { numberOf, tableOf } from "./report.ts";
import { Bystander } from "./soak/bystander.ts";
import { Cutter } from "./soak/cutter.ts";
import { marketVariables, type OpenMarket, openMarket } from "./soak/market.ts";
import { Shoppers } from "./soak/shoppers.ts";
import { isFailedRun, type Problem, problemsOf, wrongs } from "./soak/verdict.ts";

const shoppersMax = 16;
const bystanderMaxMs = 100;
/** Of the marketplaces' questions and answers to and from their facilitators. */
const lostAnswers = 0.01;

/**
 * Two copies of each service on faulty chains, database connections cut, replies lost and processes killed, and shoppers all the
 * while: with good and bad input, for agents that can be undone and agents that cannot, as stock clients and as the specification's
 * flow has it (settle at the facilitator, then post), and strangers who post what they read off the chain. Then the faults end, and
 * it is counted whether a buyer lost a payment or had another's result. `--minutes=`
 */
export async function drill(): Promise<boolean> {
  const minutes = numberOf("minutes", 5);
  process.stdout.write(`\n${minutes} minutes of two copies of each service among faults and kill -9\n`);
  const stops: Array<() => Promise<unknown>> = [];
  try {
    const soak = await begin(stops);
    for (let minute = 0; minute < minutes; minute += 0.5) {
      await sleep(Math.min(30_000, (minutes - minute) * 60_000));
      process.stdout.write(`${(minute + 0.5).toFixed(1)} min: ${soak.shoppers.summary()}; ${soak.faults()}\n`);
    }
    await soak.stopFaultsAndTraffic();
    await allEnded(soak.db);
    await allExpired(soak.db);
    await soak.shoppers.collect();
    return report(soak, await problemsOf(soak));
  } finally {
    for (const stop of stops.toReversed()) await stop().catch(() => {});
  }
}

/** All that runs, and the buyers in it. What ends it is put into `stops`. */
async function begin(stops: Array<() => Promise<unknown>>): Promise<Soak> {
  const world = await startWorld({ blocksEverySecond: true });
  stops.push(() => world.stop());
  const proxy = await startRpcProxy(world.chain.rpcUrl);
  stops.push(() => proxy.stop());
  const copies = await startCopies(world, proxy.url, stops);
  const { facilitators, marketplaces } = copies;
  const db = connect(world.databaseUrl, { poolMax: 2, applicationName: "soak" });
  stops.push(() => db.end());
  const chainFaults = new ChainFaults(world, proxy, new LedgerWitness(world, db));
  const killer = new Killer([...facilitators, ...marketplaces]);
  const cutter = new Cutter(world.databaseUrl);
  const shoppers = new Shoppers({ world, market: copies.market, marketplaces, facilitators, db });
  const bystander = new Bystander([
    ...facilitators.map((service) => ({ service, path: "/supported" })),
    ...marketplaces.map((service) => ({ service, path: "/explore?q=echo" })),
  ]);
  const stopFaults = async () => {
    copies.passAnswers();
    await Promise.all([killer.stop(), chainFaults.stop(), cutter.stop()]);
  };
  const stopFaultsAndTraffic = async () => {
    await Promise.all([stopFaults(), bystander.stop()]);
    await shoppers.stop();
  };
  stops.push(() => shoppers.stop(), stopFaults);
  for (const part of [shoppers, bystander, chainFaults, killer, cutter]) part.start(shoppersMax);
  const faults = () => `kills ${killer.kills}, connections cut ${cutter.cuts}`;
  return {
    world,
    market: copies.market,
    databaseUrl: copies.databaseUrl,
    db,
    shoppers,
    bystander,
    faults,
    stopFaultsAndTraffic,
  };
}

/** Two of each service; between each marketplace and its facilitator answers are lost until `passAnswers`. */
async function startCopies(world: World, rpcUrl: string, stops: Array<() => Promise<unknown>>) {
  const model = await startMockModels({ apiKey: "soak" });
  stops.push(() => model.stop());
  const start = async (name: "facilitator" | "marketplace", variables: Record<string, string>) => {
    const service = await Service.start(name, variables);
    stops.push(() => service.stop());
    return service;
  };
  const amongFaults = variablesAmongFaults(world, rpcUrl);
  const facilitators = [await start("facilitator", amongFaults), await start("facilitator", amongFaults)];
  const links = await Promise.all(facilitators.map(({ url }) => startCutProxy(url)));
  for (const link of links) {
    stops.push(() => link.stop());
    link.behave(() => (chance() < lostAnswers ? "cut" : "pass"));
  }
  const databaseUrl = await world.createDatabase("marketplace");
  const variables = links.map(({ url }) => marketVariables(world, { databaseUrl, model, facilitatorUrl: url }));
  const market = await openMarket(world, variables[0]!);
  const marketplaces = [await start("marketplace", variables[0]!), await start("marketplace", variables[1]!)];
  const passAnswers = () => {
    for (const link of links) link.behave(() => "pass");
  };
  return { facilitators, marketplaces, market, databaseUrl, passAnswers };
}

interface Soak {
  readonly world: World;
  readonly market: OpenMarket;
  readonly databaseUrl: string;
  readonly db: Database;
  readonly shoppers: Shoppers;
  readonly bystander: Bystander;
  readonly faults: () => string;
  readonly stopFaultsAndTraffic: () => Promise<void>;
}

function report({ shoppers, bystander, faults }: Soak, ofBuyers: readonly Problem[]): boolean {
  const ofBystander = bystander.wrong.map((what): Problem => ({ wrong: "answers that are no true 503", what }));
  const problems = [...ofBuyers, ...ofBystander];
  const count = (wrong: Problem["wrong"]) => problems.filter((problem) => problem.wrong === wrong).length;
  const p99Ms = bystander.answeredWithinMs(0.99);
  const failed = shoppers.purchases.flatMap(({ answers }) => answers.filter(isFailedRun));
  const because = new Map<string, number>();
  for (const { body } of failed) because.set(body.error, (because.get(body.error) ?? 0) + 1);
  process.stdout.write(
    `${shoppers.summary()}; runs that failed ${failed.length}; ${faults()}\n\n` +
      tableOf(
        ["what", "seen", "wanted"],
        [
          ...wrongs.map((wrong) => [wrong, String(count(wrong)), "0"]),
          ["bystander's questions", String(bystander.tookMs.length), ""],
          ["bystander's p50", `${bystander.answeredWithinMs(0.5).toFixed(0)} ms`, ""],
          ["bystander's p99", `${p99Ms.toFixed(0)} ms`, `< ${bystanderMaxMs} ms`],
        ],
      ),
  );
  for (const [error, times] of because) process.stdout.write(`a run failed ${times} times: ${error}\n`);
  for (const { wrong, what } of problems.slice(0, 30)) process.stdout.write(`${wrong}: ${what}\n`);
  return problems.length === 0 && p99Ms < bystanderMaxMs;
}
