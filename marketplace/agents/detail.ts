import { connectorNames, type OutputKind } from "../connectors/connector.ts";
import type { Context } from "../context.ts";
import { priceInDollars } from "../credits/amount.ts";
import type { Field, FieldType, Value } from "./contract.ts";
import { findLiveAgent } from "./find.ts";
import type { ListedAgent } from "./list.ts";

/** What a buyer may know about a live agent: its input contract, its price and where it can be called. 404 otherwise. */
export async function describeAgent(context: Needs, address: string): Promise<AgentDetail> {
  const agent = await findLiveAgent(context, address);
  const { version } = agent;
  const { publicUrl } = context.config;
  const wallets = version.priceCredits > 0n ? agent.wallets : [];
  const perCall = {
    url: `${publicUrl}/api/agent/${agent.address}`,
    price_usd: priceInDollars(version.priceCredits),
    networks: wallets.map(({ network }) => network),
  };
  return {
    agent: agent.address,
    name: version.name,
    description: version.description,
    connector: version.connector,
    connector_name: connectorNames[version.connector],
    price_credits: Number(version.priceCredits),
    created_at: agent.createdAt.toISOString(),
    inputs: version.contract.fields.map(describeField),
    input_schema: version.contract.jsonSchema,
    accepts_extra_instructions: version.contract.acceptsExtraInstructions,
    output_kind: version.outputKind,
    // A free agent answers there without a payment, so it needs no wallet.
    per_call: !version.needsAccount && (version.priceCredits === 0n || wallets.length > 0) ? perCall : null,
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
  readonly per_call: { readonly url: string; readonly price_usd: number; readonly networks: readonly string[] } | null;
  readonly mcp_tool: string;
  readonly page_url: string;
  readonly updated_at: string;
}

type Needs = Pick<Context, "lookups" | "versions" | "config">;

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
