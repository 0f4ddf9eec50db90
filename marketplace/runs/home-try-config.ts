import type { EnvReader } from "../../shared/env.ts";

/** The agent that visitors of the first page run for nothing; the operator pays with an account's credits. */
export interface HomeTryConfig {
  /** `handle/slug`. */
  readonly agent: string;
  /** The handle of the account that pays. */
  readonly payer: string;
  /** Per day (UTC), over all copies. */
  readonly creditsPerDay: number;
  readonly triesPerAddress: number;
}

/** Undefined where no agent is named: then there is nothing to try. Throws nothing: problems are noted in `env`. */
export function readHomeTry(env: EnvReader): HomeTryConfig | undefined {
  const agent = env.optional("HOME_AGENT");
  const creditsPerDay = env.integer("HOME_CREDITS_PER_DAY", 200, { max: 100_000_000 });
  const triesPerAddress = env.integer("LIMIT_HOME_TRIES_PER_ADDRESS", 10, { max: 100_000 });
  const payer = env.optional("HOME_PAYER");
  if (agent === undefined) return undefined;
  if (!/^[a-z0-9-]+\/[a-z0-9-]+$/.test(agent)) env.problem("HOME_AGENT must be an agent's handle/slug", undefined);
  if (payer === undefined) env.problem("HOME_PAYER must name the account that pays for HOME_AGENT", undefined);
  return { agent, payer: payer ?? "", creditsPerDay, triesPerAddress };
}
