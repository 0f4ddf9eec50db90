import type { DurabilityWatch } from "../shared/durability.ts";
import type { JobRecord } from "../shared/job-record.ts";
import type { Log } from "../shared/log.ts";
import type { Database } from "../shared/postgres.ts";
import type { Reads } from "../shared/reads.ts";
import type { Tracing } from "../shared/tracing.ts";
import type { ValkeyCounts } from "../shared/valkey-counts.ts";
import type { AgentLookup } from "./agents/find.ts";
import type { Versions } from "./agents/version.ts";
import type { AnonymousLimits } from "./anonymous-limits.ts";
import type { KeyLookup } from "./api-keys/authenticate.ts";
import type { RefusedCalls } from "./api-keys/refused-calls.ts";
import type { BackgroundWork } from "./background-work.ts";
import type { Config } from "./config.ts";
import type { Tools } from "./connectors/connector.ts";
import type { Reservations } from "./connectors/reservations.ts";
import type { BalanceLookup } from "./credits/balance.ts";
import type { Events } from "./events.ts";
import type { BuiltInTool } from "./mcp/built-in-tool.ts";
import type { Metrics } from "./metrics.ts";
import type { ModelFunds } from "./models/model-funds.ts";
import type { FacilitatorClient } from "./payments/facilitator/client.ts";
import type { FailedPayments } from "./payments/facilitator/failed-payments.ts";
import type { PaymentRecordCache } from "./payments/facilitator/payment-record-cache.ts";
import type { SpeculativeVerification } from "./payments/facilitator/speculative-verification.ts";
import type { PaidCalls } from "./payments/paid-calls/store.ts";
import type { QuoteIds } from "./payments/quotes/quote-id.ts";
import type { Leases } from "./runs/leases.ts";
import type { Sealer } from "./sealing.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import type { ServiceStatus } from "./status/service-status.ts";
import type { TracePool } from "./svg/trace-pool.ts";

/** What the verbs need: compose.ts builds it once, and each verb names the few parts that it takes. */
export interface Context {
  /** All that the environment says. */
  readonly config: Config;
  /** Free text, for failures; what happens in the business goes to `events`. */
  readonly log: Log;
  /** One function per business event. */
  readonly events: Events;
  /** The pool of Postgres connections. */
  readonly db: Database;
  /** Reads what may be a moment old. */
  readonly reads: Reads;
  /** Counts calls for limits, where it is configured. */
  readonly valkey: ValkeyCounts | undefined;
  /** Where spans are sent somewhere. */
  readonly tracing: Tracing | undefined;
  /** What connectors reach the outside through. */
  readonly tools: Tools;
  /** The HTTP client of the x402 facilitator. */
  readonly facilitator: FacilitatorClient;
  /** The record of calls that are paid for one by one. */
  readonly paidCalls: PaidCalls;
  /** Makes and recognises the ids of quotes. */
  readonly quoteIds: QuoteIds;
  /** Counts payments that did not hold, by address and payer. */
  readonly failedPayments: FailedPayments;
  readonly paymentRecords: PaymentRecordCache;
  /** Has a payment verified while the agent that it pays for is still being looked up. */
  readonly speculativeVerification: SpeculativeVerification;
  /** The processes that trace images, and the queue in front of them. */
  readonly tracers: TracePool;
  /** The runs that this copy of the service has under way. */
  readonly leases: Leases;
  /** What irreversible runs will use up, before they are paid for. */
  readonly reservations: Reservations;
  /** Work that outlives its request. */
  readonly backgroundWork: BackgroundWork;
  /** Seals and opens creators' secrets. */
  readonly sealer: Sealer;
  /** Agents' versions, ready to run. */
  readonly versions: Versions;
  /** Sessions and ways to sign in, for the account's settings. */
  readonly signIn: SignIn;
  /** What creators pay for the models that their agents call. */
  readonly modelFunds: ModelFunds;
  /** Counts the calls of callers without a key. */
  readonly anonymousLimits: AnonymousLimits;
  /** What callers were refused by their keys, until it is written down. */
  readonly refusedCalls: RefusedCalls;
  /** How the background jobs of this copy go. */
  readonly jobRecord: JobRecord;
  /** What this copy counts. */
  readonly metrics: Metrics;
  /** What a failover of the database can lose. */
  readonly durability: DurabilityWatch;
  /** How both services are, for people and programs that ask. */
  readonly status: ServiceStatus;
  /** Questions that requests arriving together ask in one query. */
  readonly lookups: KeyLookup & AgentLookup & BalanceLookup;
  /** The tool server's tools that are not agents. */
  readonly builtInTools: readonly BuiltInTool[];
  /** Waits for the work under way, then closes what was opened. */
  stop(): Promise<void>;
}
