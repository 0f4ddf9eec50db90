import { type DescribeNeeds, describeAgent } from "../../agents/detail.ts";
import { agentPathParameters } from "../../agents/shapes.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { refusals } from "../../http/refusals.ts";
import { agentMarkdown } from "./markdown.ts";

/** The twin of an agent's page that language models read. */
export function agentMarkdownEndpoint(needs: DescribeNeeds): Endpoint {
  return {
    method: "get",
    path: "/{handle}/{slug}.md",
    id: "getAgentMarkdown",
    tag: "Agents",
    summary: "An agent's page as Markdown.",
    description: "Answers what the agent's page says, with a program that runs it, for readers without a browser.",
    access: "public",
    pathParameters: agentPathParameters,
    answers: { 200: { content: ["text/markdown"] }, ...refusals(404) },
    handler: async (request, response) => {
      const { handle, slug } = request.params;
      const detail = await describeAgent(needs, `${handle}/${slug}`);
      response.type("text/markdown; charset=utf-8").send(agentMarkdown(detail, needs.config.publicUrl));
    },
  };
}
