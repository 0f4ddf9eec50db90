import { z } from "zod";
import { type Operation, operations } from "./operations.ts";
import { errorShape } from "./shapes.ts";

/** The OpenAPI 3.1 document of the service at `publicUrl`, from the definitions that read requests and type answers. */
export function openApiDocument(publicUrl: string): object {
  const schemas: Schemas = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const [route, operation] of Object.entries(operations)) {
    const [method = "", path = ""] = route.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(method, path, operation, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Agent marketplace",
      version: "1.1",
      description:
        "Run paid agents: with prepaid credits and an API key, or paid per call over x402. Fields may be added to any " +
        "answer at any time; ignore those you do not know. Error texts are no contract: branch on the status and " +
        "`success`.",
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        session: {
          type: "apiKey",
          in: "cookie",
          name: publicUrl.startsWith("https:") ? "__Secure-marketplace.session_token" : "marketplace.session_token",
          description: "As signing in sets it. Requests from pages of another origin are refused.",
        },
        apiKey: { type: "http", scheme: "bearer", description: "amk_…, from the account's settings." },
      },
    },
  };
}

type Schemas = Record<string, object>;

function describe(method: string, path: string, operation: Operation, schemas: Schemas): object {
  const { summary, key, session, body } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId: operationIdOf(method, path),
    summary,
    ...(key ? { security: [{ apiKey: [] }] } : {}),
    ...(session ? { security: [{ session: [] }] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: jsonOf(body, schemas) } } : {}),
    responses: responsesOf(operation, schemas),
  };
}

function operationIdOf(method: string, path: string): string {
  const words = path.replace(/^\/(api\/)?(v1\/)?/, "").split(/[^A-Za-z0-9]+/);
  return [method.toLowerCase(), ...words.filter(Boolean).map((word) => word[0]!.toUpperCase() + word.slice(1))].join(
    "",
  );
}

function parametersOf({ path = {}, query, headers = {} }: Operation): object[] {
  const named = (place: string, required: boolean) => (entry: [string, string]) => ({
    name: entry[0],
    in: place,
    required,
    description: entry[1],
    schema: { type: "string" },
  });
  const { properties = {} } = query ? z.toJSONSchema(query, { io: "output", unrepresentable: "any" }) : {};
  const asked = Object.entries(properties as Record<string, { description?: string }>);
  return [
    ...Object.entries(path).map(named("path", true)),
    ...asked.map(([name, { description, ...schema }]) => ({ name, in: "query", required: false, description, schema })),
    ...Object.entries(headers).map(named("header", false)),
  ];
}

/** What any keyed, posted or queried request may meet besides its own answers. */
function responsesOf(operation: Operation, schemas: Schemas): object {
  const { key, session, body, query, tagged, answers, answerHeaders = {} } = operation;
  const shapes: Operation["answers"] = {
    ...(body || query ? { 400: errorShape } : {}),
    ...(key || session ? { 401: errorShape, 429: errorShape, 503: errorShape } : {}),
    ...(session ? { 403: errorShape } : {}),
    ...(body ? { 408: errorShape, 413: errorShape, 503: errorShape } : {}),
    ...(Object.keys(operation.path ?? {}).length > 0 ? { 400: errorShape } : {}),
    500: errorShape,
    ...answers,
  };
  const described = Object.entries(shapes).map(([status, shape]) => {
    const headers = {
      ...headersOf[status],
      ...((status === "200" || status === "429") && key ? rateLimit : {}),
      ...(status === "200" ? answerHeaders : {}),
    };
    const named = Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: "string" } },
    ]);
    return [
      status,
      {
        description: meanings[status] ?? "See the body.",
        ...(named.length > 0 ? { headers: Object.fromEntries(named) } : {}),
        content: shape instanceof z.ZodType ? jsonOf(shape, schemas) : textOf([shape].flat()),
      },
    ];
  });
  const unchanged = { 304: { description: "What `If-None-Match` names is still right." } };
  return { ...Object.fromEntries(described), ...(tagged ? unchanged : {}) };
}

const meanings: Readonly<Record<string, string>> = {
  200: "As asked.",
  201: "Made.",
  202: "Taken.",
  303: "Go on there.",
  400: "The request is malformed or lacks something required. Nothing was charged.",
  401: "The API key, or the session, is missing, malformed, unknown or at its end.",
  402: "Not paid, or not enough to pay with. Nothing was charged.",
  403: "Not for this page, under this host name, or without an open account.",
  404: "There is no such thing, or it is not live.",
  406: "The answer would not be taken.",
  408: "The body did not arrive in time.",
  409: "It contradicts what is there already.",
  410: "It has been taken down; a payment for it stays on record.",
  413: "The body is too large.",
  415: "The body must be JSON.",
  422: "A value broke a declared rule; the body names the field. Nothing was charged, unless `charged` says so.",
  429: "Too many requests; wait as `Retry-After` says.",
  500: "It failed on this side. Nothing was charged, unless `charged` says so.",
  503: "Not possible right now; nothing was charged, unless `charged` says so. Try again.",
};

const rateLimit = {
  "X-RateLimit-Limit": "Requests the key may make in 60 seconds.",
  "X-RateLimit-Remaining": "How many of them are left.",
  "X-RateLimit-Reset": "Unix time at which one more is possible.",
};

const headersOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "`Bearer`, or `Session` where a session is required." },
  429: { "Retry-After": "Seconds to wait." },
};

function textOf(mediaTypes: readonly string[]): object {
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: { type: "string" } }]));
}

/** A named shape goes to the components with all that it refers to. Answers stay open to new fields. */
function jsonOf(shape: z.ZodType, schemas: Schemas): object {
  const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(shape, { io: "input" });
  const relocated = (part: object) => JSON.parse(JSON.stringify(part).replaceAll("#/$defs/", "#/components/schemas/"));
  for (const [name, definition] of Object.entries($defs)) schemas[name] = relocated(definition as object);
  return { "application/json": { schema: relocated(schema) } };
}
