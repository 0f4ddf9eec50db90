import { setTimeout as pause } from "node:timers/promises";
import { startMockModels } from "../../infra/mock-models/server.ts";
import { connect } from "../../shared/postgres.ts";
import { shuffled } from "../bench/soak/chance.ts";
import { allEnded } from "../bench/soak/chaos.ts";
import { startWorld } from "../bench/soak/world.ts";
import { Service } from "../support/service.ts";
import type { Seen } from "./faults.ts";
import { marketVariables, openMarket } from "./soak/market.ts";
import { isDelivered, Shoppers } from "./soak/shoppers.ts";
import { problemsOf } from "./soak/verdict.ts";

/** One copy of each service is five seconds ahead, the other five behind; buyers call either, on both networks. */
export async function hold(): Promise<Seen> {
  const apartMs = shuffled([5_000, -5_000]);
  const world = await startWorld({ blocksEverySecond: false });
  const model = await startMockModels({ apiKey: "soak" });
  const stops: Array<() => Promise<unknown>> = [() => world.stop(), () => model.stop()];
  const start = async (name: "facilitator" | "marketplace", variables: Record<string, string>, offMs: number) => {
    const service = await Service.start(name, { ...variables, NODE_OPTIONS: withClockOff(offMs) });
    stops.push(() => service.kill());
    return service;
  };
  try {
    const facilitators = [];
    for (const offMs of apartMs) facilitators.push(await start("facilitator", world.variables, offMs));
    const databaseUrl = await world.createDatabase("marketplace");
    const variablesAt = (facilitatorUrl: string) => ({
      ...marketVariables(world, { databaseUrl, model, facilitatorUrl }),
      HEDERA_VALID_SECONDS: "60",
    });
    const market = await openMarket(world, variablesAt(facilitators[0]!.url));
    const marketplaces = [];
    // Each with the facilitator that is off the other way.
    for (const [at, offMs] of apartMs.entries()) {
      marketplaces.push(await start("marketplace", variablesAt(facilitators[1 - at]!.url), offMs));
    }
    const db = connect(world.databaseUrl, { poolMax: 2, applicationName: "drill" });
    stops.push(() => db.end());
    const shoppers = new Shoppers({ world, market, marketplaces, facilitators, db });
    shoppers.start(6);
    await pause(20_000);
    await shoppers.stop();
    await allEnded(db);
    const { purchases } = shoppers;
    const without = purchases.filter((purchase) => !isDelivered(purchase));
    const problems = [
      ...(await problemsOf({ world, market, db, databaseUrl, shoppers })).map(({ wrong, what }) => `${wrong}: ${what}`),
      ...without.map(
        ({ agent, network, answers }) =>
          `${agent} on ${network} not had: ${JSON.stringify(answers.at(-1)?.body).slice(0, 200)}`,
      ),
    ];
    const found = {
      purchases: purchases.length,
      delivered: purchases.length - without.length,
      problems: problems.length,
    };
    return { found: { "clocks apart": "10 s", ...found }, problems };
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Node's options by which a process, and each of its threads, takes another time for the present. */
function withClockOff(ms: number): string {
  const program = `
    const Right = Date;
    globalThis.Date = class Date extends Right {
      constructor(...given) { super(...(given.length === 0 ? [Right.now() + ${ms}] : given)); }
      static now() { return Right.now() + ${ms}; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(program)}`;
}
