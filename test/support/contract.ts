import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

/** Holds answers against an OpenAPI document: each status must be documented, each body be as it says, no field more. */
export function contractOf(document: Json): Contract {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "document", components: closed(document.components) });
  const routes = Object.keys(document.paths).map((path) => ({
    path,
    matches: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  const compiled = new Map<string, ValidateFunction>();
  const validatorOf = (schema: Json): ValidateFunction => {
    const said = JSON.stringify(schema);
    const known = compiled.get(said);
    if (known) return known;
    const text = JSON.stringify(closed(schema)).replaceAll("#/components", "document#/components");
    const validate = ajv.compile(JSON.parse(text));
    compiled.set(said, validate);
    return validate;
  };
  return {
    check: ({ method, path, status, type, text }) => {
      const pathname = path.split("?")[0] as string;
      const route = routes.find(({ path, matches }) => path === pathname || matches.test(pathname))?.path;
      const operation = route && document.paths[route][method.toLowerCase()];
      // What is not in the document is not there: 404, or 405 for another method.
      const answers = operation ? operation.responses : { [route ? 405 : 404]: undocumented };
      const place = `${method} ${route ?? pathname} answered ${status}`;
      const answer = answers[status];
      expect(answer, `${place}, which is not documented`).toBeDefined();
      if (text === "") return;
      const schema = answer.content?.[type.split(";")[0] as string]?.schema;
      expect(schema, `${place} as ${type}, which is not documented`).toBeDefined();
      if (!type.startsWith("application/json")) return;
      const validate = validatorOf(schema);
      validate(JSON.parse(text));
      expect(validate.errors, `${place}: ${text.slice(0, 2_000)}`).toBeNull();
    },
  };
}

export interface Contract {
  check(answer: { method: string; path: string; status: number; type: string; text: string }): void;
}

const undocumented = {
  content: { "application/json": { schema: { type: "object", required: ["error"], properties: { error: {} } } } },
};

/** The document lets clients meet new fields; here each must have been written down. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const open = schema.type === "object" && schema.properties && schema.additionalProperties === undefined;
  return open ? { ...copy, additionalProperties: false } : copy;
}
