import type { EnvReader } from "../../shared/env.ts";

/** How far creators, strangers and the platform are bound for models; all in credits. */
export interface ModelFundsConfig {
  /** What an agent's models may cost in a day (UTC) where its creator has not said. */
  readonly budgetPerDay: number;
  /** What the platform lends a creator without credits, for runs whose price pays if they succeed. */
  readonly lentMax: number;
  /** Most that the platform lends all creators together in a day (UTC), less what came back. */
  readonly lentPerDay: number;
  /** Runs of an agent that a buyer does not pay for and its creator bears the model of, in an hour; 0 is no limit. */
  readonly failuresPerHour: number;
  /** What the platform bears of tries in a day: of one account, of all. */
  readonly triesPerAccount: number;
  readonly triesOfAll: number;
}

export function readModelFunds(env: EnvReader): ModelFundsConfig {
  const amount = (name: string, usual: number) => env.integer(name, usual, { max: 1_000_000_000 });
  return {
    budgetPerDay: amount("MODEL_CREDITS_PER_AGENT_DAY", 1_000),
    lentMax: amount("MODEL_CREDITS_LENT_MAX", 100),
    lentPerDay: amount("MODEL_CREDITS_LENT_PER_DAY", 5_000),
    failuresPerHour: env.integer("LIMIT_MODEL_FAILURES_PER_HOUR", 10, { max: 1_000_000 }),
    triesPerAccount: amount("TRY_CREDITS_PER_ACCOUNT_DAY", 50),
    triesOfAll: amount("TRY_CREDITS_PER_DAY", 2_000),
  };
}
