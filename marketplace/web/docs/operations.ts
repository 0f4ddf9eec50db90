import { z } from "zod";
import type { Answers, QueryParameters } from "../../../shared/endpoint.ts";
import type { Access, Endpoint } from "../../http/endpoint.ts";
import { exampleUrl } from "../../http/examples.ts";
import { usualAnswers } from "../../http/openapi.ts";
import { meanings } from "../../http/refusals.ts";
import { type FieldRow, fieldRows, schemaRow, valueRow } from "./schema-rows.ts";

/** What a person is told of an endpoint: from the declaration by which it is served. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly access: Access;
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
  readonly access: Access;
  readonly body: unknown;
}

/** All of them, in the order in which they are declared; made when they are first asked for. Examples call the service at `publicUrl`. */
export function operationsOf(all: () => readonly Endpoint[], publicUrl: string): () => readonly Operation[] {
  let operations: readonly Operation[] | undefined;
  return () => {
    operations ??= all().map((endpoint) => operationOf(endpoint, publicUrl));
    return operations;
  };
}

function operationOf(endpoint: Endpoint, publicUrl: string): Operation {
  const { id, method, path, tag, summary, description, access, body } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    id,
    method: method.toUpperCase(),
    path,
    tag,
    summary,
    description,
    access,
    parameters,
    body: body ? fieldRows(body.shape) : [],
    answers: answersOf({ ...usualAnswers(endpoint), ...endpoint.answers }, publicUrl),
    call: { method: method.toUpperCase(), url: publicUrl + examplePath(path, parameters), access, body: body?.example },
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

function answersOf(answers: Answers, publicUrl: string): DocumentedAnswer[] {
  return Object.entries(answers).map(([status, { description, content, example }]) => {
    const isJson = content instanceof z.ZodType;
    return {
      status: Number(status),
      meaning: description ?? meanings[Number(status)] ?? "See the body.",
      mediaType: isJson ? "application/json" : content?.[0],
      example: exampleText(example, publicUrl),
      fields: isJson && Number(status) < 300 ? fieldRows(content) : [],
    };
  });
}

function exampleText(example: unknown, publicUrl: string): string | undefined {
  if (example === undefined) return undefined;
  const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return text.replaceAll(exampleUrl, publicUrl);
}

/** What stands for a path's parameters in examples; their names stand for those that only an earlier answer knows. */
const exampleParameters: Readonly<Record<string, string>> = { handle: "ada", slug: "summarizer" };

function examplePath(path: string, parameters: readonly FieldRow[]): string {
  const needed = parameters.filter(({ name, required }) => required && name.startsWith("?"));
  const query = needed.map(({ name }) => `${name.slice(1)}={${name.slice(1)}}`).join("&");
  const filled = path.replaceAll(/\{(\w+)\}/g, (all, name: string) => exampleParameters[name] ?? all);
  return query ? `${filled}?${query}` : filled;
}
