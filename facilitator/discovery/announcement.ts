import { isJsonObject, type JsonObject } from "../../shared/json.ts";

/**
 * What is said about a resource, in one form for both protocol versions: by a payer who echoes the quote, or by the
 * quote itself as the resource gives it. Nothing of it is believed or even well-formed yet.
 */
export interface Announcement {
  readonly x402Version: 1 | 2;
  readonly url: unknown;
  readonly description: unknown;
  readonly mimeType: unknown;
  readonly serviceName?: unknown;
  readonly tags?: unknown;
  readonly iconUrl?: unknown;
  /** `{info, schema, routeTemplate?}`, as v2 carries it and as v1's `outputSchema` is translated. */
  readonly bazaar: unknown;
}

/** The announcement in the body of /verify or /settle; undefined when the caller did not ask to be listed. Never throws. */
export function announcementOfPayment(body: unknown): Announcement | undefined {
  const payload = objectIn(body, "paymentPayload");
  if (payload?.x402Version === 2) return announcementOfV2(payload.resource, objectIn(payload, "extensions")?.bazaar);
  return payload?.x402Version === 1 ? announcementOfV1(objectIn(body, "paymentRequirements")) : undefined;
}

/** The announcement in a resource's own answer to a request without payment. */
export function announcementOfPaymentRequired(quote: unknown): Announcement | undefined {
  const version = (quote as JsonObject | null)?.x402Version;
  if (version === 2) return announcementOfV2(objectIn(quote, "resource"), objectIn(quote, "extensions")?.bazaar);
  const accepts = (quote as JsonObject | null)?.accepts;
  const discoverable = Array.isArray(accepts) ? accepts.slice(0, 20).map(announcementOfV1) : [];
  return version === 1 ? discoverable.find((announcement) => announcement !== undefined) : undefined;
}

function announcementOfV2(resource: unknown, bazaar: unknown): Announcement | undefined {
  if (bazaar === undefined || bazaar === null) return undefined;
  const { url, description, mimeType, serviceName, tags, iconUrl } = asObject(resource) ?? {};
  return { x402Version: 2, url, description, mimeType, serviceName, tags, iconUrl, bazaar };
}

/** v1 has no extensions: `outputSchema.input` describes the request, `discoverable: false` keeps it off the list. */
function announcementOfV1(requirements: unknown): Announcement | undefined {
  const given = asObject(requirements);
  const input = objectIn(given?.outputSchema, "input");
  if (!given || input?.type !== "http" || typeof input.method !== "string" || input.discoverable === false) {
    return undefined;
  }
  const info = { input: v1Input(input), ...v1Output(asObject(given.outputSchema)?.output) };
  return {
    x402Version: 1,
    url: given.resource,
    description: given.description,
    mimeType: given.mimeType,
    bazaar: { info, schema: v1Schema },
  };
}

const v1Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { input: { type: "object" }, output: { type: "object" } },
  required: ["input"],
};

/** v1 never fixed the names of these fields; the ones listed are those that servers send. */
function v1Input(input: JsonObject): JsonObject {
  const method = String(input.method).toUpperCase();
  const queryParams = firstObject(input, ["queryParams", "query_params", "query", "params"]);
  const headers = firstObject(input, ["headerFields", "header_fields", "headers"]);
  const body = firstObject(input, ["bodyFields", "body_fields", "bodyParams", "body", "data", "properties"]) ?? {};
  return {
    type: "http",
    method,
    ...(["POST", "PUT", "PATCH"].includes(method) && { bodyType: v1BodyType(input.bodyType ?? input.body_type), body }),
    ...(queryParams && { queryParams }),
    ...(headers && { headers }),
  };
}

function v1BodyType(given: unknown): string {
  const name = typeof given === "string" ? given.toLowerCase() : "";
  if (name.includes("form") || name.includes("multipart")) return "form-data";
  return name.includes("text") || name.includes("plain") ? "text" : "json";
}

function v1Output(output: unknown): JsonObject {
  return output ? { output: { type: "json", example: output } } : {};
}

function firstObject(parent: JsonObject, names: readonly string[]): JsonObject | undefined {
  for (const name of names) {
    const value = objectIn(parent, name);
    if (value) return value;
  }
  return undefined;
}

function objectIn(parent: unknown, name: string): JsonObject | undefined {
  const object = asObject(parent);
  return object && Object.hasOwn(object, name) ? asObject(object[name]) : undefined;
}

function asObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
