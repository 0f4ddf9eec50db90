import type { Database } from "../../shared/postgres.ts";
import type { Config } from "../config.ts";
import type { OutputKind } from "../connectors/result.ts";
import type { FieldType, Value } from "../input.ts";
import type { Field } from "./contract.ts";
import { readFigures } from "./figures.ts";
import { type FindNeeds, findAgents, findShownAgent, type LiveAgent } from "./find.ts";
import { type ListedAgent, listedAgent } from "./list.ts";
import { perCallOf } from "./per-call.ts";

/** What a buyer may know about a live agent: its input contract, its price and where it can be called. 404 as of findShownAgent. */
export async function describeAgent(context: DescribeNeeds, address: string): Promise<AgentDetail> {
  return describeFound(context, await findShownAgent(context, address));
}

/** Describes an agent that was found already. */
export async function describeFound(
  context: Pick<DescribeNeeds, "db" | "config">,
  agent: LiveAgent,
): Promise<AgentDetail> {
  const { version } = agent;
  const { publicUrl } = context.config;
  const wallets = version.priceCredits > 0n ? agent.wallets : [];
  const networks = wallets.map(({ network }) => network);
  const perCall = perCallOf(publicUrl, agent.address, version.priceCredits, networks);
  return {
    ...listedAgent(version, {
      agent: agent.address,
      price_credits: Number(version.priceCredits),
      // A free agent answers there without a payment, so it needs no wallet.
      per_call: !version.needsAccount && (version.priceCredits === 0n || wallets.length > 0) ? perCall : null,
      figures: await readFigures(context.db, agent.id),
      created_at: agent.createdAt.toISOString(),
    }),
    inputs: version.contract.fields.map(describeField),
    input_schema: version.contract.jsonSchema,
    accepts_extra_instructions: version.contract.acceptsExtraInstructions,
    output_kind: version.outputKind,
    mcp_tool: agent.toolName,
    page_url: `${publicUrl}/${agent.address}`,
    updated_at: agent.updatedAt.toISOString(),
  };
}

export interface AgentDetail extends ListedAgent {
  readonly inputs: readonly DescribedField[];
  readonly input_schema: object;
  readonly accepts_extra_instructions: boolean;
  readonly output_kind: OutputKind;
  readonly mcp_tool: string;
  readonly page_url: string;
  readonly updated_at: string;
}

/** The needs with all reads from `db`, which may be a replica; versions never change, and are kept. */
export function readFrom<Needs extends DescribeNeeds>(db: Database, needs: Needs): Needs {
  if (db === needs.db) return needs;
  return { ...needs, db, lookups: { agent: async (address: string) => (await findAgents(db, [address]))[0] } };
}

export interface DescribeNeeds extends FindNeeds {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
}

/** Every field has the same keys, so that a form can be built without asking which are there. */
export interface DescribedField {
  readonly name: string;
  readonly label: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly default: Value | null;
  readonly description: string | null;
  readonly max_length: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly choices: readonly string[] | null;
  readonly pattern: string | null;
  readonly example: Value | null;
}

function describeField(field: Field): DescribedField {
  return {
    name: field.name,
    label: field.label ?? field.name,
    type: field.type,
    required: field.required,
    default: field.default ?? null,
    description: field.description ?? null,
    max_length: field.max_length ?? null,
    min: field.min ?? null,
    max: field.max ?? null,
    choices: field.choices ?? null,
    pattern: field.pattern ?? null,
    example: field.example ?? null,
  };
}
