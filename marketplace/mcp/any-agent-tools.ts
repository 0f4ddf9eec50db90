import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { parseAddress } from "../agent-address.ts";
import { findShownAgent } from "../agents/find.ts";
import { addressOfTool, agentInScope, type ScopedAgent } from "../agents/scope.ts";
import { creditWorth } from "../answers/amounts.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { parse } from "../parse.ts";
import { type RunNeeds, runAgent } from "../runs/run.ts";
import { asTool } from "./agent-tool.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { schemaOf } from "./json-schema.ts";
import { adviceOutOfScope, undefinedIfGone } from "./out-of-scope.ts";
import { runResult, structured } from "./results.ts";

/*
 * What a key that lists no agents describes and runs each of them by: a model reads the schema of those that it is about to
 * run, and of no others.
 */

const agent = z.string().max(200).describe("As agents_search names it: handle/slug.");

/** What an agent takes and costs. */
export function describeTool(needs: AnyAgentNeeds): BuiltInTool {
  const input = z.object({ agent });
  return {
    tool: {
      name: "agent_describe",
      title: "Describe an agent",
      description: "What an agent does, takes and costs. Free. Ask before agent_run.",
      inputSchema: schemaOf(input),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    isFor: findsAgents,
    call: async ({ caller, input: given }) => {
      const { agent: name } = parse(input, given, "bad_request");
      const { tool, address } = await chosen(needs, caller, name);
      const found = await findShownAgent(needs, address).catch(undefinedIfGone);
      if (!found) throw notUsable(name);
      const { title, description, inputSchema, annotations, _meta } = asTool(tool, found);
      const told = {
        agent: address,
        name: title,
        description,
        ..._meta,
        can_be_undone: annotations?.destructiveHint !== true,
        input_schema: inputSchema,
      };
      return { ...structured(told), _meta: { credits_used: 0 } };
    },
  };
}

/** Runs any agent in the key's scope, as its own tool would. */
export function runTool(needs: AnyAgentNeeds): BuiltInTool {
  const input = z.object({
    agent,
    input: z.record(z.string(), z.unknown()).default({}).describe("As its input schema says."),
    max_credits: z.int().min(0).optional().describe("Refused, for nothing, when it costs more."),
  });
  return {
    tool: {
      name: "agent_run",
      title: "Run an agent",
      description: `Runs an agent for its price in credits (${creditWorth}). A run that fails costs nothing.`,
      inputSchema: schemaOf(input),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    isFor: findsAgents,
    call: async ({ caller, input: given, maxCredits = Infinity, idempotencyKey }) => {
      const asked = parse(input, given, "bad_request");
      const { address } = await chosen(needs, caller, asked.agent);
      const most = Math.min(maxCredits, asked.max_credits ?? Infinity);
      const run = {
        agent: address,
        input: asked.input,
        maxCredits: most === Infinity ? undefined : most,
        idempotencyKey,
      };
      return runResult(await runAgent(needs, caller, run));
    },
  };
}

export interface AnyAgentNeeds extends RunNeeds {}

/** A key whose list of tools names no agents, and whose scope holds some. */
export function findsAgents({ key }: Caller): boolean {
  return key.tools === "search" && key.scope !== "rest_only";
}

async function chosen(needs: AnyAgentNeeds, caller: Caller, name: string): Promise<ScopedAgent> {
  const found = await agentInScope(needs.db, caller, name);
  if (found) return found;
  const address = parseAddress(name) ?? (await addressOfTool(needs.db, name));
  throw notUsable(name, await adviceOutOfScope(needs, caller, address));
}

function notUsable(name: string, advice?: string): ApiError {
  const message = `"agent" ${JSON.stringify(name.slice(0, 64))} is none that this key can use; agents_search finds those it can.`;
  const told = advice === undefined ? message : `${message} ${advice}`;
  return new ApiError("bad_request", told, { body: { field: "agent" } });
}
