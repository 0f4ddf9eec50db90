import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../../shared/postgres.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { Service } from "../../support/service.ts";
import { ChainFaults } from "./chain-faults.ts";
import { between } from "./chance.ts";
import { type Asked, Customers } from "./customers.ts";
import { disagreements, LedgerWitness, readPayments, readTruth } from "./verdict.ts";
import { untruePages, Visitors, wrongEnds } from "./visitors.ts";
import { startWorld, variablesAmongFaults } from "./world.ts";

const customersOnEachNetwork = 12;
const visitorsInAll = 2;
const reportEveryMs = 30_000;
const endMaxMs = 300_000;

/**
 * Two daemons on one database, between them and their networks everything that can go wrong, `kill -9` at random moments,
 * and customers and visitors of payments' pages all the while. Then peace, and the question whether answers, pages, records and chains
 * agree.
 */
export async function chaos(minutes: number): Promise<void> {
  const world = await startWorld({ blocksEverySecond: true });
  const proxy = await startRpcProxy(world.chain.rpcUrl);
  const variables = variablesAmongFaults(world, proxy.url);
  const daemons = [await Service.start("facilitator", variables), await Service.start("facilitator", variables)];
  const db = connect(world.databaseUrl, { poolMax: 2, applicationName: "soak" });
  const urls = daemons.map(({ url }) => url);
  const customers = new Customers(world, urls);
  const visitors = new Visitors(customers.asked, urls);
  const witness = new LedgerWitness(world, db);
  const chainFaults = new ChainFaults(world, proxy, witness);
  const killer = new Killer(daemons);
  process.stdout.write(`\nFacilitator, ${minutes} minutes of two daemons among faults and kill -9\n`);
  try {
    customers.start(customersOnEachNetwork);
    visitors.start(visitorsInAll);
    chainFaults.start();
    killer.start();
    await reportFor(minutes * 60_000, customers, killer, db);
    await killer.stop();
    await chainFaults.stop();
    await customers.stop();
    await visitors.stop();
    report("peace", customers, killer);
    await allEnded(db);
    await allExpired(db);
    await askAgain(customers);

    const rows = await readPayments(db);
    const truth = await readTruth(world, witness);
    const problems = [
      ...disagreements(customers.asked, rows, truth),
      ...untruePages(visitors.pages, truth),
      ...(await wrongEnds(visitors, rows)),
    ];
    const settled = rows.filter(({ state }) => state === "settled");
    process.stdout.write(
      `faults: ${[...chainFaults.done].map(([kind, times]) => `${kind} ${times}`).join(", ")}\n` +
        `payments asked for ${customers.asked.length}, claimed ${rows.length}, settled ${settled.length} ` +
        `(${settled.filter(({ network }) => network.startsWith("eip155")).length} EVM), ` +
        `failed ${rows.length - settled.length}; told of success ${successesOf(customers.asked)}; kills ${killer.kills}\n` +
        `pages looked at while payments were under way ${visitors.pages.length}, and each payment's at the end\n` +
        `answers, pages, records and chains disagree about ${problems.length}\n${problems.slice(0, 20).join("\n")}\n`,
    );
  } finally {
    await killer.stop();
    await chainFaults.stop().catch(() => {});
    await Promise.all([customers.stop(), visitors.stop()]);
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await db.end();
    await proxy.stop();
    await world.stop();
  }
}

/** Kills a service every few seconds, now and then several, and starts it again. */
export class Killer {
  kills = 0;
  readonly #daemons: readonly Service[];
  readonly #stopping = new AbortController();
  #working: Promise<unknown> = Promise.resolve();

  constructor(daemons: readonly Service[]) {
    this.#daemons = daemons;
  }

  start(): void {
    this.#working = Promise.all(this.#daemons.map((daemon) => this.#torment(daemon)));
  }

  /** All daemons are up then. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
  }

  async #torment(daemon: Service): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(between(6_000, 30_000), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await daemon.kill();
      this.kills += 1;
      await sleep(between(0, 4_000));
      // A network that is away keeps a daemon from starting; its supervisor would start it again.
      while (
        !(await daemon.start().then(
          () => true,
          () => false,
        ))
      )
        await sleep(500);
    }
  }
}

async function reportFor(ms: number, customers: Customers, killer: Killer, db: Database): Promise<void> {
  const startedAt = performance.now();
  for (let left = ms; left > 0; left = ms - (performance.now() - startedAt)) {
    await sleep(Math.min(left, reportEveryMs));
    const { rows } = await db.query("select state, count(*) from payments group by state order by state");
    const states = rows.map(({ state, count }) => `${state} ${count}`).join(", ");
    report(`${Math.round((performance.now() - startedAt) / 1_000)} s: ${states}`, customers, killer);
  }
}

function report(moment: string, { asked }: Customers, { kills }: Killer): void {
  process.stdout.write(`${moment}; asked for ${asked.length}, told of success ${successesOf(asked)}, kills ${kills}\n`);
}

const successesOf = (asked: readonly Asked[]) =>
  asked.filter(({ answers }) => answers.some(({ success }) => success)).length;

export async function allEnded(db: Database): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const { rows } = await db.query("select count(*) from payments where state not in ('settled', 'failed')");
    if (rows[0].count === 0n) break;
    if (performance.now() - startedAt > endMaxMs) throw new Error(`${rows[0].count} payments have not ended`);
    await sleep(500);
  }
  process.stdout.write(`the last one ended ${((performance.now() - startedAt) / 1_000).toFixed(0)} s later\n`);
}

/** From then on nothing that was called failed can land any more. */
export async function allExpired(db: Database): Promise<void> {
  const { rows } = await db.query("select max(expires_at) as last from payments");
  await sleep(Math.max(0, rows[0].last.getTime() + 5_000 - Date.now()));
}

/** A customer who was told of a success must not be told twice. */
async function askAgain(customers: Customers): Promise<void> {
  const told = customers.asked.filter(({ answers }) => answers.some(({ success }) => success));
  for (const payment of told.slice(0, 1_000)) await customers.ask(payment);
}
