import { ApiError } from "../../shared/errors.ts";
import type { Account } from "../accounts/create.ts";
import { type ConnectorId, connectorNames, type Tools } from "../connectors/connector.ts";
import type { Template, TemplateChains } from "../connectors/guide.ts";
import { type AnyConnector, connectors } from "../connectors/registry.ts";
import { stablecoinOn } from "../stablecoins.ts";
import { type DraftDefinition, type DraftSecrets, draftDefinitionShape } from "./draft-definition.ts";
import { type DraftNeeds, keepDraft } from "./drafts.ts";

/** The chains that templates may name here. */
export function templateChains({ hedera, evm }: Pick<Tools, "hedera" | "evm">): TemplateChains {
  const networks = [...(hedera ? [hedera.network] : []), ...evm.networks];
  return {
    hedera: hedera?.network ?? "hedera:mainnet",
    operator: hedera?.operator?.accountId,
    readable: networks.map((network) => ({ network, usdc: stablecoinOn(network)?.asset })),
  };
}

/** Every connector with the agent that a creator starts from. */
export function listTemplates(chains: TemplateChains): ListedTemplate[] {
  return [...connectors.values()].map((connector) => ({
    connector,
    name: connectorNames[connector.id],
    brings: connector.guide.brings?.(chains),
    template: connector.guide.template(chains),
  }));
}

export interface ListedTemplate {
  readonly connector: AnyConnector;
  readonly name: string;
  readonly brings: string | undefined;
  readonly template: Template;
}

export interface StartNeeds extends DraftNeeds {
  readonly tools: Pick<Tools, "hedera" | "evm">;
}

/** A draft of the connector's template, under a name that is free; its slug. */
export async function startDraft(needs: StartNeeds, owner: Account, connectorId: ConnectorId): Promise<string> {
  const connector = connectors.get(connectorId);
  if (!connector) {
    throw new ApiError("invalid_value", '"connector" cannot be used here.', { body: { field: "connector" } });
  }
  const template = connector.guide.template(templateChains(needs.tools));
  const definition = draftDefinitionShape.parse({ ...template, connector: connectorId });
  const name = template.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return keepUnderFreeName(needs, owner, name, { definition, secrets: {} });
}

/** Keeps text written on a draft that was changed meanwhile as a draft of its own; answers its slug. */
export function keepAsCopy(needs: DraftNeeds, owner: Account, slug: string, written: Written): Promise<string> {
  return keepUnderFreeName(needs, owner, `${slug.slice(0, 40).replace(/-+$/, "")}-mine`, written);
}

interface Written {
  readonly definition: DraftDefinition;
  readonly secrets: DraftSecrets;
}

async function keepUnderFreeName(needs: DraftNeeds, owner: Account, name: string, written: Written): Promise<string> {
  for (let n = 1; n <= namesTried; n += 1) {
    const slug = n === 1 ? name : `${name}-${n}`;
    const kept = await keepDraft(needs, owner, slug, { ...written, revision: "version-0" }).catch(ifTaken);
    if (kept !== undefined) return slug;
  }
  throw new ApiError("conflict", `There are too many drafts called ${name}.`);
}

const namesTried = 50;

function ifTaken(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "conflict" && error.body.field === "revision") return undefined;
  throw error;
}
