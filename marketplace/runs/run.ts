import { setTimeout as sleep } from "node:timers/promises";
import { toSafeNumber } from "../../shared/amounts.ts";
import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { type AgentLookup, type FindNeeds, noSuchAgent } from "../agents/find.ts";
import type { RefusedCalls } from "../api-keys/refused-calls.ts";
import type { BackgroundWork } from "../background-work.ts";
import type { Config } from "../config.ts";
import { outputJson } from "../connectors/output-json.ts";
import { RefusalError } from "../connectors/refusal.ts";
import { type Credits, creditsText, platformFee } from "../credits/amount.ts";
import type { BalanceLookup } from "../credits/balance.ts";
import { capture, type Hold, hold, type Resolved, release } from "../credits/holds.ts";
import type { Events } from "../events.ts";
import { newId, platformAccount, type RunId } from "../ids.ts";
import type { ModelCharge } from "../models/model-charge.ts";
import type { ModelBuyer } from "../models/model-claims.ts";
import type { ModelFunds } from "../models/model-funds.ts";
import type { AskedRun, Buyer, RunAnswer, RunResult } from "./asked-run.ts";
import { type ExecuteNeeds, executeRun, type Outcome, unknownText } from "./execute.ts";
import {
  findReplay,
  findReplayOfStarting,
  type IdempotentRequest,
  idempotentRequest,
  nameOf,
} from "./idempotent-request.ts";
import { keptInput } from "./kept-input.ts";
import { requireRoomForOutputs } from "./kept-outputs.ts";
import type { Leases } from "./leases.ts";
import { answerOf, type PrecheckNeeds, precheck } from "./precheck.ts";
import { type PreparedRun, prepareRun } from "./prepare.ts";
import type { Runnable } from "./runnable.ts";

/**
 * Runs an agent for a buyer and charges credits: hold, connector, then capture or release. The buyer leaving does
 * not stop it. 404, 400, 422, 503 as `prepareRun` says, 402 when the price is above what the buyer allows or the
 * balance or the key's day are too small, 401 and 404 as `requireParties` says, 429 as `requireRoomForOutputs` says, 429 and 503 as `ModelFunds.charge` says, and 400, 409, 422, 503 as `precheck`
 * says; none of them costs anything. An agent that fails is an answer too:
 * `success: false`, nothing charged. A request with an idempotency key runs once, however often and wherever it is
 * repeated; 409 when the key was used for another request.
 */
export function runAgent(context: RunNeeds, buyer: Buyer, asked: AskedRun): Promise<RunAnswer> {
  return runOnce(context, buyer, asked, () => prepareRun(context, asked.agent, asked.input));
}

/** Like runAgent, for a run that `prepare` reads; a repetition does not call it. */
export async function runOnce(
  context: RunNeeds,
  buyer: Buyer,
  asked: AskedRun,
  prepare: () => Promise<PreparedRun>,
): Promise<RunAnswer> {
  const request = idempotentRequest(asked);
  const repeated = request && (await findReplay(context, buyer.accountId, request));
  if (repeated) return { result: repeated, replayed: true };
  const prepared = await prepare();
  const started = await startRun(context, buyer, prepared, asked.maxCredits, request);
  if ("success" in started) return { result: started, replayed: true };
  return { result: await context.backgroundWork.track(finishRun(context, buyer, started, prepared)), replayed: false };
}

/** What running an agent for credits takes. */
export interface RunNeeds extends FindNeeds, ExecuteNeeds, PrecheckNeeds {
  readonly config: Pick<Config, "platformFeeBasisPoints" | "runLeaseMs">;
  readonly db: Database;
  readonly events: Pick<Events, "connectorEnded" | "runEnded" | "runNotResolved">;
  readonly lookups: AgentLookup & BalanceLookup;
  readonly leases: Leases;
  readonly modelFunds: ModelFunds;
  readonly backgroundWork: BackgroundWork;
  readonly refusedCalls: RefusedCalls;
}

interface Started {
  readonly runId: RunId;
  readonly modelCharge: ModelCharge | undefined;
  /** The buyer's balance once the price was held. */
  readonly creditsRemaining: Credits;
}

type NotHeld = Exclude<Hold["outcome"], "held">;

/** The new run; the result of an earlier one when this request turns out to repeat it. */
async function startRun(
  context: RunNeeds,
  buyer: Buyer,
  prepared: PreparedRun,
  maxCredits: number | undefined,
  request: IdempotentRequest | undefined,
): Promise<Started | RunResult> {
  await refuseOver(context, buyer, prepared.runnable, maxCredits);
  const started = await claimOrReplay(context, buyer, prepared, request);
  if (started instanceof ApiError) throw started;
  if (typeof started === "object") return started;
  await requireRoomForOutputs(context.db, buyer.accountId);
  await requireParties(context.db, buyer, prepared.runnable);
  if (started === "over_cap") throw await unpayable(context, buyer, prepared.runnable, "key", capsOf(buyer));
  throw await unpayable(context, buyer, prepared.runnable, "balance", "Not enough credits.");
}

/** Throws ApiError 401 and 404 where the account was closed, or the agent taken off the market, since the request came. */
async function requireParties(db: Database, { accountId }: Buyer, { id }: Runnable): Promise<void> {
  const { rows } = await db.query<{ isOpen: boolean; isSold: boolean }>(
    `select o.state = 'open' as "isOpen", a.state = 'live' or a.account_id = $3 as "isSold"
     from accounts o, agents a where o.id = $1 and a.id = $2`,
    [accountId, id, platformAccount],
  );
  const { isOpen, isSold } = rows[0]!;
  if (!isOpen) throw new ApiError("unauthenticated", "The account is not open.");
  if (!isSold) throw noSuchAgent();
}

/** Where an equal request had this one's name, and freed it as it failed, it is this one's turn. */
async function claimOrReplay(
  context: RunNeeds,
  buyer: Buyer,
  prepared: PreparedRun,
  request: IdempotentRequest | undefined,
): Promise<Started | RunResult | Exclude<NotHeld, "repeated"> | ApiError> {
  for (let turn = 1; turn <= turnsMax; turn += 1) {
    const started = await claimAndHold(context, buyer, prepared, request);
    if (typeof started === "object" && "runId" in started) return started;
    // Whatever kept the run from starting: an equal request may have started it, or be about to.
    const repeated = request && (await replayOfStarting(context, buyer, prepared, request));
    if (repeated) return repeated;
    if (started !== "repeated") return started;
  }
  const message = "Equal requests are failing at the same time; send it again shortly.";
  return new ApiError("unavailable", message, { headers: { "retry-after": "1" } });
}

const turnsMax = 3;

/** An equal request announces that it starts where its precheck reserves something; where its model costs something, its claim tells. */
function replayOfStarting(
  context: RunNeeds,
  buyer: Buyer,
  { runnable }: PreparedRun,
  request: IdempotentRequest,
): Promise<RunResult | undefined> {
  const { accountId } = buyer;
  const isStarting = async () =>
    (await context.reservations.isAnnounced(nameOf(accountId, request))) ||
    (await context.modelFunds.isClaiming(runnable, modelBuyerOf(buyer)));
  return findReplayOfStarting(context, accountId, request, isStarting);
}

/** Claims all that the run takes, its price last. Where something is not to be had, answers what, and claims nothing. */
async function claimAndHold(
  context: RunNeeds,
  buyer: Buyer,
  prepared: PreparedRun,
  request: IdempotentRequest | undefined,
): Promise<Started | NotHeld | ApiError> {
  const { runnable } = prepared;
  const { priceCredits, version: agentVersion } = runnable;
  const id = newId("run");
  const { accountId, key } = buyer;
  const { runLeaseMs: leaseMs } = context.config;
  context.leases.keep(id);
  let held = false;
  let modelCharge: ModelCharge | undefined;
  try {
    if (request && runnable.precheck) await context.reservations.announce(id, nameOf(accountId, request));
    const charged = await context.modelFunds.chargeOnCredits(runnable, id, {
      covered: paysForModel(context, runnable),
      buyer: modelBuyerOf(buyer),
      payment: { accountId, key, price: priceCredits },
    });
    if (typeof charged === "string") return charged;
    modelCharge = charged;
    if (!(await reserveOnCredits(context, buyer, id, prepared))) return "insufficient";
    const input = buyer.visitor === undefined ? keptInput(prepared.input) : undefined;
    const run = { id, accountId, key, agentId: runnable.id, agentVersion, priceCredits, leaseMs, request, input };
    const began = await hold(context.db, run);
    if (began.outcome !== "held") return began.outcome;
    held = true;
    return { runId: id, modelCharge, creditsRemaining: began.creditsRemaining };
  } catch (error) {
    if (error instanceof RefusalError) return answerOf(error);
    if (error instanceof ApiError) return error;
    throw error;
  } finally {
    if (!held) {
      context.leases.end(id);
      await context.modelFunds.end(id, modelCharge);
      await context.reservations.end(id);
    }
  }
}

/** Throws ApiError 402 where the price is above what the request allows. */
async function refuseOver(context: RunNeeds, buyer: Buyer, runnable: Runnable, max: number | undefined): Promise<void> {
  if (max === undefined || runnable.priceCredits <= BigInt(max)) return;
  throw await unpayable(context, buyer, runnable, "request", `The run costs more than ${creditsText(max)}.`);
}

/** `This key may spend 500 credits a day and 5000 a month (UTC).` */
function capsOf({ key }: Buyer): string {
  const day = key?.maxCreditsPerDay === undefined ? [] : [`${key.maxCreditsPerDay} credits a day`];
  const month = key?.maxCreditsPerMonth === undefined ? [] : [`${key.maxCreditsPerMonth} credits a month`];
  return `This key may spend ${[...day, ...month].join(" and ")} (UTC).`;
}

/** For an agent whose effect cannot be taken back: asks whether it can work. False where the balance does not cover it. */
async function reserveOnCredits(
  context: RunNeeds,
  buyer: Buyer,
  runId: RunId,
  prepared: PreparedRun,
): Promise<boolean> {
  const { precheck: asks, priceCredits } = prepared.runnable;
  if (!asks) return true;
  const { credits } = await context.lookups.balance(buyer.accountId);
  if (credits < priceCredits) return false;
  await precheck(context, { runId, prepared, buyerId: buyer.accountId });
  return true;
}

/** The credits that are held pay for the model too, whatever the run comes to. */
function paysForModel({ config }: RunNeeds, { priceCredits, model }: Runnable): boolean {
  return priceCredits - platformFee(priceCredits, config.platformFeeBasisPoints) >= (model?.cost ?? 0n);
}

/**
 * The buyer that a run at its creator's cost counts against when it fails: each visitor by itself, or one visitor could use up the
 * tries of all.
 */
function modelBuyerOf({ accountId, visitor }: Buyer): ModelBuyer {
  return { id: visitor === undefined ? accountId : clientOf(visitor) };
}

/** By what kept a run from being paid: the word for it in the key's log. */
const refusalOf = { balance: "balance", key: "cap", request: "max_credits" } as const;

async function unpayable(
  context: RunNeeds,
  buyer: Buyer,
  { priceCredits: price, address }: Runnable,
  limitSource: keyof typeof refusalOf,
  message: string,
): Promise<ApiError> {
  if (buyer.key) context.refusedCalls.note(buyer.key.id, refusalOf[limitSource], address);
  const { credits: remaining } = await context.lookups.balance(buyer.accountId);
  return new ApiError("payment_required", message, {
    body: {
      credits_required: toSafeNumber(price),
      credits_remaining: toSafeNumber(remaining),
      limit_source: limitSource,
    },
  });
}

async function finishRun(context: RunNeeds, buyer: Buyer, started: Started, prepared: PreparedRun): Promise<RunResult> {
  const { runId, modelCharge } = started;
  let endedHere = false;
  try {
    const outcome = await executeRun(context, { runId, prepared, buyerId: buyer.accountId, modelCharge });
    if (!outcome.success && outcome.unknown) return unresolved(started, outcome.error);
    if (!outcome.success && modelCharge?.borne) {
      await context.modelFunds.noteUnpaid(runId, prepared.runnable, modelBuyerOf(buyer));
    }
    const resolved = await resolve(context, started, prepared, outcome);
    if (!resolved) return notRecorded(started, prepared);
    endedHere = resolved.endedHere;
    // The time limit came while it was written down what cannot be taken back.
    if (resolved.state === "running") return unresolved(started, unknownText);
    context.events.runEnded({ runId, agent: prepared.runnable.address, state: resolved.state });
    return resultOf(runId, prepared, outcome, resolved);
  } finally {
    context.leases.end(runId);
    // The recovery does not know what became of the call of the model.
    if (!endedHere) await context.modelFunds.end(runId, modelCharge);
    await context.reservations.end(runId);
  }
}

/**
 * Ends the run in the credits ledger. An answer that was lost on the way is asked for again: a run ends once, however often it
 * is said. Undefined when the database stays away: then the run has ended although its answer was lost, or its lease lapses and it is
 * released.
 */
async function resolve(
  context: RunNeeds,
  started: Started,
  prepared: PreparedRun,
  outcome: Outcome,
): Promise<Resolved | undefined> {
  for (const pauseMs of [0, 50, 250, 1_000, 4_000, 10_000, 20_000]) {
    if (pauseMs > 0) await sleep(pauseMs);
    try {
      return await resolveOnce(context, started, prepared, outcome);
    } catch (error) {
      context.events.runNotResolved({ runId: started.runId, error });
    }
  }
  return undefined;
}

function resolveOnce(
  { db, config }: RunNeeds,
  { runId: id, modelCharge }: Started,
  { runnable, creatorId }: PreparedRun,
  outcome: Outcome,
): Promise<Resolved> {
  if (!outcome.success) {
    const { error, refusal } = outcome;
    // The caller is told to send the same again (429, 503), which must not find this run.
    const mayRepeat = creatorId === platformAccount && refusal !== undefined && isForNow(refusal);
    return release(db, { id, state: "failed", error, modelBorne: modelCharge?.borne ?? false, mayRepeat });
  }
  const fee = platformFee(runnable.priceCredits, config.platformFeeBasisPoints);
  const { output, receipt } = outcome;
  const modelClaimed = (modelCharge?.credits ?? 0n) > 0n;
  return capture(db, { id, creatorId, fee, outputJson: outputJson(output), receipt, modelClaimed });
}

const isForNow = ({ code }: RefusalError) => code === "rate_limited" || code === "unavailable";

/**
 * The run stays open, its credits held, until the recovery has learnt from the chain how it ended, or its lease has lapsed. Told from
 * what is known here: whatever keeps the database away must not make it a refusal, after which nothing runs.
 */
function unresolved({ runId, creditsRemaining }: Started, error: string): RunResult {
  const credits_remaining = toSafeNumber(creditsRemaining);
  return { success: false, run_id: runId, credits_used: 0, credits_remaining, receipt: null, error };
}

/** Failures of what the platform sells are told by their status, which says that nothing was charged unless `charged` says otherwise. */
function notRecorded(started: Started, { creatorId }: PreparedRun): RunResult {
  const error =
    "It is not known yet whether this run was charged, since the database did not answer: it is charged once, or refunded, within minutes. " +
    "Look at it before you run it again.";
  if (creatorId !== platformAccount) return unresolved(started, error);
  const body = { run_id: started.runId, charged: "unknown" };
  throw new ApiError("unavailable", error, { body, headers: { "retry-after": "30" } });
}

function resultOf(runId: RunId, { runnable }: PreparedRun, outcome: Outcome, resolved: Resolved): RunResult {
  const credits_remaining = toSafeNumber(resolved.creditsRemaining);
  if (outcome.success && resolved.state === "succeeded") {
    const credits_used = toSafeNumber(runnable.priceCredits);
    const { output, receipt = null } = outcome;
    return { success: true, run_id: runId, output, credits_used, credits_remaining, receipt };
  }
  // A finished run can find that its lease lapsed meanwhile and its credits went back; then its result is not given.
  const error = outcome.success ? "The run took too long to be recorded and was refunded." : outcome.error;
  return { success: false, run_id: runId, credits_used: 0, credits_remaining, receipt: null, error };
}
