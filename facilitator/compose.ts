import { randomUUID } from "node:crypto";
import { DurabilityWatch } from "../shared/durability.ts";
import { JobRecord } from "../shared/job-record.ts";
import { createLog, type Log } from "../shared/log.ts";
import { openStores } from "../shared/open-stores.ts";
import { createOutbound } from "../shared/outbound.ts";
import { Disposer } from "../shared/process.ts";
import { type Bucket, openBucket } from "../shared/s3.ts";
import type { ArchiverNeeds } from "./archive/archive-records.ts";
import { RecordArchive } from "./archive/record-archive.ts";
import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import { Catalog } from "./discovery/catalog.ts";
import { createUnpaidFetch } from "./discovery/unpaid-fetch.ts";
import { createEvents } from "./events.ts";
import { Heartbeats } from "./heartbeats.ts";
import { HoldStore } from "./holds/store.ts";
import { CallCounts } from "./limits/call-counts.ts";
import { PayerCooldowns } from "./limits/payer-cooldowns.ts";
import { PaymentLimits } from "./limits/payment-limits.ts";
import { Metrics } from "./metrics.ts";
import { migrations } from "./migrations/all.ts";
import { createExactEvm } from "./schemes/exact-evm/scheme.ts";
import { createExactHedera } from "./schemes/exact-hedera/scheme.ts";
import { SchemeRegistry } from "./schemes/registry.ts";
import { LostSettlements } from "./settlements/lost-settlements.ts";
import { RefusalRecorder } from "./settlements/refusals.ts";
import { Retractions } from "./settlements/retractions.ts";
import { SettlementStore } from "./settlements/store.ts";
import { Kms } from "./signing/kms.ts";

/**
 * Migrates the database where it is told to, and builds the parts; no network is asked yet (`schemes.start`), and what runs
 * in the background is started by jobs.ts. Throws if anything is amiss. Tests replace a part through `overrides`, and nowhere else.
 */
export async function createContext(config: Config, overrides: { log?: Log } = {}): Promise<Context> {
  const disposer = new Disposer();
  try {
    const log = overrides.log ?? createLog("facilitator", config.logLevel);
    const stores = await openStores("facilitator", config, { url: config.databaseUrl, migrations, log }, disposer);
    const { db } = stores;
    const store = new SettlementStore(db);
    const copy = randomUUID();
    const bucket = config.archive && openBucket(config.archive.bucket);
    const needs = { store, db, log, copy, kms: config.kms && new Kms(config.kms) };
    const schemes = new SchemeRegistry([
      ...config.evm.map((network) => createExactEvm(network, needs)),
      ...config.hedera.map((network) => createExactHedera(network, needs)),
    ]);
    disposer.add(() => schemes.stop());
    const served = schemes.all.map(({ network }) => network);
    const refusals = new RefusalRecorder(db, log, served);
    disposer.add(() => refusals.stop());
    const outbound = createOutbound({});
    disposer.add(() => outbound.stop());
    const fetchUnpaid = createUnpaidFetch(outbound, config.discovery);
    const heartbeats = new Heartbeats(db, schemes, log, copy);
    const metrics = new Metrics();
    const callCounts = new CallCounts(db);
    const events = createEvents(log, metrics, {
      recordRefusal: (refusal) => refusals.record(refusal),
      recordReconciled: (network, outcome) => heartbeats.countReconciled(network, outcome),
    });
    return {
      config,
      log,
      ...stores,
      archive: new RecordArchive(bucket, log),
      archiver: composeArchiver(config, { db, bucket, log, holder: copy }),
      store,
      retractions: composeRetractions({ store, log }, disposer),
      schemes,
      newPayments: new Map(),
      holds: new HoldStore(db),
      callCounts,
      paymentLimits: new PaymentLimits(callCounts, config.limits),
      cooldowns: new PayerCooldowns(db, config.limits),
      refusals,
      events,
      lostSettlements: new LostSettlements({ db, schemes, events, log }),
      heartbeats,
      durability: new DurabilityWatch(config.durability, { db, log }),
      metrics,
      jobRecord: new JobRecord(),
      catalog: composeCatalog(config, { db, log, metrics, fetchUnpaid }, disposer),
      fetchUnpaid,
      stop: () => disposer.stop(),
    };
  } catch (error) {
    await disposer.stop();
    throw error;
  }
}

/** Nothing where no record leaves the database. */
function composeArchiver(
  { archive, environmentOf }: Config,
  { bucket, ...parts }: Pick<ArchiverNeeds, "db" | "log" | "holder"> & { readonly bucket: Bucket | undefined },
): ArchiverNeeds | undefined {
  if (!bucket || archive?.afterDays === undefined) return undefined;
  return { ...parts, bucket, afterDays: archive.afterDays, recordsMax, environmentOf };
}

function composeRetractions(needs: Pick<Context, "store" | "log">, disposer: Disposer): Retractions {
  const retractions = new Retractions(needs);
  disposer.add(() => retractions.stop());
  return retractions;
}

/** In an object of the archive: some hundred kilobytes, unpacked in a moment. */
const recordsMax = 5_000;

function composeCatalog(
  { discovery: { probe, allowLocalhost } }: Config,
  { db, log, metrics, fetchUnpaid }: Pick<Context, "db" | "log" | "metrics" | "fetchUnpaid">,
  disposer: Disposer,
): Catalog {
  const catalog = new Catalog({
    db,
    log,
    countListing: (outcome) => metrics.listings.add({ outcome }),
    fetchUnpaid: probe ? fetchUnpaid : undefined,
    allowLocalhost,
  });
  disposer.add(() => catalog.stop());
  return catalog;
}
