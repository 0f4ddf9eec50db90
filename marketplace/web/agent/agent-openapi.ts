import type { AgentDetail } from "../../agents/detail.ts";
import type { OutputKind } from "../../connectors/result.ts";
import { exampleInput } from "./form-input.ts";

/** How one agent is called, as tools import it: with a key, and without one where it can be. */
export function agentOpenApi(detail: AgentDetail, origin: string): object {
  const { agent, name, description, updated_at, mcp_tool: id, input_schema: schema, per_call: perCall } = detail;
  const input = exampleInput(detail);
  // What a creator gave no example of is left to the schema.
  const isWhole = detail.inputs.every((field) => !field.required || Object.hasOwn(input, field.name));
  const result = { description: "What it gave; read `success`.", content: json(resultOf(detail.output_kind)) };
  return {
    openapi: "3.1.0",
    info: { title: name, description, version: updated_at },
    servers: [{ url: origin }],
    externalDocs: { url: detail.page_url },
    components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer" } } },
    paths: {
      "/api/v1/run": {
        post: {
          operationId: `${id}--with-key`,
          summary: `Run ${name} with an API key and credits.`,
          security: [{ apiKey: [] }],
          requestBody: {
            required: true,
            content: json(withKey(agent, schema), isWhole && { agent, max_credits: detail.price_credits, input }),
          },
          responses: { 200: result, ...refusals, 402: { description: "Not enough credits, or the price rose." } },
        },
      },
      ...(perCall && {
        [new URL(perCall.url).pathname]: {
          post: {
            operationId: id,
            summary: detail.price_credits === 0 ? `Run ${name}.` : `Run ${name}, paid by this call over x402.`,
            security: [],
            ...(detail.price_credits > 0 && { "x-payment-info": paymentInfo(perCall.price_usd) }),
            requestBody: { required: true, content: json(schema, isWhole && input) },
            responses: {
              200: result,
              ...refusals,
              ...(detail.price_credits > 0 && { 402: { description: "The price, and where it can be paid." } }),
            },
          },
        },
      }),
    },
  };
}

function withKey(agent: string, input: object): object {
  return {
    type: "object",
    required: ["agent", "input"],
    properties: {
      agent: { const: agent },
      input,
      max_credits: { type: "integer", minimum: 0, description: "A higher price is refused." },
    },
  };
}

const refusals = {
  400: { description: "A required field is missing. Nothing was charged." },
  422: { description: "A value broke a rule; `field` names it. Nothing was charged." },
  429: { description: "Wait `Retry-After` seconds." },
};

/** The form in which the service's own document describes its paid operations. */
function paymentInfo(dollars: number): object {
  return { price: { mode: "fixed", currency: "USD", amount: dollars.toFixed(2) }, protocols: [{ x402: {} }] };
}

function resultOf(kind: OutputKind): object {
  return {
    type: "object",
    required: ["success", "run_id"],
    properties: {
      success: { type: "boolean" },
      run_id: { type: "string" },
      output: { type: "object", ...outputs[kind] },
      error: { type: "string" },
    },
  };
}

const text = { type: "string" };
const outputs: Readonly<Record<OutputKind, object>> = {
  text: { required: ["kind", "text"], properties: { kind: { const: "text" }, text } },
  image: { required: ["images"], properties: { images: { type: "array", items: { ...text, format: "uri" } } } },
  json: { required: ["kind", "data"], properties: { kind: { const: "json" }, data: { type: "object" } } },
  receipt: {
    required: ["kind", "status", "transactionId"],
    properties: { kind: { const: "receipt" }, status: text, transactionId: text },
  },
};

function json(schema: object, example: object | false = false): object {
  return { "application/json": { schema, ...(example && { example }) } };
}
