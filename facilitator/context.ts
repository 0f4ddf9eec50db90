import type { DurabilityWatch } from "../shared/durability.ts";
import type { JobRecord } from "../shared/job-record.ts";
import type { Log } from "../shared/log.ts";
import type { Database } from "../shared/postgres.ts";
import type { Running } from "../shared/process.ts";
import type { Reads } from "../shared/reads.ts";
import type { Tracing } from "../shared/tracing.ts";
import type { ValkeyCounts } from "../shared/valkey-counts.ts";
import type { ArchiverNeeds } from "./archive/archive-records.ts";
import type { RecordArchive } from "./archive/record-archive.ts";
import type { Config } from "./config.ts";
import type { Catalog } from "./discovery/catalog.ts";
import type { UnpaidFetch } from "./discovery/unpaid-fetch.ts";
import type { Events } from "./events.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { HoldStore } from "./holds/store.ts";
import type { CallCounts } from "./limits/call-counts.ts";
import type { PayerCooldowns } from "./limits/payer-cooldowns.ts";
import type { PaymentLimits } from "./limits/payment-limits.ts";
import type { Metrics } from "./metrics.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import type { LostSettlements } from "./settlements/lost-settlements.ts";
import type { RefusalRecorder } from "./settlements/refusals.ts";
import type { Retractions } from "./settlements/retractions.ts";
import type { SettlementStore } from "./settlements/store.ts";

/** What the verbs need (built by compose.ts). Each verb takes the few parts it uses. */
export interface Context extends Running {
  readonly config: Config;
  readonly log: Log;
  /** Where spans are sent somewhere. */
  readonly tracing: Tracing | undefined;
  readonly db: Database;
  /** Reads what may be a moment old. */
  readonly reads: Reads;
  /** Records that left the database. */
  readonly archive: RecordArchive;
  /** Where records leave it. */
  readonly archiver: ArchiverNeeds | undefined;
  readonly store: SettlementStore;
  /** Successes that nobody was told of, while they are taken back. */
  readonly retractions: Retractions;
  readonly lostSettlements: LostSettlements;
  readonly schemes: SchemeRegistry;
  /** Payments that this copy is settling without a claim that was made before, by network and key. */
  readonly newPayments: Map<string, Promise<unknown>>;
  readonly holds: HoldStore;
  readonly callCounts: CallCounts;
  /** Counts calls for all limits that guard no money, where it is configured. */
  readonly valkey: ValkeyCounts | undefined;
  readonly paymentLimits: PaymentLimits;
  readonly cooldowns: PayerCooldowns;
  readonly refusals: RefusalRecorder;
  readonly events: Events;
  readonly heartbeats: Heartbeats;
  readonly durability: DurabilityWatch;
  readonly metrics: Metrics;
  readonly jobRecord: JobRecord;
  readonly catalog: Catalog;
  /** The way out to URLs that callers name. */
  readonly fetchUnpaid: UnpaidFetch;
}
