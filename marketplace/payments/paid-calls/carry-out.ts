import { toSafeNumber } from "../../../shared/amounts.ts";
import type { Database } from "../../../shared/postgres.ts";
import type { BackgroundWork } from "../../background-work.ts";
import type { Config } from "../../config.ts";
import { credits } from "../../credits/amount.ts";
import type { BalanceLookup } from "../../credits/balance.ts";
import { grant } from "../../credits/ledger.ts";
import type { Events } from "../../events.ts";
import type { RunId } from "../../ids.ts";
import type { ModelBuyer } from "../../models/model-claims.ts";
import type { ModelFunds } from "../../models/model-funds.ts";
import { type ExecuteNeeds, executeRun, type Outcome } from "../../runs/execute.ts";
import type { Leases } from "../../runs/leases.ts";
import { type PrecheckNeeds, precheck } from "../../runs/precheck.ts";
import type { PreparedRun } from "../../runs/prepare.ts";
import { openRun, type WhatRuns } from "../../runs/record.ts";
import type { PaidCallId } from "../payment-payload.ts";
import { effectKeyOf, type LeasedCall } from "./paid-call.ts";
import type { CreditPurchase, PaidWork } from "./redemption.ts";

/**
 * Does once what a payment buys, within `deadlineMs` where one is given. A failure is an outcome; throws only the 503 or 429 of a run
 * that was not begun, because its creator cannot pay for the model any more, or its buyer has left too many runs unpaid.
 */
export function carryOut(context: CarryOutNeeds, bought: PaidWork, call: Carried): Promise<Outcome> {
  return bought.kind === "run" ? runPaid(context, bought.prepared, call) : creditAccount(context, bought, call.id);
}

interface Carried {
  readonly id: PaidCallId;
  readonly runId: RunId;
  /** The caller who has not paid for the models' work if the run fails. */
  readonly buyer: ModelBuyer;
  readonly deadlineMs?: number;
}

export interface CarryOutNeeds extends ExecuteNeeds, PrecheckNeeds {
  readonly config: Pick<Config, "runLeaseMs">;
  readonly db: Database;
  readonly events: Pick<Events, "connectorEnded" | "runEnded">;
  readonly lookups: BalanceLookup;
  readonly leases: Leases;
  readonly modelFunds: ModelFunds;
  readonly backgroundWork: BackgroundWork;
}

/** The agent that runs; undefined where none does. */
export function agentIn(bought: PaidWork): RunningAgent | undefined {
  if (bought.kind !== "run") return undefined;
  const { id: agentId, version: agentVersion, priceCredits, address, hasEffects } = bought.prepared.runnable;
  return { agentId, agentVersion, priceCredits, address, opensRun: hasEffects };
}

export interface RunningAgent extends WhatRuns {
  /** `handle/slug` */
  readonly address: string;
  /** Its run has a row of its own from the start. */
  readonly opensRun: boolean;
}

/** Whether the work must be checked, and its limited resources reserved, before it is paid for. */
export function isReserved(bought: PaidWork): boolean {
  return bought.kind === "run" && bought.prepared.runnable.precheck !== undefined;
}

/** Throws RefusalError for what cannot work now. */
export async function reserve(
  context: CarryOutNeeds,
  bought: PaidWork,
  { id, runId, payer }: Pick<LeasedCall, "id" | "runId" | "payer">,
): Promise<void> {
  if (bought.kind !== "run") return;
  const caller = (payer ?? id.key).toLowerCase();
  await precheck(context, { runId, prepared: bought.prepared, caller, effectKey: effectKeyOf(id) });
}

/** Gives back what was reserved and not used, at once or after `lapseMs`. */
export function endReservation(
  { reservations }: Pick<CarryOutNeeds, "reservations">,
  id: PaidCallId,
  lapseMs: number,
): Promise<void> {
  return reservations.end(effectKeyOf(id), { lapseMs });
}

async function runPaid(context: CarryOutNeeds, prepared: PreparedRun, call: Carried): Promise<Outcome> {
  const { id, runId, buyer, ...limit } = call;
  const { runnable } = prepared;
  const { id: agentId, version: agentVersion, address, priceCredits, hasEffects } = runnable;
  const modelCharge = await context.modelFunds.charge(runnable, runId, { buyer });
  // The run's row takes care of an effect that was begun on a chain, whatever becomes of this process.
  const run = { id: runId, agentId, agentVersion, priceCredits, leaseMs: context.config.runLeaseMs };
  if (hasEffects) await openRun(context.db, run);
  context.leases.keep(runId);
  try {
    const outcome = await executeRun(context, { runId, prepared, effectKey: effectKeyOf(id), modelCharge, ...limit });
    if (!outcome.success && modelCharge?.borne) await context.modelFunds.noteUnpaid(runId, runnable, buyer);
    const state = outcome.success ? "succeeded" : outcome.unknown ? "unknown" : "failed";
    context.events.runEnded({ runId, agent: address, state });
    return outcome;
  } finally {
    context.leases.end(runId);
    context.backgroundWork.detach(context.modelFunds.end(runId, modelCharge));
  }
}

/** Crediting cannot be undone and needs nothing but the settled payment, whose key makes it happen once. */
async function creditAccount(
  { db, lookups }: CarryOutNeeds,
  { accountId, credits: bought }: CreditPurchase,
  { network, key }: PaidCallId,
): Promise<Outcome> {
  const reference = `purchase ${network} ${key}`;
  await grant(db, { kind: "purchase", accountId, credits: credits(BigInt(bought)), reference });
  const { credits: remaining } = await lookups.balance(accountId);
  const data = { credits: bought, credits_remaining: toSafeNumber(remaining) };
  return { success: true, output: { kind: "json", data } };
}
