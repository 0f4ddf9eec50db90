import { ApiError } from "../../shared/errors.ts";
import { type FindNeeds, findShownAgent } from "../agents/find.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import type { RefusedCalls } from "../api-keys/refused-calls.ts";

interface ScopeNeeds extends FindNeeds {
  readonly refusedCalls: RefusedCalls;
}

/**
 * The advice for a key that names a live agent outside of its scope; undefined for an agent that is not live for every buyer,
 * so that the advice tells nothing that is not public. `address` is `handle/slug`.
 */
export async function adviceOutOfScope(
  needs: ScopeNeeds,
  caller: Caller,
  address: string | undefined,
): Promise<string | undefined> {
  const agent = address === undefined ? undefined : await findShownAgent(needs, address).catch(undefinedIfGone);
  if (!agent) return undefined;
  needs.refusedCalls.note(caller.key.id, "scope", agent.address);
  return (
    `${agent.address} is live, but outside the scope of this key (${caller.key.scope}). ` +
    `${toChange(caller)} \`scope\` "chosen_agents", with "${agent.address}" among \`agents\`. Over REST the key runs it as it is: ` +
    "POST /api/v1/run."
  );
}

/** What a key is told whose search found nothing. */
export function adviceOnNothing(caller: Caller): string {
  return (
    `Only the agents in this key's scope (${caller.key.scope}) are searched; GET /api/v1/agents lists all that are live. ` +
    `${toChange(caller)} \`scope\` "chosen_agents", and in \`agents\` each "handle/slug" that it is to see.`
  );
}

const toChange = ({ key }: Caller) => `Its owner changes that signed in, by PATCH /api/account/keys/${key.id}:`;

/** Of a look-up that found no agent. */
export function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
}
