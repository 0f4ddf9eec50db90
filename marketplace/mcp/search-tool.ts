import { z } from "zod";
import type { Queryable } from "../../shared/postgres.ts";
import { searchScope } from "../agents/search-scope.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { parse } from "../parse.ts";
import { searchText } from "../query.ts";
import { findsAgents } from "./any-agent-tools.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { schemaOf } from "./json-schema.ts";
import { adviceOnNothing } from "./out-of-scope.ts";
import { structured } from "./results.ts";

const input = z.object({
  query: searchText(200)
    .default("")
    .meta({
      type: "string",
      description:
        "What the agent should do, in a few words: inflected, begun or misspelt ones are understood, and when no agent has them all, those " +
        "with most of them are found. Without any, all agents.",
    }),
  limit: z.int().min(1).max(50).default(20),
});

const output = z.object({
  agents: z.array(
    z.object({
      tool: z.string().describe("The tool that runs it."),
      agent: z.string(),
      name: z.string(),
      description: z.string(),
      price_credits: z.int(),
    }),
  ),
  hint: z.string().optional().describe("Where none was found: which agents are searched, and how that is changed."),
});

/** For models that are not shown every tool: finds those of the key's own scope. */
export function searchTool({ db }: SearchNeeds): BuiltInTool {
  return {
    tool: {
      name: "agents_search",
      title: "Search agents",
      description:
        "Finds the agents that this key can use as tools, by words of their name, description, tags or creator. Free.",
      inputSchema: schemaOf(input),
      outputSchema: schemaOf(output),
      annotations: { title: "Search agents", readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      _meta: { price_credits: 0 },
    },
    isFor: (caller) => caller.key.scope !== "rest_only" && !findsAgents(caller),
    call: async (call) => {
      const { query, limit } = parse(input, call.input, "bad_request");
      const agents = await searchScope(db, call.caller, query, limit);
      return { ...structured({ agents, ...hintOn(agents, call.caller) }), _meta: { credits_used: 0 } };
    },
  };
}

const leanInput = z.object({
  query: searchText(200).default("").meta({ type: "string", description: "What it should do, in a few words." }),
  limit: z.int().min(1).max(50).default(10),
});

/** The search for keys whose agents are no tools: gives each agent's address and the first sentence of its description. */
export function leanSearchTool({ db }: SearchNeeds): BuiltInTool {
  return {
    tool: {
      name: "agents_search",
      title: "Search agents",
      description: "Finds the agents that this key can run, with their prices in credits. Free.",
      inputSchema: schemaOf(leanInput),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    isFor: findsAgents,
    call: async (call) => {
      const { query, limit } = parse(leanInput, call.input, "bad_request");
      const found = await searchScope(db, call.caller, query, limit);
      const agents = found.map(({ agent, name, description, price_credits }) => {
        return { agent, name, description: firstSentence(description), price_credits };
      });
      return { ...structured({ agents, ...hintOn(agents, call.caller) }), _meta: { credits_used: 0 } };
    },
  };
}

const hintOn = (found: readonly object[], caller: Caller) =>
  found.length === 0 ? { hint: adviceOnNothing(caller) } : {};

/** What an agent does stands first; agent_describe tells the rest. */
function firstSentence(text: string): string {
  for (const { segment } of sentences.segment(text)) return segment.trim();
  return text;
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

export interface SearchNeeds {
  readonly db: Queryable;
}
