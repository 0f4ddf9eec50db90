import { createLog, type Log } from "../shared/log.ts";
import { createOutbound } from "../shared/outbound.ts";
import { startCountingGrown } from "../shared/planning.ts";
import { connect, type Database, migrate } from "../shared/postgres.ts";
import { Disposer, type Running } from "../shared/process.ts";
import type { Config } from "./config.ts";
import { Catalog } from "./discovery/catalog.ts";
import { createUnpaidFetch } from "./discovery/unpaid-fetch.ts";
import { createEvents, type Events } from "./events.ts";
import { HoldStore } from "./holds/store.ts";
import { CallLimits } from "./limits/call-limits.ts";
import { PayerRecord } from "./limits/payer-record.ts";
import { Metrics } from "./metrics.ts";
import { migrations } from "./migrations/all.ts";
import { createExactEvm } from "./schemes/exact-evm/scheme.ts";
import { createExactHedera } from "./schemes/exact-hedera/scheme.ts";
import { SchemeRegistry } from "./schemes/registry.ts";
import { startReconciling } from "./settlements/reconcile.ts";
import { RefusalRecorder } from "./settlements/refusals.ts";
import { SettlementStore } from "./settlements/store.ts";
import { startTallying } from "./settlements/tally.ts";

/** What the verbs need. Built once; tests replace a part through `overrides`, and nowhere else. */
export interface Context extends Running {
  readonly config: Config;
  readonly log: Log;
  readonly db: Database;
  readonly store: SettlementStore;
  readonly schemes: SchemeRegistry;
  readonly holds: HoldStore;
  readonly limits: CallLimits;
  readonly payers: PayerRecord;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly catalog: Catalog;
}

/** Migrates the database, checks every network that is there against its chain, finishes what the last run left. Throws if anything is amiss. */
export async function createContext(config: Config, overrides: { log?: Log } = {}): Promise<Context> {
  const disposer = new Disposer();
  try {
    const log = overrides.log ?? createLog("facilitator", config.logLevel);
    await migrate(config.databaseUrl, migrations);
    const db = connect(config.databaseUrl, { poolMax: config.databasePoolMax, applicationName: "facilitator" });
    disposer.add(() => db.end());
    const counting = startCountingGrown(db, (err) => log.warn({ err }, "tables could not be counted for planning"));
    disposer.add(() => counting.stop());
    const store = new SettlementStore(db);
    const schemes = new SchemeRegistry([
      ...config.evm.map((network) => createExactEvm(network, { store, db, log })),
      ...config.hedera.map((network) => createExactHedera(network, { store, db, log })),
    ]);
    disposer.add(() => schemes.stop());
    await schemes.start(log);

    const holds = new HoldStore(db);
    const sweeping = holds.startSweeping(log);
    disposer.add(() => sweeping.stop());
    const limits = new CallLimits(db, config.limits);
    disposer.add(() => limits.stop());
    const payers = new PayerRecord(db, log, config.limits);
    disposer.add(() => payers.stop());
    const metrics = new Metrics();
    const refusals = new RefusalRecorder(
      db,
      log,
      schemes.all.map(({ network }) => network),
    );
    disposer.add(() => refusals.stop());
    const events = createEvents(log, metrics, (refusal) => refusals.record(refusal));
    const reconciling = startReconciling({ store, schemes, events, log });
    disposer.add(() => reconciling.stop());
    const tallying = startTallying(db, log, config.environmentOf);
    disposer.add(() => tallying.stop());
    const { probe, allowLocalhost } = config.discovery;
    const outbound = createOutbound({});
    disposer.add(() => outbound.stop());
    const fetchUnpaid = probe ? createUnpaidFetch(outbound, { allowLocalhost }) : undefined;
    const catalog = new Catalog({ db, log, metrics, fetchUnpaid, allowLocalhost });
    disposer.add(() => catalog.stop());
    catalog.start();
    return {
      config,
      log,
      db,
      store,
      schemes,
      holds,
      limits,
      payers,
      events,
      metrics,
      catalog,
      stop: () => disposer.stop(),
    };
  } catch (error) {
    await disposer.stop();
    throw error;
  }
}
