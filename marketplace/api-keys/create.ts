import { ApiError } from "../../shared/errors.ts";
import { isUniqueViolation, type Queryable } from "../../shared/postgres.ts";
import { parseAddress } from "../agents/address.ts";
import { type AccountId, type AgentId, type KeyId, newId } from "../ids.ts";
import { readCallCeiling } from "./ceiling.ts";
import { digestOf, displayOf, newToken } from "./token.ts";

export const keysPerAccount = 5;
export const scopes = ["own_agents", "chosen_agents", "rest_only"] as const;
/** Which agents a key sees as tools: its account's own, the ones chosen, or none. */
export type Scope = (typeof scopes)[number];
const chosenMax = 100;
const wholeUpTo = (max: number, value: number, min = 0) => Number.isInteger(value) && value >= min && value <= max;

/**
 * Makes a key. `token` is in this answer and nowhere else, ever. 409 when all five slots of the account are in use; 422
 * naming the field, as for a rate limit above the account's ceiling.
 */
export async function createKey(db: Queryable, input: NewKey): Promise<{ id: KeyId; name: string; token: string }> {
  const { accountId, scope = "own_agents", agents = [], maxCreditsPerDay } = input;
  const name = input.name.trim();
  if (name.length < 1 || name.length > 100) throw invalid("name", "must have 1 to 100 characters");
  const ceiling = await readCallCeiling(db, accountId);
  const rateLimitPerMinute = input.rateLimitPerMinute ?? Math.min(60, ceiling);
  if (!wholeUpTo(ceiling, rateLimitPerMinute, 1)) {
    const why = "what all keys of the account may call together";
    throw invalid("rate_limit_per_minute", `must be a whole number between 1 and ${ceiling}, ${why}`);
  }
  if (maxCreditsPerDay !== undefined && !wholeUpTo(1_000_000_000, maxCreditsPerDay)) {
    throw invalid("max_credits_per_day", "must be a whole number between 0 and 1000000000");
  }
  const scopeAgents = await chosenAgents(db, scope, agents);
  const token = newToken();
  const { start, last4 } = displayOf(token);
  const id = newId("key");
  const shown = [id, accountId, name, digestOf(token), start, last4];
  if (await claimSlot(db, [...shown, scope, scopeAgents, rateLimitPerMinute, maxCreditsPerDay])) {
    return { id, name, token };
  }
  await refuseClosed(db, accountId);
  throw new ApiError("conflict", `An account may have ${keysPerAccount} keys; revoke one first.`);
}

/** Chosen agents are kept by id: an agent that moves to another handle stays chosen. */
async function chosenAgents(db: Queryable, scope: Scope, addresses: readonly string[]): Promise<AgentId[]> {
  if ((scope === "chosen_agents") !== addresses.length > 0) {
    throw invalid("agents", "are named for the scope chosen_agents, and only for it");
  }
  if (addresses.length > chosenMax) throw invalid("agents", `may be ${chosenMax} at most`);
  const asked = [...new Set(addresses.map((address) => parseAddress(address) ?? ""))];
  const { rows } = await db.query<{ id: AgentId; address: string }>(
    `select id, lower(handle || '/' || slug) as address from agents
     where state = 'live' and (lower(handle), lower(slug)) in (
       select split_part(asked, '/', 1), split_part(asked, '/', 2) from unnest($1::text[]) asked)`,
    [asked],
  );
  const unknown = addresses.find((address) => !rows.some((row) => row.address === address.toLowerCase()));
  if (unknown !== undefined) throw invalid("agents", `names "${unknown}", which is no live agent`);
  return rows.map(({ id }) => id);
}

async function refuseClosed(db: Queryable, accountId: AccountId): Promise<void> {
  const { rowCount } = await db.query("select from accounts where id = $1 and state = 'closed'", [accountId]);
  if (rowCount === 1) throw new ApiError("conflict", "The account is closed.");
}

function invalid(field: string, problem: string): ApiError {
  return new ApiError("invalid_value", `"${field}" ${problem}.`, { body: { field } });
}

/** Takes the lowest free slot; the index lets only one of those who saw it free have it, the others look again. */
async function claimSlot(db: Queryable, values: unknown[]): Promise<boolean> {
  for (;;) {
    try {
      const { rowCount } = await db.query(
        `insert into api_keys (id, account_id, slot, name, digest, start, last4, scope, scope_agents,
           rate_limit_per_minute, max_credits_per_day)
         select $1, $2, slot, $3, $4, $5, $6, $7, $8, $9, $10 from generate_series(1, ${keysPerAccount}) slot,
           (select from accounts where id = $2 and state <> 'closed' for no key update) account
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
  /** For the scope chosen_agents: `handle/slug` of live agents, anybody's. */
  readonly agents?: readonly string[] | undefined;
  /** Credits the key may spend a day (UTC); no cap when undefined. */
  readonly maxCreditsPerDay?: number | undefined;
}
