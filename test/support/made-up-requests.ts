import fc from "fast-check";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

export interface MadeUpRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** JSON, where the operation takes a body. */
  readonly body: string | undefined;
}

/**
 * Requests of the operations of an OpenAPI document: mostly what their schemas allow, now and then what they do not.
 * `parts` are values that lead somewhere in a path, `bodies` are good ones, of which every so often some fields are
 * taken; operations whose path matches `leaveOut` are not made up.
 */
export function madeUpRequests(document: Json, options: Options): fc.Arbitrary<MadeUpRequest> {
  const operations = Object.entries<Json>(document.paths)
    .flatMap(([path, methods]) => Object.entries<Json>(methods).map(([method, what]) => ({ path, method, what })))
    .filter(({ path }) => !options.leaveOut?.test(path));
  const known = new Map<Operation, fc.Arbitrary<MadeUpRequest>>();
  return fc.constantFrom(...operations).chain((operation) => {
    const requests = known.get(operation) ?? requestsOf(document, operation, options);
    known.set(operation, requests);
    return requests;
  });
}

function requestsOf(document: Json, { path, method, what }: Operation, { parts, bodies }: Options) {
  const asked: Json[] = (what.parameters ?? []).filter((one: Json) => one.in === "query");
  const query = fc.record(Object.fromEntries(asked.map((one) => [one.name, anyValue(document, one.schema)])), {
    requiredKeys: [],
  });
  const part = fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 30 }));
  const schema = what.requestBody?.content["application/json"]?.schema;
  const good = fc.constantFrom({}, ...bodies);
  const body = schema
    ? fc.oneof(
        { weight: 4, arbitrary: fc.tuple(anyValue(document, schema), good).map(([made, some]) => mixed(made, some)) },
        { weight: 1, arbitrary: good },
        { weight: 1, arbitrary: fc.jsonValue() },
      )
    : fc.constant(undefined);
  return (
    fc
      .record({ query, parts: fc.array(part, { minLength: 2, maxLength: 2 }), body })
      .map((made): MadeUpRequest => ({ method: method.toUpperCase(), ...addressed(path, made) }))
      // "." and ".." are no path of their own.
      .filter((made) => !/\/\.{1,2}(\/|$|\?)/.test(made.path))
  );
}

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly what: Json;
}

interface Options {
  readonly parts: readonly string[];
  readonly bodies: readonly object[];
  readonly leaveOut?: RegExp;
}

interface Made {
  readonly query: Readonly<Record<string, unknown>>;
  readonly parts: readonly string[];
  readonly body: unknown;
}

function addressed(path: string, { query, parts, body }: Made): Omit<MadeUpRequest, "method"> {
  let n = 0;
  const address = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(parts[n++ % 2]!) || "x");
  const asked = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { path: `${address}?${asked}`, body: JSON.stringify(body) };
}

/** Made once: to make it takes as long as a request. */
const anyText = fc.oneof(fc.string(), fc.string({ unit: "binary" }));

function mixed(made: unknown, good: object): unknown {
  return typeof made === "object" && made !== null && !Array.isArray(made) ? { ...made, ...good } : made;
}

function anyValue(document: Json, schema: Json, depth = 0): fc.Arbitrary<unknown> {
  const odd = fc.oneof(fc.string(), fc.constantFrom("\0", "%", "'", -1, 1e30, null, [], {}), fc.double());
  return fc.oneof({ weight: 5, arbitrary: rightValue(document, schema, depth) }, { weight: 1, arbitrary: odd });
}

function rightValue(document: Json, schema: Json, depth: number): fc.Arbitrary<unknown> {
  const inside = (one: Json) => anyValue(document, one, depth + 1);
  if (depth > 6) return fc.constant(null);
  if (schema.$ref) return rightValue(document, document.components.schemas[schema.$ref.split("/").at(-1)], depth);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ("const" in schema) return fc.constant(schema.const);
  const choices: Json[] | undefined = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map(inside));
  switch (schema.type) {
    case "integer":
      return fc.integer({ min: Math.max(schema.minimum ?? 0, -1000), max: Math.min(schema.maximum ?? 1000, 1000) });
    case "number":
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(inside(schema.items ?? {}), { maxLength: 3 });
    case "object": {
      const properties = Object.entries<Json>(schema.properties ?? {}).map(([name, one]) => [name, inside(one)]);
      return fc.record(Object.fromEntries(properties), { requiredKeys: [] });
    }
    case "string":
      // What looks around cannot be made up.
      return schema.pattern && !/\(\?[=!<]/.test(schema.pattern)
        ? fc.oneof(fc.stringMatching(new RegExp(schema.pattern, "u")), fc.string())
        : anyText;
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}
