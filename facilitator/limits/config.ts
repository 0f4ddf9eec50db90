import type { EnvReader } from "../../shared/env.ts";

/** Calls a minute; 0 is no limit. Where real money pays the fees there are limits unless configured otherwise. */
export interface LimitsConfig {
  readonly verifyPerAddress: number;
  readonly settlePerAddress: number;
  readonly settlePerPayer: number;
  readonly settlePerPayTo: number;
  /** Calls of the public GET routes. Each copy of the daemon counts for itself unless a Valkey counts (`REDIS_URL`). */
  readonly readPerAddress: number;
  /** Settlements of one payer that may fail on the chain, at our cost, in `failuresWithin`. */
  readonly failuresPerPayer: number;
  /** Settlements of one payer that may fail on the chain, at our cost, within a day. */
  readonly failuresPerPayerDay: number;
}

/** `onMainnet`: a network is served whose fees are real money. */
export function readLimits(env: EnvReader, onMainnet: boolean): LimitsConfig {
  const limit = (name: string, usual: number) => env.integer(name, onMainnet ? usual : 0, { max: 1_000_000_000 });
  return {
    verifyPerAddress: limit("LIMIT_VERIFY_PER_ADDRESS", 6_000),
    settlePerAddress: limit("LIMIT_SETTLE_PER_ADDRESS", 1_200),
    settlePerPayer: limit("LIMIT_SETTLE_PER_PAYER", 60),
    settlePerPayTo: limit("LIMIT_SETTLE_PER_PAY_TO", 1_200),
    readPerAddress: limit("LIMIT_READ_PER_ADDRESS", 3_000),
    failuresPerPayer: env.integer("LIMIT_FAILURES_PER_PAYER", 5, { max: 1_000_000_000 }),
    failuresPerPayerDay: env.integer("LIMIT_FAILURES_PER_PAYER_DAY", 20, { max: 1_000_000_000 }),
  };
}
