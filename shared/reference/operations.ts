import { z } from "zod";
import type { Answers, Endpoint, QueryParameters } from "../endpoint.ts";
import { type FieldRow, fieldRows, schemaRow, valueRow } from "./schema-rows.ts";

/** What a person is told of an endpoint: from the declaration by which it is served. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Who may call, in a few words. */
  readonly access: string;
  readonly parameters: readonly FieldRow[];
  readonly body: readonly FieldRow[];
  readonly answers: readonly DocumentedAnswer[];
  /** The request that its example makes. */
  readonly call: ExampleCall;
}

export interface DocumentedAnswer {
  readonly status: number;
  readonly meaning: string;
  readonly mediaType: string | undefined;
  /** JSON, or text as it is; undefined where there is no example. */
  readonly example: string | undefined;
  readonly fields: readonly FieldRow[];
}

export interface ExampleCall {
  readonly method: string;
  readonly url: string;
  /** What it shows of its caller. */
  readonly sends: "nothing" | "key" | "session";
  readonly body: unknown;
  /** The body's fields go as a form's, not as JSON. */
  readonly isForm: boolean;
  readonly waitSeconds: number;
}

/** What a service says of all its operations besides their declarations. */
export interface ReferenceFacts<Access extends string> {
  /** Examples call the service here, and not at the address that declarations write. */
  readonly publicUrl: string;
  readonly exampleUrl: string;
  /** How long examples wait for an answer. */
  readonly waitSeconds: number;
  /** What the endpoint may answer besides its own answers. */
  usualAnswers(endpoint: Endpoint<Access>): Answers;
  /** What a status means where the endpoint does not say it. */
  readonly meanings: Readonly<Record<number, string>>;
  readonly access: Readonly<Record<Access, { readonly name: string; readonly sends: ExampleCall["sends"] }>>;
}

/** All of them, in the order in which they are declared; made when they are first asked for. */
export function operationsOf<Access extends string>(
  all: () => readonly Endpoint<Access>[],
  facts: ReferenceFacts<Access>,
): () => readonly Operation[] {
  let operations: readonly Operation[] | undefined;
  return () => {
    operations ??= all().map((endpoint) => operationOf(endpoint, facts));
    return operations;
  };
}

function operationOf<Access extends string>(endpoint: Endpoint<Access>, facts: ReferenceFacts<Access>): Operation {
  const { publicUrl } = facts;
  const { id, method, path, tag, summary, description, body } = endpoint;
  const access = facts.access[endpoint.access];
  const parameters = parametersOf(endpoint);
  return {
    id,
    method: method.toUpperCase(),
    path,
    tag,
    summary,
    description,
    access: access.name,
    parameters,
    body: body ? fieldRows(body.shape) : [],
    answers: answersOf({ ...facts.usualAnswers(endpoint), ...endpoint.answers }, facts),
    call: {
      method: method.toUpperCase(),
      url: publicUrl + examplePath(endpoint, parameters),
      sends: access.sends,
      body: body?.example,
      isForm: body?.mediaType === "application/x-www-form-urlencoded",
      waitSeconds: facts.waitSeconds,
    },
  };
}

function parametersOf({ pathParameters = {}, query = {}, headers = {} }: Endpoint): FieldRow[] {
  const inQuery = query instanceof z.ZodType ? fieldRows(query) : queryRows(query);
  return [
    ...Object.entries(pathParameters).map(([name, shape]) => valueRow(`{${name}}`, shape, true)),
    ...inQuery.map((row) => ({ ...row, name: `?${row.name}` })),
    ...Object.entries(headers).map(([name, shape]) => valueRow(name, shape, false)),
  ];
}

function queryRows(query: QueryParameters): FieldRow[] {
  return Object.entries(query).map(([name, { description, schema, required = false }]) => {
    return { ...schemaRow(name, schema, required), description };
  });
}

function answersOf(answers: Answers, facts: Pick<ReferenceFacts<string>, "meanings" | "publicUrl" | "exampleUrl">) {
  return Object.entries(answers).map(([status, { description, content, example }]): DocumentedAnswer => {
    const isJson = content instanceof z.ZodType;
    return {
      status: Number(status),
      meaning: description ?? facts.meanings[Number(status)] ?? "See the body.",
      mediaType: isJson ? "application/json" : content?.[0],
      example: exampleText(example, facts),
      fields: isJson && Number(status) < 300 ? fieldRows(content) : [],
    };
  });
}

function exampleText(
  example: unknown,
  { exampleUrl, publicUrl }: Pick<ReferenceFacts<string>, "publicUrl" | "exampleUrl">,
): string | undefined {
  if (example === undefined) return undefined;
  const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return text.replaceAll(exampleUrl, publicUrl);
}

/** What stands for a path's parameters in examples; their names stand for those that only an earlier answer knows. */
const exampleParameters: Readonly<Record<string, string>> = { handle: "ada", slug: "summarizer" };

function examplePath({ path, exampleQuery }: Endpoint, parameters: readonly FieldRow[]): string {
  const needed = parameters.filter(({ name, required }) => required && name.startsWith("?"));
  const query = exampleQuery
    ? String(new URLSearchParams(exampleQuery))
    : needed.map(({ name }) => `${name.slice(1)}={${name.slice(1)}}`).join("&");
  const filled = path.replaceAll(/\{(\w+)\}/g, (all, name: string) => exampleParameters[name] ?? all);
  return query ? `${filled}?${query}` : filled;
}
