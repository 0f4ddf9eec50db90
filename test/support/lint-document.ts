import { createConfig, lintFromString } from "@redocly/openapi-core";

/** What Redocly's recommended rules find wrong with an OpenAPI document, warnings included. */
export async function lintDocument(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "/openapi.json", config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ""}`);
}
