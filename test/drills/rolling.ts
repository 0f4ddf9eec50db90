import { setTimeout as pause } from "node:timers/promises";
import { between, shuffled } from "../bench/soak/chance.ts";
import { price } from "../bench/soak/payments.ts";
import { startWorld, type World } from "../bench/soak/world.ts";
import { Service } from "../support/service.ts";
import { seedAgents, startAgentBackends } from "./agents.ts";
import { checkEveryMs, copiesOf, startBalancer } from "./balancer.ts";
import { Callers } from "./callers.ts";
import { type Unpacked, unpack } from "./debian.ts";
import { numberOf, optionOf, tableOf } from "./report.ts";
import { type Version, versionHere, versionOf } from "./versions.ts";

const ofEachKind = 3;

/**
 * Two copies of each service behind a balancer of connections, and stock clients that try nothing twice, while one copy after
 * the other is restarted, all four in any order before one of them again: into this version, if `--from=<commit>` says which one they begin as. `--restarts=8 --calls=2000`
 */
export async function drill(): Promise<boolean> {
  const restarts = numberOf("restarts", 8);
  const callsMin = numberOf("calls", 2_000);
  const haproxy = await unpack(["haproxy"]);
  const commit = optionOf("from");
  const before = commit ? await versionOf(commit) : versionHere;
  const world = await startWorld({ blocksEverySecond: false });
  const backends = await startAgentBackends();
  const stops: Array<() => Promise<unknown>> = [
    () => world.stop(),
    () => backends.stop(),
    () => haproxy.remove(),
    () => before.remove(),
  ];
  try {
    return await roll({ haproxy, before, world, backends, stops, restarts, callsMin });
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

interface Parts {
  readonly haproxy: Unpacked;
  readonly before: Version;
  readonly world: World;
  readonly backends: Awaited<ReturnType<typeof startAgentBackends>>;
  readonly stops: Array<() => Promise<unknown>>;
  readonly restarts: number;
  readonly callsMin: number;
}

async function roll({ haproxy, before, world, backends, stops, restarts, callsMin }: Parts): Promise<boolean> {
  const drain = { DRAIN_MS: "5000" };
  const start = async (name: "facilitator" | "marketplace", variables: Record<string, string>) => {
    const service = await Service.start(name, { ...variables, ...drain }, before.mainOf(name));
    stops.push(() => service.kill());
    return { name, service };
  };
  const facilitators = [await start("facilitator", world.variables), await start("facilitator", world.variables)];
  const toFacilitators = await startBalancer(haproxy, { facilitator: copiesOf(urlsOf(facilitators)) });
  stops.push(() => toFacilitators.stop());
  const databaseUrl = await world.createDatabase("marketplace");
  const variables = backends.variables(world, databaseUrl, toFacilitators.urlOf("facilitator"));
  const marketplaces = [await start("marketplace", variables), await start("marketplace", variables)];
  const seeded = await seedAgents(variables, backends.slowUrl);
  const toMarketplaces = await startBalancer(haproxy, { marketplace: copiesOf(urlsOf(marketplaces)) });
  stops.push(() => toMarketplaces.stop());
  await pause(checkEveryMs);

  const callers = new Callers(world, {
    facilitator: toFacilitators.urlOf("facilitator"),
    marketplace: toMarketplaces.urlOf("marketplace"),
    seeded,
  });
  callers.start(ofEachKind);
  await pause(3_000);
  let copies = [...facilitators, ...marketplaces];
  let restarted = 0;
  const exits: string[] = [];
  for (; restarted < restarts || callers.calls < callsMin; restarted += 1) {
    if (restarted % copies.length === 0) copies = [...shuffled(copies)];
    const { name, service } = copies[restarted % copies.length]!;
    const code = await service.stop();
    if (code !== 0) exits.push(`a ${name} ended with ${code}`);
    service.become(versionHere.mainOf(name));
    await service.start();
    await pause(checkEveryMs + between(500, 1_500));
    process.stdout.write(`${restarted + 1} restarts, ${callers.calls} calls\n`);
  }
  await callers.stop();
  const { text, failed, problems } = await verdict(callers, world, seeded.wallet);
  process.stdout.write(`\n${restarted} restarts${before === versionHere ? "" : `, out of ${before.name}`}\n${text}`);
  for (const problem of [...exits, ...problems]) process.stdout.write(`${problem}\n`);
  return failed === 0 && exits.length + problems.length === 0;
}

const urlsOf = (services: ReadonlyArray<{ readonly service: Service }>) => services.map(({ service }) => service.url);

/** What callers were told, and whether the chain has the same. */
export async function verdict({ tallies }: Callers, { chain, terms }: World, wallet: `0x${string}`) {
  const rows = tallies.map(({ kind, calls, failures }) => [kind, String(calls), String(failures.length)]);
  const failed = tallies.reduce((sum, { failures }) => sum + failures.length, 0);
  const total = tallies.reduce((sum, { calls }) => sum + calls, 0);
  const told = (kind: string) => {
    const { calls, failures } = tallies.find((tally) => tally.kind === kind)!;
    return BigInt(calls - failures.length);
  };
  const problems = tallies.flatMap(({ kind, failures }) =>
    failures.slice(0, 5).map((failure) => `${kind}: ${failure}`),
  );
  const settled = (await chain.balances(terms.payTo as `0x${string}`)).usdc;
  const perCall = (await chain.balances(wallet)).usdc;
  if (settled !== told("settle") * price)
    problems.push(`told of ${told("settle")} settlements; the payee has ${settled}`);
  if (perCall !== told("per call") * 10_000n)
    problems.push(`told of ${told("per call")} calls; the creator has ${perCall}`);
  const text = tableOf(["call", "calls", "failed"], [...rows, ["all", String(total), String(failed)]]);
  return { text, failed, problems };
}
