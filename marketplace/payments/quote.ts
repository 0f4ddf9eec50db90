import type { PaymentRequirements } from "../../shared/x402.ts";
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
  const { contract } = version;
  const info = { input: { type: "http", method: "POST", bodyType: "json", body: contract.example } };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      input: {
        type: "object",
        properties: {
          type: { type: "string", const: "http" },
          method: { type: "string", enum: ["POST"] },
          bodyType: { type: "string", enum: ["json"] },
          body: contract.jsonSchema,
        },
        required: ["type", "method", "bodyType", "body"],
      },
    },
    required: ["input"],
  };
  return { info, schema };
}
