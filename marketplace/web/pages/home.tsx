/** @jsxRuntime automatic @jsxImportSource preact */

import { ApiError } from "../../../shared/errors.ts";
import type { Reads } from "../../../shared/reads.ts";
import { type AgentDetail, readFrom } from "../../agents/detail.ts";
import { listAgents } from "../../agents/list.ts";
import { type ListQuery, listQuery } from "../../agents/list-query.ts";
import { siteName } from "../brand.tsx";
import { AgentsSection } from "../home/agents.tsx";
import { BuildSection } from "../home/build.tsx";
import { type HomeFigures, homeFigures } from "../home/figures.ts";
import { Hero } from "../home/hero.tsx";
import { SettledSection } from "../home/settled.tsx";
import { SvgSection } from "../home/svg.tsx";
import { Today } from "../home/today.tsx";
import { agentToTry, type Tried, TryCard, type TryNeeds, tryAgent } from "../home/try.tsx";
import { exampleCalls, WaysSection } from "../home/ways.tsx";
import type { Page, View, Visit } from "../page.ts";

export interface HomeNeeds extends TryNeeds {
  readonly reads: Reads;
}

/** What this is, in one glance, one live thing to try, and what happened here today. */
export function homePage(needs: HomeNeeds): Page {
  const figures = homeFigures(needs.reads);
  return {
    path: "/",
    scriptBytesMax: 4_096,
    show: async (visit) =>
      viewOf(needs, visit, await visit.read((db) => agentToTry(readFrom(db, needs))), await figures()),
    submit: {
      bytesMax: 65_536,
      take: async (visit, form) => {
        const agent = await agentToTry(needs);
        if (!agent) throw new ApiError("not_found", "There is nothing to try here.");
        const tried = await tryAgent(needs, agent, visit.request.ip ?? "", form);
        return { ...(await viewOf(needs, visit, agent, await figures(), tried)), status: tried.status };
      },
    },
  };
}

async function viewOf(
  { config: { publicUrl } }: HomeNeeds,
  { assets, has, read }: Pick<Visit, "assets" | "has" | "read">,
  agent: AgentDetail | undefined,
  today: HomeFigures | undefined,
  tried?: Tried,
): Promise<View> {
  const { agents, total } = await read((db) => listAgents({ db, publicUrl }, mostRun));
  const calls = await exampleCalls(publicUrl, agents[0]?.agent);
  return {
    title: siteName,
    description: "Run paid agents by API key, over MCP, or with no account by paying each call in USDC.",
    isPublic: tried === undefined,
    islands: ["compare.js"],
    body: (
      <>
        <Hero agents={agents.slice(0, 3)} live={agent && <TryCard agent={agent} tried={tried} />} />
        {today && <Today figures={today} />}
        <WaysSection calls={calls} />
        {agents.length > 0 && <AgentsSection agents={agents} total={total} />}
        <SvgSection assets={assets} />
        <SettledSection latest={today?.latest ?? []} />
        <BuildSection canBuild={has("/build")} />
      </>
    ),
  };
}

const mostRun: ListQuery = listQuery.parse({ sort: "most_run", limit: "6" });
