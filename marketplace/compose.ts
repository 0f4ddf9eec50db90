import { batched } from "../shared/batch.ts";
import { DurabilityWatch } from "../shared/durability.ts";
import { JobRecord } from "../shared/job-record.ts";
import { createLog, type Log } from "../shared/log.ts";
import { openStores } from "../shared/open-stores.ts";
import { createOutbound, type Outbound, type Resolve } from "../shared/outbound.ts";
import type { Database } from "../shared/postgres.ts";
import { Disposer } from "../shared/process.ts";
import type { ValkeyCounts } from "../shared/valkey-counts.ts";
import { accountDirectory } from "./accounts/account-directory.ts";
import { CreatorEmails } from "./agents/creator-emails.ts";
import { findAgents } from "./agents/find.ts";
import { Versions } from "./agents/version.ts";
import { AnonymousLimits } from "./anonymous-limits.ts";
import { admitCalls } from "./api-keys/authenticate.ts";
import { countedIn, findKeys } from "./api-keys/count-elsewhere.ts";
import { RefusedCalls } from "./api-keys/refused-calls.ts";
import { BackgroundWork } from "./background-work.ts";
import type { Config } from "./config.ts";
import { Reservations } from "./connectors/reservations.ts";
import { createTools } from "./connectors/tools.ts";
import type { Context } from "./context.ts";
import { readAndFold } from "./credits/balance.ts";
import { createEvents, type Events } from "./events.ts";
import type { BuiltInTool } from "./mcp/built-in-tool.ts";
import { builtInTools } from "./mcp/built-in-tools.ts";
import { Metrics } from "./metrics.ts";
import { migrations } from "./migrations/all.ts";
import { ModelFunds } from "./models/model-funds.ts";
import { FacilitatorClient } from "./payments/facilitator/client.ts";
import { FailedPayments } from "./payments/facilitator/failed-payments.ts";
import { PaymentRecordCache } from "./payments/facilitator/payment-record-cache.ts";
import { SpeculativeVerification } from "./payments/facilitator/speculative-verification.ts";
import { PaidCalls } from "./payments/paid-calls/store.ts";
import { QuoteIds, quoteSecrets } from "./payments/quotes/quote-id.ts";
import { Leases } from "./runs/leases.ts";
import { createSealer } from "./sealing.ts";
import { createSignIn } from "./sign-in/sign-in.ts";
import { ServiceStatus } from "./status/service-status.ts";
import { TracePool } from "./svg/trace-pool.ts";

/** Migrates the database where it is told to, and builds the parts; what runs in the background is started by jobs.ts. */
export async function createContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  const log = overrides.log ?? createLog("marketplace", config.logLevel);
  const metrics = new Metrics();
  const events = createEvents(log, metrics);
  const disposer = new Disposer();
  const database = { url: config.databaseUrl.reveal(), migrations, log };
  const stores = await openStores("marketplace", config, database, disposer);
  const { db, valkey } = stores;
  const outbound = composeOutbound(config, overrides, disposer);
  const facilitator = new FacilitatorClient(config.facilitatorUrl, config.facilitatorToken);
  const supported = () => facilitator.supported();
  const tools = createTools({ config, db, outbound, accounts: accountDirectory(db), supported }, disposer);
  disposer.add(() => facilitator.stop());
  const payments = await composePayments(config, db, facilitator);
  const tracers = new TracePool();
  disposer.add(() => tracers.close());
  const backgroundWork = new BackgroundWork(log);
  disposer.add(() => backgroundWork.idle());
  const refusedCalls = new RefusedCalls();
  disposer.add(() => refusedCalls.write(db));
  const signIn = createSignIn({ config: config.signIn, db, log, publicUrl: config.publicUrl });
  disposer.add(() => signIn.stop());
  const sealer = createSealer(config.sealingKeys);
  const jobRecord = new JobRecord();
  const parts = {
    config,
    log,
    events,
    ...stores,
    tools,
    ...payments,
    tracers,
    ...composeLeases(config, db, events),
    backgroundWork,
    sealer,
    versions: new Versions(db, sealer, config.modelList),
    signIn,
    modelFunds: composeModelFunds(config, { db, events, backgroundWork, signIn }),
    anonymousLimits: new AnonymousLimits({ db, valkey }, config.anonymousLimits),
    refusedCalls,
    jobRecord,
    metrics,
    durability: new DurabilityWatch(config.durability, { db, log }),
    status: new ServiceStatus({ db, facilitator, jobRecord }),
    lookups: composeLookups(db, valkey, backgroundWork),
  };
  const ownTools = builtInTools(parts);
  return {
    ...parts,
    builtInTools: overrides.builtInTools ? overrides.builtInTools(ownTools) : ownTools,
    stop: () => disposer.stop(),
  };
}

/** The parts that tests replace, here and nowhere else. */
export interface Overrides {
  readonly log?: Log;
  /** How the outbound guard finds the addresses of a name. */
  readonly resolve?: Resolve;
  /** The tool server's tools that are not agents, made out of the service's own. */
  readonly builtInTools?: (own: readonly BuiltInTool[]) => readonly BuiltInTool[];
}

/** Agents may not call the service's own parts, wherever those run. */
function composeOutbound(config: Config, { resolve }: Overrides, disposer: Disposer): Outbound {
  const secrets = [config.databaseUrl, config.databaseReadUrl, config.valkey?.url];
  const outbound = createOutbound({
    allowHosts: config.outboundAllowHosts,
    denyHosts: hostsOf(config.publicUrl, config.facilitatorUrl, ...secrets.flatMap((url) => url?.reveal() ?? [])),
    ...(resolve ? { resolve } : {}),
  });
  disposer.add(() => outbound.stop());
  return outbound;
}

function hostsOf(...urls: string[]): string[] {
  return urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname);
}

async function composePayments(config: Config, db: Database, facilitator: FacilitatorClient): Promise<PaymentParts> {
  const paidCalls = new PaidCalls(db, config.runLeaseMs);
  const quoteKeys = config.quoteKeys.map((key) => Buffer.from(key.reveal(), "base64"));
  const quoteIds = new QuoteIds(await quoteSecrets(db, quoteKeys));
  const failedPayments = new FailedPayments(config.failedPayments);
  const speculativeVerification = new SpeculativeVerification({ facilitator, paidCalls, failedPayments });
  const paymentRecords = new PaymentRecordCache(facilitator);
  return { facilitator, paidCalls, quoteIds, failedPayments, paymentRecords, speculativeVerification };
}

type PaymentParts = Pick<
  Context,
  "facilitator" | "paidCalls" | "quoteIds" | "failedPayments" | "paymentRecords" | "speculativeVerification"
>;

function composeModelFunds(
  config: Config,
  {
    db,
    events,
    backgroundWork,
    signIn,
  }: Pick<Context, "db" | "backgroundWork" | "signIn"> & { readonly events: Events },
): ModelFunds {
  const creatorEmails = new CreatorEmails({ db, mailer: signIn.mailer, events });
  return new ModelFunds({
    db,
    config: config.modelFunds,
    events,
    tellCreator: (agent, reason) => backgroundWork.detach(creatorEmails.send(agent, reason)),
  });
}

function composeLeases(
  { runLeaseMs: leaseMs }: Config,
  db: Database,
  events: Events,
): Pick<Context, "leases" | "reservations"> {
  return { leases: new Leases({ db, leaseMs, events }), reservations: new Reservations({ db, leaseMs, events }) };
}

function composeLookups(
  db: Database,
  valkey: ValkeyCounts | undefined,
  backgroundWork: BackgroundWork,
): Context["lookups"] {
  const batches = { sizeMax: 200, windowMs: 0 };
  const admitted = batched((digests: readonly string[]) => admitCalls(db, digests), batches);
  return {
    key: valkey
      ? countedIn(
          valkey,
          batched((digests) => findKeys(db, digests), batches),
        )
      : admitted,
    // While many paid calls are under way, several share a statement; their payments are verified meanwhile.
    agent: batched((addresses) => findAgents(db, addresses), { ...batches, spacingMs: 10 }),
    balance: batched(readAndFold(db, backgroundWork), batches),
  };
}
