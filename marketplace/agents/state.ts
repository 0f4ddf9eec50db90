import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";

/**
 * draft → live ↔ unpublished by the creator; live | unpublished → suspended → back by the operator alone. What a closed account
 * published comes back to the market never more.
 */
const moves = {
  unpublish: "state = 'unpublished' where state = 'live'",
  suspend: "state = 'suspended', suspended_from = state where state in ('live', 'unpublished')",
  restore: `state = case when exists (select from accounts o where o.id = agents.account_id and o.state = 'closed')
      then 'unpublished' else suspended_from end, suspended_from = null where state = 'suspended'`,
} as const;

export type Move = keyof typeof moves;
export const agentMoves = Object.keys(moves) as Move[];
export const isAgentMove = (word: string): word is Move => Object.hasOwn(moves, word);

/** Moves an agent to another state; 409 when it is not in a state from which that is possible, or is not there. */
export async function moveAgent(db: Queryable, address: string, move: Move): Promise<{ agent: string; state: string }> {
  const { rows } = await db.query(
    `update agents set updated_at = now(), ${moves[move]} and lower(handle || '/' || slug) = lower($1)
     returning handle || '/' || slug as agent, state`,
    [address],
  );
  if (rows[0]) return rows[0];
  throw new ApiError("conflict", `There is no agent "${address}" that could be ${pastOf[move]}.`);
}

const pastOf = { unpublish: "unpublished", suspend: "suspended", restore: "restored" } as const;
