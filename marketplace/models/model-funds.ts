import { toSafeNumber } from "../../shared/amounts.ts";
import { batched } from "../../shared/batch.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Credits } from "../credits/amount.ts";
import type { Events } from "../events.ts";
import type { AgentId, RunId } from "../ids.ts";
import { secondsUntilTomorrow } from "../utc-day.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import type { ModelFundsConfig } from "./funds-config.ts";
import { ModelCharge, PlatformCharge } from "./model-charge.ts";
import {
  type BuyerLimit,
  type CannotPay,
  type Claim,
  type CreditPayment,
  claimAll,
  countFailure,
  endClaims,
  failuresOf,
  type ModelBudget,
  type ModelBuyer,
  readModelBudgets,
  type Shortage,
} from "./model-claims.ts";
import type { ModelUser, PauseReason } from "./version-model.ts";

/**
 * The payment for the models that agents call. A run claims the cost of its one call before anything else of it is
 * begun, out of credits that were set aside from its creator's balance in blocks (0034): no balance is locked for a run.
 * Claims that are ready together are one statement, over all runs of this copy.
 */
export class ModelFunds {
  readonly #claim: (claim: Claim) => Promise<"ok" | Shortage | BuyerLimit | CannotPay>;
  readonly #end: (ended: Ended) => Promise<boolean>;
  readonly #budgetOf: (agentId: AgentId) => Promise<ModelBudget | undefined>;
  readonly #needs: Needs;
  /** Drawings that the platform sells per call. */
  readonly #unpaid = new CallsUnderWay();
  /** Claims whose end could not be written. */
  readonly #unended = new Map<RunId, Ended>();
  /** Agents whose last claim was refused: their next claim is preceded by a read, which locks and writes nothing. */
  readonly #refused = new Set<AgentId>();
  /** What was last read of agents whose price is asked for, the one read longest ago first. */
  readonly #seen = new Map<AgentId, { readonly until: number; readonly short: Promise<Stop | undefined> }>();

  constructor(needs: Needs) {
    const { db, config } = needs;
    this.#needs = needs;
    this.#claim = batched((claims) => claimAll(db, config, claims), { sizeMax: 200, windowMs: 0 });
    this.#end = batched((ended) => endClaims(db, ended), { sizeMax: 200, windowMs: 5 });
    this.#budgetOf = batched((agentIds) => readModelBudgets(db, config, agentIds), { sizeMax: 200, windowMs: 0 });
  }

  /**
   * Claims what a run's model costs; undefined where that is nothing. Throws 503 with Retry-After for an agent that is paused or whose
   * creator cannot pay now, and tells the creator; 429 for a buyer whose runs of it have failed too often at the creator's cost. The
   * claim ends with the run: in the ledger's own statement, or by `end`.
   */
  async charge(
    agent: ModelUser,
    runId: RunId,
    { buyer }: Pick<Partial<Claim>, "buyer"> = {},
  ): Promise<ModelCharge | undefined> {
    const charged = await this.#charge(agent, { runId, covered: false, buyer });
    if (typeof charged === "string") throw new Error(`${runId} is not paid with credits`);
    return charged;
  }

  /**
   * Claims the cost for a run paid with credits, whose buyer must have the price: else buyers who have it would wait for
   * claims that are given back a moment later. `covered`: the held price pays for the model if the run succeeds.
   */
  chargeOnCredits(
    agent: ModelUser,
    runId: RunId,
    { covered, buyer, payment }: PaidWithCredits,
  ): Promise<ModelCharge | undefined | CannotPay> {
    return this.#charge(agent, { runId, covered, buyer, payment });
  }

  async #charge(
    agent: ModelUser,
    claim: Omit<Claim, "agentId" | "cost">,
  ): Promise<ModelCharge | undefined | CannotPay> {
    const { model } = agent;
    if (model?.pausedFor) throw this.#refusal(agent, model.pausedFor);
    if (agent.isAtPlatformsCost) return this.#chargePlatform(agent, claim);
    const cost = model?.cost ?? 0n;
    if (cost === 0n) return undefined;
    const stillShort = !claim.covered && this.#refused.has(agent.id) ? await this.#look(agent.id, cost) : undefined;
    if (stillShort) throw this.#refusal(agent, stillShort);
    const outcome = await this.#claim({ ...claim, agentId: agent.id, cost }).catch(async (error: unknown) => {
      // The claim may have been written and its answer lost; or its statement still waits, and is written after the end.
      const ended = { runId: claim.runId, borne: false, againUntil: Date.now() + lostClaimMs };
      this.#unended.set(claim.runId, ended);
      await this.#endOrKeep(ended);
      throw error;
    });
    if (outcome === "insufficient" || outcome === "over_cap") return outcome;
    if (outcome === "failures" || outcome === "crowd") throw buyerRefusal(outcome);
    if (outcome !== "ok") {
      this.#refused.add(agent.id);
      if (this.#refused.size > seenMax) this.#refused.clear();
      throw this.#refusal(agent, outcome);
    }
    this.#refused.delete(agent.id);
    return new ModelCharge(cost as Credits);
  }

  /**
   * Throws 429 for a buyer who has left too many calls unpaid within the hour, or has so many under way that they might be: as for
   * agents, eight may be begun for each that may fail. Credits are held before.
   */
  async #chargePlatform({ id }: ModelUser, { buyer, payment }: Pick<Claim, "buyer" | "payment">): Promise<ModelCharge> {
    const { db, config } = this.#needs;
    const { failuresPerHour } = config;
    if (buyer === undefined || failuresPerHour === 0) return new PlatformCharge();
    const failed = await failuresOf(db, id, buyer);
    if (failed >= failuresPerHour) throw buyerRefusal("failures");
    if (payment) return new PlatformCharge();
    if (failed + Math.floor(this.#unpaid.of(buyer) / 8) >= failuresPerHour) throw buyerRefusal("crowd");
    return new PlatformCharge(this.#unpaid.begin(buyer));
  }

  /** Whether the buyer has claimed what the agent's model costs for a run that has not begun yet. */
  async isClaiming({ id, model }: ModelUser, buyer: ModelBuyer): Promise<boolean> {
    if ((model?.cost ?? 0n) === 0n) return false;
    const { rows } = await this.#needs.db.query<{ claiming: boolean }>(
      `select exists (
         select from model_claims c where c.agent_id = $1 and c.buyer = $2 and not c.borne
           and not exists (select from runs r where r.id = c.run_id)) as claiming`,
      [id, buyer.id],
    );
    return rows[0]!.claiming;
  }

  /**
   * Counts a run that its buyer does not pay for although its creator, or the platform, bears the model. To be called before the run's claim
   * ends, so that it counts as one or the other at any time.
   */
  async noteUnpaid(runId: RunId, agent: ModelUser, buyer: ModelBuyer | undefined): Promise<void> {
    const isBorne = agent.isAtPlatformsCost || (agent.model?.cost ?? 0n) > 0n;
    if (!buyer || !isBorne || this.#needs.config.failuresPerHour === 0) return;
    await countFailure(this.#needs.db, agent.id, buyer).catch((error) =>
      this.#needs.events.failureNotCounted({ runId, error }),
    );
  }

  /** Ends a claim that no statement of the ledger ends; where the database is away, by `endLeft`. */
  async end(runId: RunId, charge: ModelCharge | undefined): Promise<void> {
    if (charge instanceof PlatformCharge) charge.end();
    else if (charge) await this.#endOrKeep({ runId, borne: charge.borne });
  }

  /**
   * Ends the claims whose end could not be written, to be called every few seconds (jobs.ts). Only this process knows whether their
   * models answered: a claim that no copy ends within fifteen minutes counts as borne (0034), since the provider may charge for it.
   */
  async endLeft(): Promise<void> {
    const left = [...this.#unended.values()];
    await Promise.all(
      left.map(async (ended) => {
        await this.#end(ended);
        if (Date.now() > (ended.againUntil ?? 0)) this.#unended.delete(ended.runId);
      }),
    );
  }

  async #endOrKeep(ended: Ended): Promise<void> {
    const { runId } = ended;
    await this.#end(ended).catch((error) => {
      this.#unended.set(runId, ended);
      this.#needs.events.claimNotEnded({ runId, error });
    });
  }

  /**
   * Why a call that is paid straight to the creator could not run now, as the 503 to answer; undefined when it can.
   * "lately" (a price is asked for) may be a second old; "now" (a payment was sent) is read anew.
   */
  async refusal(agent: ModelUser, when: "lately" | "now"): Promise<ApiError | undefined> {
    const { id, model } = agent;
    if (model?.pausedFor) return this.#refusal(agent, model.pausedFor);
    const cost = model?.cost ?? 0n;
    if (cost === 0n) return undefined;
    const short = when === "now" ? this.#look(id, cost) : this.#lookLately(id, cost);
    const reason = await short.catch((cause) => {
      throw new ApiError("unavailable", "Agents cannot be looked up right now; try again shortly.", { cause });
    });
    return reason && this.#refusal(agent, reason);
  }

  /** What an agent's models have cost today, for its creator; null where it calls no model of the platform's. */
  async stateOf(id: AgentId, { model }: Pick<ModelUser, "model">): Promise<ModelState | null> {
    const left = model && (await this.#budgetOf(id));
    if (!left) return null;
    return {
      credits_per_run: toSafeNumber(model.cost),
      credits_per_day: toSafeNumber(left.budget),
      credits_used_today: toSafeNumber(left.spent),
      stopped_for: model.pausedFor ?? (model.cost > 0n ? shortageOf(left, model.cost) : undefined) ?? null,
    };
  }

  #lookLately(id: AgentId, cost: bigint): Promise<Stop | undefined> {
    const seen = this.#seen.get(id);
    if (seen && seen.until > Date.now()) return seen.short;
    const short = this.#look(id, cost);
    this.#seen.delete(id);
    this.#seen.set(id, { until: Date.now() + lookEveryMs, short });
    short.catch(() => this.#seen.delete(id));
    if (this.#seen.size > seenMax) this.#seen.delete(this.#seen.keys().next().value as AgentId);
    return short;
  }

  async #look(id: AgentId, cost: bigint): Promise<Stop | undefined> {
    const left = await this.#budgetOf(id);
    return left && shortageOf(left, cost);
  }

  #refusal(agent: ModelUser, reason: Stop | "busy"): ApiError {
    if (reason !== "busy") this.#needs.tellCreator(agent, reason);
    const message =
      reason === "busy" ? "The agent has as many runs under way as its creator can pay for." : "The agent is paused.";
    return new ApiError("unavailable", message, { headers: { "retry-after": String(waitSeconds(reason)) } });
  }
}

/** Why an agent does not answer at the moment. */
export const stops = [
  "model_budget_spent",
  "model_balance_spent",
  "model_not_offered",
  "model_dearer_than_price",
] as const satisfies ReadonlyArray<PauseReason | Shortage>;
export type Stop = (typeof stops)[number];

export interface ModelState {
  readonly credits_per_run: number;
  readonly credits_per_day: number;
  readonly credits_used_today: number;
  readonly stopped_for: Stop | null;
}

interface Needs {
  readonly db: Queryable;
  readonly config: ModelFundsConfig;
  readonly events: Pick<Events, "claimNotEnded" | "failureNotCounted">;
  /** Says so to the agent's creator, at most once a day; returns at once. */
  readonly tellCreator: (agent: ModelUser, reason: Stop) => void;
}

interface PaidWithCredits {
  readonly covered: boolean;
  readonly buyer: ModelBuyer;
  readonly payment: CreditPayment;
}

interface Ended {
  readonly runId: RunId;
  readonly borne: boolean;
  /** Until then it may be written after it was ended, and is ended again. */
  readonly againUntil?: number;
}

/** Longer than a statement may take (query_timeout). */
const lostClaimMs = 120_000;

function buyerRefusal(limit: BuyerLimit): ApiError {
  const [message, seconds] =
    limit === "failures"
      ? ["Too many of your runs of this agent have failed after its model had answered; try again later.", 900]
      : ["Too many of your runs of this agent are under way.", 3];
  return new ApiError("rate_limited", message, { headers: { "retry-after": String(seconds) } });
}

/** What certainly keeps one more call from being claimed; calls under way may still turn out to cost nothing. */
function shortageOf({ budget, spent, open, setAside, spendable }: ModelBudget, cost: bigint): Stop | undefined {
  if (spent + cost > budget) return "model_budget_spent";
  if (open === 0n && setAside - spent + spendable < cost) return "model_balance_spent";
  return undefined;
}

function waitSeconds(reason: Stop | "busy"): number {
  if (reason === "busy") return 5;
  return reason === "model_budget_spent" ? secondsUntilTomorrow() : 300;
}

const lookEveryMs = 1_000;
const seenMax = 10_000;
