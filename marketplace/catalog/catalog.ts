import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import { type AgentRow, type FindNeeds, findAgents, type LiveAgent } from "../agents/find.ts";
import { listAgents } from "../agents/list.ts";
import type { ListQuery } from "../agents/list-query.ts";
import { unlessBroken } from "../agents/unless-broken.ts";
import type { Config } from "../config.ts";
import type { OutputKind } from "../connectors/result.ts";
import { credits, priceInDollars } from "../credits/amount.ts";
import { agentOffer } from "../payments/agent-call.ts";
import type { Offer } from "../payments/quotes/offer.ts";
import { fitting } from "../query.ts";
import { svgOffer } from "../svg/paid.ts";
import { type SvgProduct, svgProducts, svgToolName } from "../svg/products.ts";
import type { CatalogQuery } from "./shapes.ts";

/** Something that is paid with the request that asks for it, and all that such a request takes. */
export interface CatalogItem {
  /** Where it is posted to. */
  readonly url: string;
  /** `handle/slug`; null for what the platform sells itself. */
  readonly agent: string | null;
  /** Its tool on the tool server that asks for no key. */
  readonly mcp_tool: string | null;
  readonly name: string;
  readonly description: string;
  readonly price_usd: number;
  /** CAIP-2. */
  readonly networks: readonly string[];
  readonly output_kind: OutputKind;
  readonly input_schema: object;
  /** A body that satisfies the schema. */
  readonly example: object;
}

export interface Catalog {
  readonly agents: readonly CatalogItem[];
  readonly drawings: readonly CatalogItem[];
  readonly total: number;
  readonly total_exact: boolean;
  readonly limit: number;
  readonly cursor: string | null;
  /** How to pay, in plain text. */
  readonly guide: string;
  readonly facilitator: string;
}

export interface CatalogNeeds extends FindNeeds {
  readonly db: Database;
  readonly log: Log;
  readonly config: Pick<Config, "publicUrl" | "platformWallets" | "facilitatorPublicUrl">;
}

/**
 * A page of the agents that can be called without an account, and the drawings, which are on every page. It ends before `limit` where the
 * agents' inputs are large.
 */
export async function readCatalog(needs: CatalogNeeds, query: CatalogQuery): Promise<Catalog> {
  const { publicUrl, facilitatorPublicUrl: facilitator } = needs.config;
  const asked: ListQuery = { ...query, offset: 0, per_call: true };
  const page = await listAgents({ db: needs.db, publicUrl }, asked);
  const found = await findAgents(
    needs.db,
    page.agents.map(({ agent }) => agent.toLowerCase()),
  );
  const items = await fitting(found, (row) => row && itemUnlessBroken(needs, row));
  const agents = items.filter((item) => item !== undefined);
  const { total, total_exact, limit } = page;
  const shown = items.length;
  const isWhole = shown === found.length;
  const { cursor } = isWhole ? page : await listAgents({ db: needs.db, publicUrl }, { ...asked, limit: shown });
  const drawings = drawingItems(needs);
  return { agents, drawings, total, total_exact, limit, cursor, guide: `${publicUrl}/llms.txt`, facilitator };
}

/** Addresses of all agents that are paid per call, the newest first, at most `agentsMax`. */
export async function paidAddresses({ db, config }: CatalogNeeds, agentsMax: number): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>({
    name: "addresses that are paid per call",
    text: `select handle || '/' || slug as address from listings where per_call and price_credits > 0
           order by created_at desc, agent_id limit $1`,
    values: [agentsMax],
  });
  return [
    ...drawingItems({ config }).map(({ url }) => url),
    ...rows.map(({ address }) => `${config.publicUrl}/api/agent/${address}`),
  ];
}

function itemUnlessBroken(needs: CatalogNeeds, row: AgentRow): Promise<CatalogItem | undefined> {
  const address = `${row.handle}/${row.slug}`;
  return unlessBroken(needs.log, address, async () =>
    agentItem(needs, { ...row, address, version: await needs.versions.load(row.id, row.liveVersion) }),
  );
}

function agentItem({ config }: Pick<CatalogNeeds, "config">, agent: LiveAgent): CatalogItem {
  const { name, outputKind, priceCredits } = agent.version;
  const networks = priceCredits > 0n ? agent.wallets.map(({ network }) => network) : [];
  const of = { agent: agent.address, tool: agent.toolName, name, price: priceCredits, outputKind, networks };
  return itemOf(agentOffer({ config }, agent), of);
}

function drawingItems({ config }: Pick<CatalogNeeds, "config">): CatalogItem[] {
  const networks = config.platformWallets.map(({ network }) => network);
  if (networks.length === 0) return [];
  return (Object.keys(svgProducts) as SvgProduct[]).map((product) => {
    const { name, price } = svgProducts[product];
    return itemOf(svgOffer({ config }, product), {
      agent: null,
      tool: svgToolName(product),
      name,
      price,
      outputKind: "json",
      networks,
    });
  });
}

interface Sold {
  readonly agent: string | null;
  readonly tool: string;
  readonly name: string;
  readonly price: bigint;
  readonly outputKind: OutputKind;
  readonly networks: readonly string[];
}

function itemOf(
  { url, description, input }: Offer,
  { agent, tool, name, price, outputKind, networks }: Sold,
): CatalogItem {
  return {
    url,
    agent,
    mcp_tool: tool,
    name,
    description,
    price_usd: priceInDollars(credits(price)),
    networks,
    output_kind: outputKind,
    input_schema: input.schema,
    example: input.example,
  };
}
