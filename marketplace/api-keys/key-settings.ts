import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { parseAddress } from "../agent-address.ts";
import type { AgentId } from "../ids.ts";
import { readName } from "../shown-text.ts";

export const scopes = ["own_agents", "chosen_agents", "rest_only"] as const;
/** Which agents a key sees as tools: its account's own, the ones chosen, or none. */
export type Scope = (typeof scopes)[number];

export const toolListings = ["all", "search"] as const;
/** What the tool server lists for a key: a tool for each agent in its scope, or few that find and run them. */
export type ToolListing = (typeof toolListings)[number];

const chosenMax = 100;
export const capMax = 1_000_000_000;

/** Only the account's holder sees it. 422 unless it has 1 to 100 characters, none of them hidden. */
export const keyName = (text: string): string => readName(text, 100);

/** 422 above what all keys of the account may call together. */
export function keyRate(callsPerMinute: number, ceiling: number): number {
  if (Number.isInteger(callsPerMinute) && callsPerMinute >= 1 && callsPerMinute <= ceiling) return callsPerMinute;
  const why = "what all keys of the account may call together";
  throw invalid("rate_limit_per_minute", `must be a whole number between 1 and ${ceiling}, ${why}`);
}

/** The cap on a key's spending in a day or a month (UTC). 422 for a number that can be no cap. */
export function keyCap(field: "max_credits_per_day" | "max_credits_per_month", cap: number): number {
  if (Number.isInteger(cap) && cap >= 0 && cap <= capMax) return cap;
  throw invalid(field, `must be a whole number between 0 and ${capMax}`);
}

/** A client always has a cap by the day: it is allowed from a session that need not be fresh, and spends when that has ended. */
export const withoutDailyCap = (): ApiError => invalid("max_credits_per_day", "must be set for a client");

/** Chosen agents are kept by id: an agent that moves to another handle stays chosen. */
export async function chosenAgents(db: Queryable, scope: Scope, addresses: readonly string[]): Promise<AgentId[]> {
  if ((scope === "chosen_agents") !== addresses.length > 0) {
    throw invalid("agents", "are named for the scope chosen_agents, and only for it");
  }
  if (addresses.length > chosenMax) throw invalid("agents", `may be ${chosenMax} at most`);
  const asked = [...new Set(addresses.map((address) => parseAddress(address) ?? ""))];
  const { rows } = await db.query<{ id: AgentId; address: string }>(
    `select id, lower(handle || '/' || slug) as address from agents
     where state = 'live' and exists (select from accounts o where o.id = agents.account_id and o.state = 'open') and (lower(handle), lower(slug)) in (
       select split_part(asked, '/', 1), split_part(asked, '/', 2) from unnest($1::text[]) asked)`,
    [asked],
  );
  const unknown = addresses.find((address) => !rows.some((row) => row.address === address.toLowerCase()));
  if (unknown !== undefined) throw invalid("agents", `names "${unknown}", which is no live agent`);
  return rows.map(({ id }) => id);
}

function invalid(field: string, problem: string): ApiError {
  return new ApiError("invalid_value", `"${field}" ${problem}.`, { body: { field } });
}
