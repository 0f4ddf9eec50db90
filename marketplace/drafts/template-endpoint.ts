import { jsonAnswer } from "../../shared/endpoint.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { templatesShape } from "./shapes.ts";
import { listTemplates, type StartNeeds, templateChains } from "./start-draft.ts";

export const exampleDefinition = {
  name: "Summarizer",
  description: "The gist of a text in one sentence.",
  connector: "llm" as const,
  price_credits: 5,
  fields: [{ name: "text", type: "text", required: true }],
  settings: { prompt: "Sum up: {{text}}" },
};

/** What creators start from. */
export function templatesEndpoint({ tools }: Pick<StartNeeds, "tools">): Endpoint {
  return {
    method: "get",
    path: "/api/account/agent-templates",
    id: "listAgentTemplates",
    tag: "Publishing",
    summary: "Every connector, with an agent on it to start from.",
    description: "A template can be published as it is, except for what `brings` names.",
    access: "account",
    answers: {
      200: jsonAnswer(templatesShape, {
        templates: [
          {
            connector: "llm",
            connector_name: "Language model",
            kind: "models",
            does: "A prompt template that a language model answers.",
            brings: null,
            cannot_be_undone: false,
            definition: exampleDefinition,
          },
        ],
      }),
    },
    handler: (_request, response) => {
      const templates = listTemplates(templateChains(tools)).map(
        ({ connector: { id, guide, permanent }, name, brings, template }) => ({
          connector: id,
          connector_name: name,
          kind: guide.kind,
          does: guide.does,
          brings: brings ?? null,
          cannot_be_undone: permanent,
          definition: { ...template, connector: id },
        }),
      );
      response.json({ templates });
    },
  };
}
