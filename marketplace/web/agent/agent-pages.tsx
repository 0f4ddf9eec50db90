/** @jsxRuntime automatic @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { networkOf } from "../../../shared/networks.ts";
import { highlighted } from "../../../shared/page/highlight.tsx";
import { readDailyFigures } from "../../agents/daily-figures.ts";
import { type DescribeNeeds, readFrom } from "../../agents/detail.ts";
import { type ListedAgent, listAgents } from "../../agents/list.ts";
import { listQuery } from "../../agents/list-query.ts";
import { publicVersions } from "../../agents/public-versions.ts";
import type { Config } from "../../config.ts";
import { proofState } from "../../proof/ledger-proof.ts";
import { readQuery } from "../../query.ts";
import { readExamples } from "../../runs/agent-examples.ts";
import { demoWalletPath } from "../demo-wallet.ts";
import { creditsOf, usdcOf } from "../money.tsx";
import type { Page, Shown, View, Visit } from "../page.ts";
import { agentPicture } from "../share-picture/picture-of.ts";
import { seenAnew, type ViewerNeeds } from "../viewer.ts";
import { offerWalletConnect } from "../wallet-connect.tsx";
import { AboutTab } from "./about-tab.tsx";
import { ApiTab } from "./api-tab.tsx";
import { coloured } from "./code-tabs.tsx";
import { AgentPage, type AgentTab } from "./header.tsx";
import { agentJsonLd } from "./json-ld.ts";
import { mcpSnippets } from "./mcp-clients.ts";
import { McpTab } from "./mcp-tab.tsx";
import { freshForm, type PostedRunNeeds, runPosted } from "./posted-run.ts";
import { type ShownAgent, showAgent } from "./shown-agent.ts";
import { keySnippets, perCallSnippets } from "./snippets.ts";
import type { Tried } from "./tried.ts";
import { TryTab } from "./try-tab.tsx";

/** The pages of one agent: try it, call it from code, add it to an MCP client, and what there is to know. */
export function agentPages(context: TryNeeds): Page[] {
  return [tryPage(context), apiPage(context), mcpPage(context), aboutPage(context)];
}

const scriptBytesMax = 25_600;
const formBytesMax = 2_097_152;

type TryNeeds = DescribeNeeds &
  PostedRunNeeds &
  Pick<ViewerNeeds, "lookups"> & {
    readonly config: Pick<Config, "publicUrl" | "demoWalletScript" | "walletConnect" | "chains">;
  };

function tryPage(context: TryNeeds): Page {
  return {
    path: "/{handle}/{slug}",
    scriptBytesMax,
    show: async (visit) => {
      const shown = await shownAt(context, visit);
      return movedTo(shown, visit, "") ?? tryView(context, visit, shown, await freshForm(context, shown, visit));
    },
    submit: {
      bytesMax: formBytesMax,
      take: async (visit, form) => {
        const shown = await shownAt(context, visit);
        const state = await runPosted(context, shown, visit, form);
        return tryView(context, { ...visit, viewer: await seenAnew(context, visit.viewer) }, shown, state);
      },
    },
  };
}

type FormState = Omit<
  Tried,
  "shown" | "viewer" | "explorer" | "examples" | "related" | "snippets" | "publicUrl" | "demoWallet"
>;

async function tryView(
  context: TryNeeds,
  { viewer, read }: Pick<Visit, "viewer" | "read">,
  shown: ShownAgent,
  state: FormState,
): Promise<View> {
  const { publicUrl, demoWalletScript, chains } = context.config;
  const outside = offerWalletConnect(context.config, payableNetworks(shown));
  const tried: Tried = {
    ...state,
    shown,
    viewer,
    publicUrl,
    explorer: shown.detail.output_kind === "receipt" ? networkOf(chains.hedera?.network ?? "")?.explorer : undefined,
    examples: await read((db) => readExamples(db, shown.agent.id)),
    related: await relatedTo(context, read, shown),
    snippets: await coloured(perCallSnippets({ origin: publicUrl, detail: shown.detail })),
    demoWallet: demoWalletScript === undefined ? undefined : demoWalletPath,
  };
  return {
    ...viewOf(
      shown,
      "try",
      viewer,
      <>
        <TryTab tried={tried} />
        {outside.dialog}
      </>,
    ),
    widening: outside.widening,
    islands: ["agent.js"],
    jsonLd: agentJsonLd(shown.detail),
  };
}

/** Where a wallet can pay for a run. */
function payableNetworks({ detail }: ShownAgent): readonly string[] {
  return detail.price_credits === 0 ? [] : (detail.per_call?.networks ?? []);
}

/** The agents of its category that are run most. */
async function relatedTo(
  { config: { publicUrl } }: TryNeeds,
  read: Visit["read"],
  { detail }: ShownAgent,
): Promise<readonly ListedAgent[]> {
  const asked = readQuery(listQuery, { category: detail.category, sort: "most_run", limit: String(relatedMax + 1) });
  const { agents } = await read((db) => listAgents({ db, publicUrl }, asked));
  return agents.filter(({ agent }) => agent !== detail.agent).slice(0, relatedMax);
}

const relatedMax = 3;

function apiPage(context: DescribeNeeds): Page {
  return {
    path: "/{handle}/{slug}/api",
    scriptBytesMax,
    show: async (visit) => {
      const shown = await shownAt(context, visit);
      const called = { origin: context.config.publicUrl, detail: shown.detail };
      const [key, perCall, schema] = await Promise.all([
        coloured(keySnippets(called)),
        coloured(perCallSnippets(called)),
        highlighted(JSON.stringify(shown.detail.input_schema, undefined, 2), "json"),
      ]);
      const body = <ApiTab shown={shown} keySnippets={key} perCallSnippets={perCall} schema={schema} />;
      return (
        movedTo(shown, visit, "/api") ?? { ...viewOf(shown, "api", visit.viewer, body), islands: ["agent-code.js"] }
      );
    },
  };
}

function mcpPage(context: DescribeNeeds): Page {
  return {
    path: "/{handle}/{slug}/mcp",
    scriptBytesMax,
    show: async (visit) => {
      const shown = await shownAt(context, visit);
      const { publicUrl } = context.config;
      const snippets = await coloured(mcpSnippets(publicUrl, shown.detail.per_call !== null));
      const body = <McpTab shown={shown} publicUrl={publicUrl} snippets={snippets} />;
      return (
        movedTo(shown, visit, "/mcp") ?? { ...viewOf(shown, "mcp", visit.viewer, body), islands: ["agent-code.js"] }
      );
    },
  };
}

function aboutPage(context: DescribeNeeds): Page {
  return {
    path: "/{handle}/{slug}/about",
    scriptBytesMax,
    show: async (visit) => {
      const shown = await shownAt(context, visit);
      const { id, liveVersion, ownerId } = shown.agent;
      const [versions, days, proof] = await visit.read((db) =>
        Promise.all([publicVersions(db, id, liveVersion), readDailyFigures(db, id), proofState(db, ownerId)]),
      );
      const showsProof = proof.since !== undefined;
      const body = <AboutTab shown={shown} versions={versions} days={days} showsProof={showsProof} />;
      return movedTo(shown, visit, "/about") ?? viewOf(shown, "about", visit.viewer, body);
    },
  };
}

function shownAt(context: DescribeNeeds, { params, read }: Visit): Promise<ShownAgent> {
  return read((db) => showAgent(readFrom(db, context), `${params.handle}/${params.slug}`));
}

/** An agent has one address: another spelling, or a handle that its creator had before, leads there. */
function movedTo({ detail }: ShownAgent, { path }: Visit, tab: string): Shown | undefined {
  const own = `/${detail.agent}${tab}`;
  return path === own ? undefined : { redirect: own };
}

const titles: Readonly<Record<AgentTab, string>> = {
  try: "",
  api: " over the API",
  mcp: " over MCP",
  about: ": about it",
};

function viewOf(shown: ShownAgent, tab: AgentTab, viewer: Visit["viewer"], children: ComponentChildren): View {
  const { detail, handle } = shown;
  const price = detail.price_credits;
  const cost = price === 0 ? "free" : `${creditsOf(price)} = ${usdcOf(price)} a run`;
  return {
    title: `${detail.name} by ${handle}${titles[tab]}`,
    description: `${detail.description} ${cost.charAt(0).toUpperCase()}${cost.slice(1)}.`.slice(0, 300),
    canonical: `/${detail.agent}${tab === "try" ? "" : `/${tab}`}`,
    picture: agentPicture(detail.agent, detail.name),
    // The form to try it has a name of its own for each visitor.
    isPublic: tab !== "try",
    alternates: [{ type: "text/markdown", href: `/${detail.agent}.md` }],
    body: (
      <AgentPage shown={shown} tab={tab} viewer={viewer}>
        {children}
      </AgentPage>
    ),
  };
}
