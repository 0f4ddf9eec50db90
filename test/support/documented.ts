import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { facilitatorEndpoints } from "../../facilitator/endpoints.ts";
import { facilitatorDocument } from "../../facilitator/http/openapi.ts";
import type { RunningFacilitator } from "./facilitator.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

/** The same daemon; every answer must be as its own OpenAPI document says, with no field the document does not know. */
export function documented<F extends RunningFacilitator & { readonly context: Context }>(facilitator: F): F {
  const { hot, others } = facilitatorEndpoints(facilitator.context);
  const check = checkerOf(facilitatorDocument([...hot, ...others]));
  return {
    ...facilitator,
    verify: async (body: unknown) => check("post", "/verify", await facilitator.verify(body)),
    settle: async (body: unknown) => check("post", "/settle", await facilitator.settle(body)),
    post: async (path: string, body: unknown) => check("post", path, await facilitator.post(path, body)),
    get: async (path: string) => check("get", path, await facilitator.get(path)),
  };
}

function checkerOf(document: Json) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "document", components: closed(document.components) });
  return <A extends { status: number; body: unknown }>(method: string, path: string, answer: A): A => {
    const pathname = path.split("?")[0] as string;
    const route = pathname.startsWith("/payments/") ? "/payments/{transaction}" : pathname;
    const schema = document.paths[route]?.[method]?.responses[answer.status]?.content["application/json"]?.schema;
    expect(schema, `${method} ${route} answered ${answer.status}, which is not documented`).toBeDefined();
    const validate = ajv.compile(
      JSON.parse(JSON.stringify(closed(schema)).replaceAll("#/components", "document#/components")),
    );
    validate(answer.body);
    expect(validate.errors, `${method} ${route} ${answer.status} ${JSON.stringify(answer.body)}`).toBeNull();
    return answer;
  };
}

/** The document lets clients meet new fields; here each must have been written down. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const open = schema.type === "object" && schema.properties && schema.additionalProperties === undefined;
  return open ? { ...copy, additionalProperties: false } : copy;
}
