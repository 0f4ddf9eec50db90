import type { Offer } from "./offer.ts";

/** What a quote says of the body that is posted. */
export interface ToldInput {
  /** JSON Schema 2020-12. */
  readonly schema: object;
  /** A body that satisfies it. */
  readonly example: object;
}

/**
 * Bytes of JSON in a header, with the description of the agent, which a client sends back in that of its payment. Unless told otherwise, Node reads 16 KB of headers at most,
 * HAProxy 15 KB, and nginx 8 KB of one.
 */
export const toldInHeaderMax = 3_072;

/** Bytes of JSON in each entry of a quote's body. */
export const toldInEntryMax = 16_384;

/**
 * The most of the input that takes no more than so many bytes of JSON: all of it; the rules of each field, with short values; or that it is an
 * object, of which the catalog and the agent's own page tell the rest. Kept by the schema, which belongs to one example.
 */
export function toldInput(input: Offer["input"], bytesMax: number): ToldInput {
  const kept = keptBySchema.get(input.schema) ?? new Map<number, ToldInput>();
  const told = kept.get(bytesMax) ?? asMuchAsFits(input, bytesMax);
  keptBySchema.set(input.schema, kept.set(bytesMax, told));
  return told;
}

const keptBySchema = new WeakMap<object, Map<number, ToldInput>>();

function asMuchAsFits({ schema, example, brief = example }: Offer["input"], bytesMax: number): ToldInput {
  const whole = { schema, example };
  if (fits(whole, bytesMax)) return whole;
  const rules = { schema: rulesOf(schema), example: brief };
  return fits(rules, bytesMax) ? rules : anyObject;
}

const anyObject: ToldInput = { schema: { type: "object" }, example: {} };

const fits = (told: ToldInput, bytesMax: number) => Buffer.byteLength(JSON.stringify(told)) <= bytesMax;

/** The schema without what only explains its fields. */
function rulesOf(schema: { readonly properties?: Readonly<Record<string, object>> }): object {
  const { properties = {}, ...rest } = schema;
  const rules = Object.entries(properties).map(([name, property]) => [
    name,
    Object.fromEntries(Object.entries(property).filter(([keyword]) => !explaining.has(keyword))),
  ]);
  return { ...rest, properties: Object.fromEntries(rules) };
}

const explaining: ReadonlySet<string> = new Set(["title", "description", "examples", "default"]);
