import type { PaymentRequirements } from "../../shared/x402.ts";
import type { Field, Value } from "../agents/contract.ts";
import type { LiveAgent } from "../agents/find.ts";
import { encodeHeader } from "./proof.ts";

/**
 * What a caller without a good payment is told: the body that the specification shows, readable by version 1 clients,
 * and the header that version 2 clients read.
 */
export function quoteOf(quoted: Quoted): { readonly body: object; readonly header: string } {
  const { agent, url, terms, error } = quoted;
  const { description } = agent.version;
  const resource = { url, description, mimeType };
  return {
    body: {
      x402Version: 1,
      error,
      accepts: terms.map((entry) => ({
        ...entry,
        maxAmountRequired: entry.amount,
        resource: url,
        description,
        mimeType,
        outputSchema: { input: inputOf(agent), output: null },
      })),
    },
    header: encodeHeader({ x402Version: 2, error, resource, accepts: terms, extensions: { bazaar: bazaarOf(agent) } }),
  };
}

interface Quoted {
  readonly agent: LiveAgent;
  /** Full address of the agent's payment route. */
  readonly url: string;
  readonly terms: readonly PaymentRequirements[];
  /** Why this answer and not the result. */
  readonly error: string;
}

const mimeType = "application/json";

/** Version 1's description of the call. */
function inputOf({ version }: LiveAgent): object {
  const bodyFields = (version.contract.jsonSchema as { properties?: object }).properties ?? {};
  return { type: "http", method: "POST", discoverable: true, bodyType: "json", bodyFields };
}

/** The `bazaar` extension: an example of the call, and the schema that the example satisfies. */
function bazaarOf({ version }: LiveAgent): object {
  const { $schema, ...body } = version.contract.jsonSchema as { $schema?: string };
  const info = { input: { type: "http", method: "POST", bodyType: "json", body: exampleOf(version.contract.fields) } };
  const schema = {
    $schema,
    type: "object",
    properties: {
      input: {
        type: "object",
        properties: {
          type: { type: "string", const: "http" },
          method: { type: "string", enum: ["POST"] },
          bodyType: { type: "string", enum: ["json"] },
          body,
        },
        required: ["type", "method", "bodyType", "body"],
      },
    },
    required: ["input"],
  };
  return { info, schema };
}

function exampleOf(fields: readonly Field[]): Record<string, Value> {
  return Object.fromEntries(
    fields
      .filter(({ required, example }) => required || example !== undefined)
      .map((field) => [field.name, field.example ?? field.default ?? sampleOf(field)]),
  );
}

function sampleOf({ type, choices, min, label, name }: Field): Value {
  switch (type) {
    case "boolean":
      return true;
    case "number":
    case "integer":
      return min ?? 1;
    case "choice":
      return choices?.[0] ?? "";
    case "url":
    case "image":
      return "https://example.com/";
    default:
      return label ?? name;
  }
}
