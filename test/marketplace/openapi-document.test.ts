import { Ajv2020 } from "ajv/dist/2020.js";
import request from "supertest";
import { describe, expect, vi } from "vitest";
import { z } from "zod";
import { connectorIds } from "../../marketplace/connectors/connector.ts";
import { marketplaceEndpoints } from "../../marketplace/endpoints.ts";
import { createServer } from "../../marketplace/server.ts";
import { connect } from "../../shared/postgres.ts";
import { contractOf } from "../support/contract.ts";
import { appTest } from "../support/fixtures.ts";
import { lintDocument } from "../support/lint-document.ts";
import { perFile } from "../support/part.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

const test = appTest().extend("document", perFile, async ({ app }): Promise<Json> => {
  return (await request(app).get("/api/v1/openapi.json")).body;
});

describe("GET /api/v1/openapi.json", () => {
  test("is OpenAPI 3.1, needs no key and is kept by its ETag", async ({ app }) => {
    const { headers, body } = await request(app).get("/api/v1/openapi.json").expect(200);
    expect(body.openapi).toBe("3.1.0");
    await request(app).get("/api/v1/openapi.json").set("if-none-match", headers.etag!).expect(304);
  });

  test("and what is made from it are written once, and sent compressed, with a tag by which they are not sent again", async ({
    app,
  }) => {
    const paths = ["/openapi.json", "/api/v1/openapi.json", "/llms.txt", "/llms-full.txt", "/docs/api.md", "/docs.md"];
    const askedFor = async () => {
      for (const path of paths) {
        const { headers } = await request(app).get(path).set("accept-encoding", "gzip").expect(200);
        expect(headers, path).toMatchObject({
          "content-encoding": "gzip",
          vary: expect.stringMatching(/accept-encoding/i),
        });
        await request(app).get(path).set("if-none-match", headers.etag!).expect(304);
      }
    };
    await askedFor();
    const written = vi.spyOn(JSON, "stringify");
    await askedFor();
    const documents = written.mock.calls.filter(([value]) => value?.openapi !== undefined);
    written.mockRestore();
    expect(documents).toEqual([]);
  });

  test("holds schemas that compile, references that lead somewhere and operations told apart", ({ document }) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "document", ...document });
    for (const [name, schema] of Object.entries<Json>(document.components.schemas)) {
      expect(ajv.validateSchema(schema), name).toBe(true);
      expect(() => ajv.compile({ $ref: `document#/components/schemas/${name}` }), name).not.toThrow();
    }
    for (const [reference] of JSON.stringify(document).matchAll(/#\/components\/schemas\/\w+/g)) {
      expect(document.components.schemas).toHaveProperty(reference.split("/").at(-1)!);
    }
    const operations = Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  test("declares Retry-After on every 503, and probes send it, too", async ({ context, document }) => {
    const db = connect("postgres://nobody@127.0.0.1:1/none", { poolMax: 1, applicationName: "test" });
    const app = createServer({ ...context, db });
    for (const path of ["/health", "/readyz"]) {
      expect(document.paths[path].get.responses[503].headers).toHaveProperty("Retry-After");
      await request(app)
        .get(path)
        .expect(503)
        .expect("retry-after", /^[1-9]\d*$/);
    }
  });

  test("has nothing that a linter minds, names every request body and types every connector's settings", async ({
    document,
  }) => {
    expect(await lintDocument(document)).toEqual([]);
    for (const methods of Object.values<Json>(document.paths)) {
      for (const { requestBody, operationId } of Object.values<Json>(methods)) {
        const [content] = Object.values<Json>(requestBody?.content ?? {});
        if (content)
          expect(content.schema, operationId).toMatchObject({
            $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/),
          });
      }
    }
    const { schemas } = document.components;
    expect(schemas.AgentDefinition.oneOf).toHaveLength(connectorIds.length);
    for (const { $ref } of schemas.AgentDefinition.oneOf) {
      const { connector, settings } = schemas[$ref.split("/").at(-1)].properties;
      expect(connectorIds).toContain(connector.const);
      const { properties } = schemas[settings.$ref.split("/").at(-1)];
      for (const [name, property] of Object.entries<Json>(properties)) {
        expect(property.description, `${connector.const} ${name}`).toMatch(/^[A-Z].*\.$/);
      }
    }
  });

  test("describes every route that is served, and no other", ({ app, document }) => {
    const served = (app as Json).router.stack.flatMap(({ route }: Json) =>
      route
        ? route.stack.flatMap(({ method }: Json) =>
            method ? [`${method} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}`] : [],
          )
        : [],
    );
    const described = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect([...new Set(served)].toSorted()).toEqual(described.toSorted());
  });

  test("gives every operation a name for code, a chapter, a summary, a description and its way to be let in", ({
    context,
    document,
  }) => {
    const chapters = document.tags.map(({ name }: Json) => name);
    for (const { id } of marketplaceEndpoints(context)) {
      const operation = operationNamed(document, id);
      expect(id).toMatch(/^[a-z][a-zA-Z]+$/);
      expect(operation.tags, id).toEqual([expect.toBeOneOf(chapters)]);
      for (const text of [operation.summary, operation.description]) expect(text, id).toMatch(/^[^a-z].*\.$/s);
      expect(operation.security, id).toBeInstanceOf(Array);
    }
  });

  test("shows an example of every request body and of every answer in JSON, each as its schema says", ({
    context,
    document,
  }) => {
    for (const { id, body, answers } of marketplaceEndpoints(context)) {
      if (body) expect(body.shape.safeParse(body.example), id).toMatchObject({ success: true });
      for (const [status, { content, example }] of Object.entries(answers)) {
        if (!(content instanceof z.ZodType)) continue;
        expect(content.safeParse(example), `${id} ${status}`).toMatchObject({ success: true });
      }
    }
    const contract = contractOf(document);
    for (const [path, methods] of Object.entries<Json>(document.paths)) {
      for (const [method, { responses }] of Object.entries<Json>(methods)) {
        for (const [status, { content }] of Object.entries<Json>(responses)) {
          const type = "application/json";
          if (!content?.[type]) continue;
          contract.check({ method, path, status: Number(status), type, text: JSON.stringify(content[type].example) });
        }
      }
    }
  });

  test("says nothing of a recipe", ({ document }) => {
    expect(JSON.stringify(document)).not.toContain("settings:");
  });
});

function operationNamed(document: Json, id: string): Json {
  const operations = Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods));
  return operations.find(({ operationId }) => operationId === id);
}

test("GET /llms.txt says in plain text how to run an agent and names every address", async ({ app, document }) => {
  const { headers, text } = await request(app).get("/llms.txt").expect(200);
  expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(text).toMatch(/^# /);
  for (const path of Object.keys(document.paths)) expect(text).toContain(path);
});
