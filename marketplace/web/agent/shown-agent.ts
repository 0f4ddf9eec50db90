import { type AgentDetail, type DescribeNeeds, describeFound } from "../../agents/detail.ts";
import { type FindNeeds, findLiveAgent, type LiveAgent, noSuchAgent } from "../../agents/find.ts";

/** A live agent as its pages show it. */
export interface ShownAgent {
  readonly agent: LiveAgent;
  readonly detail: AgentDetail;
  readonly handle: string;
  readonly slug: string;
}

/** The live agent at an address. Any other, and all that a suspended creator published, is the same 404 as none at all. */
export async function findShownAgent(needs: FindNeeds, address: string): Promise<LiveAgent> {
  const agent = await findLiveAgent(needs, address);
  if (agent.ownerState !== "open") throw noSuchAgent();
  return agent;
}

/** 404 as of findShownAgent. */
export async function showAgent(context: DescribeNeeds, address: string): Promise<ShownAgent> {
  const agent = await findShownAgent(context, address);
  const detail = await describeFound(context, agent);
  const [handle = "", slug = ""] = detail.agent.split("/");
  return { agent, detail, handle, slug };
}
