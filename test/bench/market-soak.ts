import { setTimeout as sleep } from "node:timers/promises";
import { startMockModels } from "../../infra/mock-models/server.ts";
import { connect } from "../../shared/postgres.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { Service } from "../support/service.ts";
import { Cutter } from "./market-soak/cutter.ts";
import { marketVariables, openMarket } from "./market-soak/market.ts";
import { type Purchase, Shoppers } from "./market-soak/shoppers.ts";
import { problemsOf } from "./market-soak/verdict.ts";
import { allEnded, allExpired, Killer } from "./soak/chaos.ts";
import { Mischief } from "./soak/mischief.ts";
import { LedgerWitness } from "./soak/verdict.ts";
import { startWorld, variablesAmongFaults } from "./soak/world.ts";

const shoppersMax = 16;

/**
 * Two copies of each service on faulty chains, database connections cut and processes killed, and shoppers all the while: with
 * good and bad input, for agents that can be undone and agents that cannot, as stock clients and as the specification's flow
 * has it (settle at the facilitator, then post), and strangers who post what they read off the chain. Then peace, and the
 * question whether anybody lost a payment or had somebody else's. `--minutes=`
 */
export async function benchMarketSoak(): Promise<void> {
  const minutes = Number(process.argv.find((word) => word.startsWith("--minutes="))?.slice("--minutes=".length) ?? 5);
  const world = await startWorld({ blocksEverySecond: true });
  const proxy = await startRpcProxy(world.chain.rpcUrl);
  const model = await startMockModels({ apiKey: "soak" });
  const facilitatorVariables = variablesAmongFaults(world, proxy.url);
  const facilitators = await Promise.all([1, 2].map(() => Service.start("facilitator", facilitatorVariables)));
  const databaseUrl = await world.createDatabase("marketplace");
  const variables = facilitators.map(({ url }) => marketVariables(world, { databaseUrl, model, facilitatorUrl: url }));
  const market = await openMarket(world, variables[0]!);
  const marketplaces = [];
  for (const each of variables) marketplaces.push(await Service.start("marketplace", each));
  const db = connect(world.databaseUrl, { poolMax: 2, applicationName: "soak" });
  const witness = new LedgerWitness(world, db);
  const mischief = new Mischief(world, proxy, witness);
  const killer = new Killer([...facilitators, ...marketplaces]);
  const cutter = new Cutter(world.databaseUrl);
  const urlsOf = (services: readonly Service[]) => services.map(({ url }) => url);
  const isSettled = async ({ network, key }: Purchase) => {
    const settled = "select from payments where network = $1 and payment_key = $2 and state = 'settled'";
    return (await db.query(settled, [network, key])).rowCount === 1;
  };
  const shoppers = new Shoppers(world, market, urlsOf(marketplaces), urlsOf(facilitators), isSettled);
  process.stdout.write(`\nMarketplace, ${minutes} minutes of two copies of each service among faults and kill -9\n`);
  try {
    shoppers.start(shoppersMax);
    mischief.start();
    killer.start();
    cutter.start();
    for (let minute = 0; minute < minutes; minute += 0.5) {
      await sleep(Math.min(30_000, (minutes - minute) * 60_000));
      process.stdout.write(
        `${(minute + 0.5).toFixed(1)} min: ${shoppers.summary()}; kills ${killer.kills}, cuts ${cutter.cuts}\n`,
      );
    }
    await Promise.all([killer.stop(), mischief.stop(), cutter.stop()]);
    await shoppers.stop();
    await allEnded(db);
    await allExpired(db);
    await shoppers.collect();
    const problems = await problemsOf({ world, market, db, databaseUrl, shoppers });
    process.stdout.write(
      `${shoppers.summary()}; kills ${killer.kills}, connections cut ${cutter.cuts}\n` +
        `problems ${problems.length}\n${problems.slice(0, 30).join("\n")}\n`,
    );
  } finally {
    await Promise.all([killer.stop(), mischief.stop().catch(() => {}), cutter.stop()]);
    await shoppers.stop();
    await Promise.all([...facilitators, ...marketplaces].map((service) => service.stop()));
    await db.end();
    await Promise.all([proxy.stop(), model.stop()]);
    await world.stop();
  }
}
