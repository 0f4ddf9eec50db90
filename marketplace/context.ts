import { batched } from "../shared/batch.ts";
import { createLog, type Log } from "../shared/log.ts";
import { createOutbound, type Resolve } from "../shared/outbound.ts";
import { startCountingGrown } from "../shared/planning.ts";
import { connect, type Database, migrate } from "../shared/postgres.ts";
import { Disposer } from "../shared/process.ts";
import { startRounds } from "../shared/rounds.ts";
import { recheckEveryMs, recheckWallets } from "./accounts/recheck-wallets.ts";
import { type AgentRow, findAgents } from "./agents/find.ts";
import { Versions } from "./agents/version.ts";
import { AnonymousLimits } from "./anonymous-limits.ts";
import { type Admission, admitCalls } from "./api-keys/authenticate.ts";
import type { Config } from "./config.ts";
import type { Tools } from "./connectors/connector.ts";
import { Reservations } from "./connectors/reservations.ts";
import { createTools } from "./connectors/tools.ts";
import { type Balance, readBalances } from "./credits/balance.ts";
import { createEvents, type Events } from "./events.ts";
import { forgetEveryMs, forgetTheEnded } from "./forget.ts";
import type { AccountId } from "./ids.ts";
import { InFlight } from "./in-flight.ts";
import { type OwnTool, ownTools } from "./mcp/own-tools.ts";
import { migrations } from "./migrations/all.ts";
import { CreatorLetters } from "./models/creator-letters.ts";
import { settleModelDays, settleModelDaysEveryMs } from "./models/model-claims.ts";
import { ModelFunds } from "./models/model-funds.ts";
import { FacilitatorClient } from "./payments/facilitator-client.ts";
import { FailedProofs } from "./payments/failed-proofs.ts";
import { HeadStart } from "./payments/head-start.ts";
import { PaidCalls } from "./payments/paid-calls.ts";
import { startCrediting } from "./payments/purchase.ts";
import { QuoteIds, quoteSecrets } from "./payments/quote-id.ts";
import { Leases } from "./runs/leases.ts";
import { startRecovery } from "./runs/recover.ts";
import { createSealer, type Sealer } from "./sealing.ts";
import { createSignIn, type SignIn } from "./sign-in/sign-in.ts";
import { TracePool } from "./svg/trace-pool.ts";

/** What the verbs need, built once. Tests replace parts through `overrides`, and nowhere else. */
export async function createContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  const log = overrides.log ?? createLog("marketplace", config.logLevel);
  const events = createEvents(log);
  const disposer = new Disposer();
  await migrate(config.databaseUrl.reveal(), migrations);
  const db = connect(config.databaseUrl.reveal(), { poolMax: config.databasePoolMax, applicationName: "marketplace" });
  disposer.add(() => db.end());

  const outbound = createOutbound({
    allowHosts: config.outboundAllowHosts,
    denyHosts: hostsOf(config.publicUrl, config.facilitatorUrl, config.databaseUrl.reveal()),
    ...(overrides.resolve ? { resolve: overrides.resolve } : {}),
  });
  disposer.add(() => outbound.stop());
  const tools = createTools(config, db, outbound, disposer, () => facilitator.supported());

  const facilitator = new FacilitatorClient(config.facilitatorUrl, config.facilitatorToken);
  disposer.add(() => facilitator.stop());
  const paidCalls = new PaidCalls(db, config.runLeaseMs);
  const quoteKeys = config.quoteKeys.map((key) => Buffer.from(key.reveal(), "base64"));
  const quoteIds = new QuoteIds(await quoteSecrets(db, quoteKeys));
  const failedProofs = new FailedProofs(config.failedProofs);
  const headStart = new HeadStart({ facilitator, paidCalls, failedProofs });
  const tracers = new TracePool();
  disposer.add(() => tracers.close());

  const leases = new Leases({ db, leaseMs: config.runLeaseMs, events });
  disposer.add(() => leases.stop());
  const reservations = new Reservations({ db, leaseMs: config.runLeaseMs, events });
  disposer.add(() => reservations.stop());
  const recovery = startRecovery({ db, events, tools, config }, config.runLeaseMs / 4);
  disposer.add(() => recovery.stop());
  const inFlight = new InFlight(log);
  disposer.add(() => inFlight.idle());

  const signIn = createSignIn({ config: config.signIn, db, log, publicUrl: config.publicUrl });
  disposer.add(() => signIn.stop());
  const sealer = createSealer(config.sealingKeys);
  const versions = new Versions(db, sealer, config.modelList);
  const batches = { sizeMax: 200, windowMs: 0 };
  const lookups: Lookups = {
    key: batched((digests) => admitCalls(db, digests), batches),
    agent: batched((addresses) => findAgents(db, addresses), batches),
    balance: batched((accountIds) => readBalances(db, accountIds), batches),
  };
  const letters = new CreatorLetters({ db, mailer: signIn.mailer, events });
  const modelFunds = new ModelFunds({
    db,
    config: config.modelFunds,
    events,
    tellCreator: (agent, reason) => inFlight.background(letters.tell(agent, reason)),
  });
  const needs = {
    modelFunds,
    anonymousLimits: new AnonymousLimits(db, config.anonymousLimits),
    config,
    log,
    events,
    db,
    tools,
    facilitator,
    paidCalls,
    quoteIds,
    failedProofs,
    headStart,
    tracers,
    leases,
    reservations,
    inFlight,
    sealer,
    versions,
    signIn,
    lookups,
    ownTools: overrides.ownTools ?? ownTools,
  };
  const context: Context = { ...needs, stop: () => disposer.stop() };
  const crediting = startCrediting(context);
  disposer.add(() => crediting.stop());
  const failed = (error: unknown) => events.roundFailed({ error });
  for (const rounds of [
    startCountingGrown(db, failed),
    startRounds(() => settleModelDays(db), settleModelDaysEveryMs, failed),
    startRounds(() => recheckWallets(context), recheckEveryMs, failed),
    startRounds(() => forgetTheEnded(db), forgetEveryMs, failed),
  ]) {
    disposer.add(() => rounds.stop());
  }
  return context;
}

export interface Context {
  readonly anonymousLimits: AnonymousLimits;
  readonly modelFunds: ModelFunds;
  readonly config: Config;
  readonly log: Log;
  readonly events: Events;
  readonly db: Database;
  readonly tools: Tools;
  readonly facilitator: FacilitatorClient;
  readonly paidCalls: PaidCalls;
  readonly quoteIds: QuoteIds;
  readonly failedProofs: FailedProofs;
  readonly headStart: HeadStart;
  readonly tracers: TracePool;
  readonly leases: Leases;
  /** What irreversible runs will use up, before they are paid for. */
  readonly reservations: Reservations;
  /** Work that outlives its request. */
  readonly inFlight: InFlight;
  readonly sealer: Sealer;
  readonly versions: Versions;
  /** Who is signed in, for the account's settings. */
  readonly signIn: SignIn;
  readonly lookups: Lookups;
  /** The tool server's tools that are no agents. */
  readonly ownTools: readonly OwnTool[];
  stop(): Promise<void>;
}

export interface Overrides {
  readonly log?: Log;
  /** How the outbound guard finds the addresses of a name. */
  readonly resolve?: Resolve;
  readonly ownTools?: readonly OwnTool[];
}

/** Questions that requests arriving together ask in one query. */
interface Lookups {
  /** By SHA-256 digest in hex; counts the call. */
  readonly key: (digest: string) => Promise<Admission | undefined>;
  /** By lower-case `handle/slug`. */
  readonly agent: (address: string) => Promise<AgentRow | undefined>;
  readonly balance: (accountId: AccountId) => Promise<Balance>;
}

function hostsOf(...urls: string[]): string[] {
  return urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname);
}
