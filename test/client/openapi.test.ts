import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import request from "supertest";
import { expect } from "vitest";
import { appTest } from "../support/fixtures.ts";

const test = appTest();

/** The operations that the client calls. */
const called = new Set([
  "runAgent",
  "listRuns",
  "getRun",
  "listAgents",
  "getAgent",
  "getBalance",
  "vectorize",
  "generateSvg",
  "payAgent",
  "payVectorize",
  "payGenerateSvg",
  "payGenerateSvgHd",
  "purchaseCredits",
  "getPaymentProgress",
  "listApiKeys",
  "createApiKey",
  "changeApiKey",
  "revokeApiKey",
  "listApiKeyCalls",
  "listFiles",
  "hideFile",
  "showFile",
  "deleteFile",
]);

test("the client's types are those of the service's OpenAPI document; `vitest -u` writes them anew", async ({
  app,
}) => {
  const { body: document } = await request(app).get("/api/v1/openapi.json");
  const paths: Record<string, object> = {};
  for (const [path, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
    const own = Object.entries(operations).filter(([, { operationId }]) => called.delete(operationId));
    if (own.length > 0) paths[path] = Object.fromEntries(own.map(([method, operation]) => [method, asRead(operation)]));
  }
  expect([...called]).toEqual([]);
  await expect(await typesOf(withSchemasOf({ ...document, paths }))).toMatchFileSnapshot("../../client/openapi.ts");
});

interface Operation {
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<{ readonly in: string }>;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

/** Without what no type is made of: refusals are errors, and headers are sent by the client itself. */
function asRead({ parameters = [], responses, ...operation }: Operation): object {
  const answers = Object.entries(responses).filter(([status]) => status < "300");
  const content = answers.map(([status, answer]) => [status, { description: "", content: answer.content }]);
  return {
    ...operation,
    parameters: parameters.filter((parameter) => parameter.in !== "header"),
    responses: Object.fromEntries(content),
  };
}

/** The document with the schemas that are referred to, and no others. */
function withSchemasOf(document: { paths: object; components: { schemas: Record<string, object> } }): object {
  const schemas: Record<string, object> = {};
  const add = (part: object) => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (schemas[name]) continue;
      schemas[name] = document.components.schemas[name]!;
      add(schemas[name]);
    }
  };
  add(document.paths);
  return { ...document, components: { schemas } };
}

/** By openapi-typescript, which brings the compiler that it needs; both are the client's own. */
async function typesOf(document: object): Promise<string> {
  const own = createRequire(fileURLToPath(new URL("../../client/package.json", import.meta.url)));
  const { default: openapiTS, astToString } = await import(pathToFileURL(own.resolve("openapi-typescript")).href);
  const written: string = astToString(await openapiTS(document, { defaultNonNullable: false, immutable: true }));
  return `// Written from the service's OpenAPI document by test/client/openapi.test.ts.\n\n${written}`;
}
