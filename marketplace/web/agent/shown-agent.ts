import { type AgentDetail, type DescribeNeeds, describeFound } from "../../agents/detail.ts";
import { findShownAgent, type LiveAgent } from "../../agents/find.ts";

/** A live agent as its pages show it. */
export interface ShownAgent {
  readonly agent: LiveAgent;
  readonly detail: AgentDetail;
  readonly handle: string;
  readonly slug: string;
}

/** 404 as of findShownAgent. */
export async function showAgent(context: DescribeNeeds, address: string): Promise<ShownAgent> {
  const agent = await findShownAgent(context, address);
  const detail = await describeFound(context, agent);
  const [handle = "", slug = ""] = detail.agent.split("/");
  return { agent, detail, handle, slug };
}
