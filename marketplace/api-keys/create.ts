import { ApiError } from "../../shared/errors.ts";
import { isUniqueViolation, type Queryable } from "../../shared/postgres.ts";
import { usualCallsPerMinute } from "../http/calls-per-minute.ts";
import { type AccountId, type KeyId, newId } from "../ids.ts";
import { readCallCeiling } from "./ceiling.ts";
import {
  chosenAgents,
  keyCap,
  keyName,
  keyRate,
  type Scope,
  type ToolListing,
  withoutDailyCap,
} from "./key-settings.ts";
import { requireRoomForKeys } from "./revoked-keys.ts";
import { digestOf, displayOf, newToken } from "./token.ts";

export const keysPerAccount = 5;
/** Clients that were allowed to run agents have slots of their own. */
const clientsPerAccount = 20;

/**
 * Makes a key. `token` is in this answer and nowhere else, ever. 409 when all five slots of the account are in use, or it has revoked a great many keys; 422
 * naming the field, as for a rate limit above the account's ceiling. That of a client is never shown: the client shows tokens.
 */
export async function createKey(db: Queryable, input: NewKey): Promise<{ id: KeyId; name: string; token: string }> {
  const { accountId, scope = "own_agents", agents = [], tools = "all", maxCreditsPerDay, maxCreditsPerMonth } = input;
  const name = keyName(input.name);
  const ceiling = await readCallCeiling(db, accountId);
  const rateLimitPerMinute = keyRate(input.rateLimitPerMinute ?? Math.min(usualCallsPerMinute, ceiling), ceiling);
  if (maxCreditsPerDay !== undefined) keyCap("max_credits_per_day", maxCreditsPerDay);
  if (maxCreditsPerMonth !== undefined) keyCap("max_credits_per_month", maxCreditsPerMonth);
  if (input.client !== undefined && maxCreditsPerDay === undefined) throw withoutDailyCap();
  await requireRoomForKeys(db, accountId);
  const scopeAgents = await chosenAgents(db, scope, agents);
  const token = newToken();
  const { start, last4 } = displayOf(token);
  const id = input.id ?? newId("key");
  const shown = [id, accountId, name, digestOf(token), start, last4];
  const limits = [rateLimitPerMinute, maxCreditsPerDay, maxCreditsPerMonth];
  const slots = input.client === undefined ? [1, keysPerAccount] : [101, 100 + clientsPerAccount];
  if (await claimSlot(db, [...shown, scope, scopeAgents, ...limits, tools, input.client ?? null, ...slots])) {
    return { id, name, token };
  }
  await refuseClosed(db, accountId);
  const most = input.client === undefined ? `${keysPerAccount} keys` : `${clientsPerAccount} clients`;
  throw new ApiError("conflict", `An account may have ${most}; revoke one first.`);
}

async function refuseClosed(db: Queryable, accountId: AccountId): Promise<void> {
  const { rowCount } = await db.query("select from accounts where id = $1 and state = 'closed'", [accountId]);
  if (rowCount === 1) throw new ApiError("conflict", "The account is closed.");
}

/** Takes the lowest free slot. Of requests that saw the same slot free the index lets one have it; the others try again. */
async function claimSlot(db: Queryable, values: unknown[]): Promise<boolean> {
  for (;;) {
    try {
      const { rowCount } = await db.query(
        `insert into api_keys (id, account_id, slot, name, digest, start, last4, scope, scope_agents,
           rate_limit_per_minute, max_credits_per_day, max_credits_per_month, tools, client)
         select $1, $2, slot, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 from generate_series($14::integer, $15::integer) slot,
           (select from accounts where id = $2 and state <> 'closed' for no key update) account
         where not exists (select from api_keys k where k.account_id = $2 and k.slot = slot.slot and k.revoked_at is null)
         order by slot limit 1`,
        values,
      );
      return rowCount === 1;
    } catch (error) {
      if (isUniqueViolation(error, "api_keys_pkey")) {
        throw new ApiError("conflict", "This key was made already, and can be shown once only.");
      }
      if (!isUniqueViolation(error, "api_keys_slot")) throw error;
    }
  }
}

export interface NewKey {
  readonly accountId: AccountId;
  /** Given by a form that is posted once: its second post is a 409 and makes no second key. */
  readonly id?: KeyId | undefined;
  readonly name: string;
  /** The id of the client that it is for. */
  readonly client?: string | undefined;
  readonly rateLimitPerMinute?: number | undefined;
  readonly scope?: Scope | undefined;
  /** For the scope chosen_agents: `handle/slug` of live agents, of any creator. */
  readonly agents?: readonly string[] | undefined;
  /** All, when undefined. */
  readonly tools?: ToolListing | undefined;
  /** Credits the key may spend a day (UTC); no cap when undefined. */
  readonly maxCreditsPerDay?: number | undefined;
  /** Credits the key may spend a calendar month (UTC); no cap when undefined. */
  readonly maxCreditsPerMonth?: number | undefined;
}
