import { z } from "zod";
import type { Answer, Answers, Endpoint, Price, QueryParameters, RequestBody, Shapes } from "./endpoint.ts";

/** What a service's OpenAPI document says besides its endpoints. */
export interface ServiceDescription<Access extends string, Tag extends string> {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** For programs that look for something to buy: what is sold and how to begin. */
  readonly guidance: string;
  readonly contact: { readonly name: string; readonly url?: string; readonly email?: string };
  /** Where the same is written for people and for language models. */
  readonly documentation?: { readonly description: string; readonly url: string };
  readonly serverUrl: string;
  /** By name, in the order in which they are shown. */
  readonly tags: Readonly<Record<Tag, string>>;
  readonly securitySchemes: Readonly<Record<string, object>>;
  /** Which of these schemes lets a caller in; any one of several. */
  readonly security: Readonly<Record<Access, ReadonlyArray<Readonly<Record<string, readonly string[]>>>>>;
  /** What a status means where the endpoint does not say it. */
  readonly meanings: Readonly<Record<number, string>>;
  /** What the endpoint may answer because of how it lets callers in and what it reads. Its own answers go before. */
  usualAnswers(endpoint: Endpoint<Access, Tag>): Answers;
  /** Headers of an answer that follow from the endpoint's access or from the status. */
  usualHeaders(endpoint: Endpoint<Access, Tag>, status: number): Shapes;
}

/** The OpenAPI 3.1 document of the endpoints, from the same declarations that are mounted. */
export function openApiDocument<Access extends string, Tag extends string>(
  endpoints: readonly Endpoint<Access, Tag>[],
  service: ServiceDescription<Access, Tag>,
): object {
  const schemas: Schemas = {};
  const bodyNames = namesOfBodies(endpoints);
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const { path, method } = endpoint;
    paths[path] = { ...paths[path], [method]: operationOf(endpoint, service, { schemas, bodyNames }) };
  }
  const { title, version, description, guidance, contact, documentation, serverUrl, tags, securitySchemes } = service;
  return {
    openapi: "3.1.0",
    info: { title, version, description, contact, license, "x-guidance": guidance },
    ...(documentation && { externalDocs: documentation }),
    servers: [{ url: serverUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas, securitySchemes },
  };
}

/** The document is public; what it describes is its operator's. */
const license = { name: "Proprietary", identifier: "LicenseRef-Proprietary" };

/** Named shapes, as the document's components. */
type Schemas = Record<string, object>;

interface Components {
  readonly schemas: Schemas;
  /** Request bodies without a name of their own. */
  readonly bodyNames: ReadonlyMap<z.ZodType, string>;
}

/** A body is named after the first operation that takes it: `RunAgentRequest`. */
function namesOfBodies(endpoints: readonly Endpoint[]): ReadonlyMap<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  for (const { id, body } of endpoints) {
    if (!body || names.has(body.shape) || z.globalRegistry.get(body.shape)?.id) continue;
    names.set(body.shape, `${id.charAt(0).toUpperCase()}${id.slice(1)}Request`);
  }
  return names;
}

function operationOf<Access extends string, Tag extends string>(
  endpoint: Endpoint<Access, Tag>,
  service: ServiceDescription<Access, Tag>,
  components: Components,
): object {
  const { id, tag, summary, description, access, body, price } = endpoint;
  const parameters = parametersOf(endpoint);
  const answers = Object.entries({ ...service.usualAnswers(endpoint), ...endpoint.answers });
  const responses = answers.map(([status, answer]) => {
    const headers = { ...service.usualHeaders(endpoint, Number(status)), ...answer.headers };
    const meaning = answer.description ?? service.meanings[Number(status)] ?? "See the body.";
    return [status, responseOf(answer, meaning, headers, components.schemas)];
  });
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: service.security[access],
    ...(price !== undefined && { "x-payment-info": paymentInfo(price) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: bodyContent(body, components) } }),
    responses: { ...Object.fromEntries(responses), ...(answers.some(isSuccess) ? {} : { default: otherwise }) },
  };
}

const isSuccess = ([status]: readonly [string, Answer]) => status.startsWith("2");
/** Of an operation that sends its caller elsewhere. */
const otherwise = { description: "Anything else says what went wrong." };

/** What crawlers of paid operations read. */
function paymentInfo(price: Price): object {
  const currency = "USD";
  const told =
    typeof price === "string" ? { mode: "fixed", currency, amount: price } : { mode: "dynamic", currency, ...price };
  return { price: told, protocols: [{ x402: {} }] };
}

function bodyContent({ mediaType, shape, example }: RequestBody, { schemas, bodyNames }: Components): object {
  const name = bodyNames.get(shape);
  const content = jsonContent(shape, example, schemas)["application/json"];
  if (name === undefined) return { [mediaType]: content };
  schemas[name] = content.schema;
  return { [mediaType]: { ...content, schema: { $ref: `#/components/schemas/${name}` } } };
}

function parametersOf({ pathParameters = {}, query = {}, exampleQuery = {}, headers = {} }: Endpoint): object[] {
  const inQuery = query instanceof z.ZodType ? queryParametersOf(query) : query;
  return [
    ...Object.entries(pathParameters).map(([name, shape]) => ({
      name,
      in: "path",
      required: true,
      ...described(shape),
    })),
    ...Object.entries(inQuery).map(([name, { description, schema, required = false }]) => {
      const example = exampleQuery[name];
      return { name, in: "query", required, description, schema, ...(example !== undefined && { example }) };
    }),
    ...Object.entries(headers).map(([name, shape]) => ({ name, in: "header", required: false, ...described(shape) })),
  ];
}

function queryParametersOf(query: z.ZodObject): QueryParameters {
  const { properties = {} } = z.toJSONSchema(query, { io: "output", unrepresentable: "any" });
  const asked = Object.entries(properties as Record<string, { description?: string }>);
  return Object.fromEntries(asked.map(([name, { description = "", ...schema }]) => [name, { description, schema }]));
}

function responseOf(
  { content, example, orJson }: Answer,
  description: string,
  headers: Shapes,
  schemas: Schemas,
): object {
  const named = Object.entries(headers).map(([name, shape]) => [name, described(shape)]);
  return {
    description,
    ...(named.length > 0 && { headers: Object.fromEntries(named) }),
    ...(content && {
      content: {
        ...contentOf(content, example, schemas),
        ...(orJson && jsonContent(orJson.shape, orJson.example, schemas)),
      },
    }),
  };
}

function contentOf(content: z.ZodType | readonly string[], example: unknown, schemas: Schemas): object {
  if (content instanceof z.ZodType) return jsonContent(content, example, schemas);
  return Object.fromEntries(
    content.map((mediaType) => [mediaType, { schema: { type: "string" }, ...(example !== undefined && { example }) }]),
  );
}

/** A named shape goes to the components with all that it refers to. */
function jsonContent(shape: z.ZodType, example: unknown, schemas: Schemas): JsonContent {
  const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(shape, { io: "input" });
  for (const [name, definition] of Object.entries($defs)) schemas[name] = relocated(definition as object);
  return { "application/json": { schema: relocated(schema), ...(example !== undefined && { example }) } };
}

interface JsonContent {
  readonly "application/json": { readonly schema: object; readonly example?: unknown };
}

/** With references into the document, and without the bounds that JavaScript's own integers have: those say nothing. */
function relocated(schema: object): object {
  const text = JSON.stringify(schema, (name, value) =>
    (name === "maximum" && value === Number.MAX_SAFE_INTEGER) ||
    (name === "minimum" && value === Number.MIN_SAFE_INTEGER)
      ? undefined
      : value,
  );
  return JSON.parse(text.replaceAll("#/$defs/", "#/components/schemas/"));
}

/** One parameter's or header's value, with its description beside the schema. */
function described(shape: z.ZodType): { description?: string; schema: object } {
  const { $schema: _, description, ...schema } = z.toJSONSchema(shape, { io: "input", unrepresentable: "any" });
  return { ...(description !== undefined && { description }), schema };
}
