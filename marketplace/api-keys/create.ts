import { ApiError } from "../../shared/errors.ts";
import { isUniqueViolation, type Queryable } from "../../shared/postgres.ts";
import { type AccountId, type AgentId, type KeyId, newId } from "../ids.ts";
import { digestOf, displayOf, newToken } from "./token.ts";

export const keysPerAccount = 5;
export const scopes = ["own_agents", "chosen_agents", "rest_only"] as const;
const scopeAgentsMax = 100;
const inRange = (credits: number) => credits >= 0 && credits <= 1_000_000_000;
export type Scope = (typeof scopes)[number];

/** Makes a key. `token` is in this answer and nowhere else, ever. 409 when all five slots of the account are in use. */
export async function createKey(db: Queryable, input: NewKey): Promise<{ id: KeyId; name: string; token: string }> {
  const { accountId, rateLimitPerMinute = 60, scope = "own_agents", scopeAgents = [], maxCreditsPerDay } = input;
  const name = input.name.trim();
  if (name.length < 1 || name.length > 100) {
    throw new ApiError("invalid_value", '"name" must have 1 to 100 characters.');
  }
  if (!Number.isInteger(rateLimitPerMinute) || rateLimitPerMinute < 1 || rateLimitPerMinute > 100_000) {
    throw new ApiError("invalid_value", '"rate_limit_per_minute" must be a whole number between 1 and 100000.');
  }
  if (maxCreditsPerDay !== undefined && !(Number.isInteger(maxCreditsPerDay) && inRange(maxCreditsPerDay))) {
    throw new ApiError("invalid_value", '"max_credits_per_day" must be a whole number between 0 and 1000000000.');
  }
  if ((scope === "chosen_agents") !== scopeAgents.length > 0) {
    throw new ApiError("invalid_value", '"agents" are named for the scope chosen_agents, and only for it.');
  }
  if (scopeAgents.length > scopeAgentsMax) {
    throw new ApiError("invalid_value", `"agents" may name ${scopeAgentsMax} agents at most.`);
  }
  const token = newToken();
  const { start, last4 } = displayOf(token);
  const id = newId("key");
  const values = [
    id,
    accountId,
    name,
    digestOf(token),
    start,
    last4,
    scope,
    scopeAgents,
    rateLimitPerMinute,
    maxCreditsPerDay,
  ];
  if (await claimSlot(db, values)) return { id, name, token };
  throw new ApiError("conflict", `An account may have ${keysPerAccount} keys; revoke one first.`);
}

/** Takes the lowest free slot; the index lets only one of those who saw it free have it, the others look again. */
async function claimSlot(db: Queryable, values: unknown[]): Promise<boolean> {
  for (;;) {
    try {
      const { rowCount } = await db.query(
        `insert into api_keys (id, account_id, slot, name, digest, start, last4, scope, scope_agents,
           rate_limit_per_minute, max_credits_per_day)
         select $1, $2, slot, $3, $4, $5, $6, $7, $8, $9, $10 from generate_series(1, ${keysPerAccount}) slot
         where not exists (select from api_keys k where k.account_id = $2 and k.slot = slot.slot and k.revoked_at is null)
         order by slot limit 1`,
        values,
      );
      return rowCount === 1;
    } catch (error) {
      if (!isUniqueViolation(error, "api_keys_slot")) throw error;
    }
  }
}

interface NewKey {
  readonly accountId: AccountId;
  readonly name: string;
  readonly rateLimitPerMinute?: number | undefined;
  readonly scope?: Scope | undefined;
  /** For the scope chosen_agents. */
  readonly scopeAgents?: readonly AgentId[] | undefined;
  /** Credits the key may spend a day (UTC); no cap when undefined. */
  readonly maxCreditsPerDay?: number | undefined;
}
