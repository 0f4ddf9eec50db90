import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { unstorableIn } from "../../shared/request-body.ts";
import type { Announcement } from "./announcement.ts";
import type { AcceptedRequirements } from "./payment-requirements.ts";

const fieldLengthMax = 100;
const limits = { bazaarBytesMax: 16_384, depthMax: 16, urlLengthMax: 2_048, descriptionLengthMax: 500 };

/**
 * Announcement → what would be listed, by rules that cost little: they run while a payment is answered. Whether `info` fits
 * its `schema` is asked elsewhere (schema-check.ts), because a schema can be made to take forever.
 * A bad extra (icon, tag, route template) is left out; a bad announcement is a Rejection. Never throws.
 */
export function readAnnouncement(
  announcement: Announcement,
  options: { allowLocalhost: boolean },
): Declaration | Rejection {
  const url = readUrl(announcement.url, options);
  if (!url) return reject("resource.url must be an https URL of a public host");
  const bazaar = readBazaar(announcement.bazaar);
  if ("rejectedReason" in bazaar) return bazaar;
  const input = bazaar.info.input as JsonObject;
  const routeTemplate = input.type === "http" ? readRouteTemplate(bazaar.routeTemplate, url.pathname) : undefined;
  const resource = `${url.origin}${routeTemplate ?? url.pathname}`;
  const key = input.type === "mcp" ? `${resource} ${input.toolName}` : resource;
  if (key.length > limits.urlLengthMax) return reject("resource.url is too long");
  return {
    key,
    resource,
    type: input.type as "http" | "mcp",
    probeUrl: `${url.origin}${url.pathname}`,
    input,
    x402Version: announcement.x402Version,
    description: readText(announcement.description, limits.descriptionLengthMax),
    mimeType: readMimeType(announcement.mimeType),
    serviceName: isLabel(announcement.serviceName) ? announcement.serviceName : undefined,
    tags: readTags(announcement.tags),
    iconUrl: isIconUrl(announcement.iconUrl) ? announcement.iconUrl : undefined,
    bazaar: { info: bazaar.info, schema: bazaar.schema, ...(routeTemplate && { routeTemplate }) },
  };
}

export interface Declaration {
  /** One listing a key: origin and path, or origin and route template; with an MCP tool's name. */
  readonly key: string;
  readonly resource: string;
  readonly type: "http" | "mcp";
  /** Without query: a URL that passes its query on could be made to answer anything. */
  readonly probeUrl: string;
  readonly input: JsonObject;
  readonly x402Version: 1 | 2;
  readonly description: string | undefined;
  readonly mimeType: string | undefined;
  readonly serviceName: string | undefined;
  readonly tags: readonly string[];
  readonly iconUrl: string | undefined;
  readonly bazaar: Bazaar;
}

export interface Bazaar {
  readonly info: JsonObject;
  readonly schema: JsonObject;
  readonly routeTemplate?: string;
}

export interface Rejection {
  readonly rejectedReason: string;
}

const reject = (rejectedReason: string): Rejection => ({ rejectedReason });

/** The digest is equal for all payments of one resource with equal requirements, whatever the values of its path parameters. */
export function digestOf({ bazaar, ...rest }: Declaration, terms: AcceptedRequirements): Buffer {
  const { pathParams: _, ...input } = bazaar.info.input as JsonObject;
  const content = {
    ...rest,
    terms,
    probeUrl: undefined,
    input: undefined,
    bazaar: { ...bazaar, info: { ...bazaar.info, input } },
  };
  return createHash("sha256").update(JSON.stringify(content)).digest();
}

function readUrl(given: unknown, { allowLocalhost }: { allowLocalhost: boolean }): URL | undefined {
  if (typeof given !== "string" || given.length > limits.urlLengthMax || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  if (allowLocalhost && isLocalhost(url)) return url;
  return url.protocol === "https:" && isPublicName(url.hostname) ? url : undefined;
}

export function isLocalhost({ protocol, hostname }: URL): boolean {
  return ["http:", "https:"].includes(protocol) && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** WHATWG URL has turned every spelling of an address into dotted decimals or brackets, and IDN into ASCII; other characters it lets pass. */
function isPublicName(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  if (!/^[a-z0-9._-]+$/.test(host) || ipaddr.isValid(host) || !host.includes(".")) return false;
  return !/\.(localhost|localdomain|local|internal|test|invalid|example|onion|home\.arpa)$/.test(host);
}

function readBazaar(given: unknown): { info: JsonObject; schema: JsonObject; routeTemplate: unknown } | Rejection {
  if (!isJsonObject(given)) return reject("bazaar must be an object with info and schema");
  const { info, schema, routeTemplate } = given;
  if (!isJsonObject(info)) return reject("bazaar.info must be an object");
  if (!isJsonObject(schema)) return reject("bazaar.schema must be an object");
  if (depthOf(given, limits.depthMax) > limits.depthMax)
    return reject(`bazaar is nested deeper than ${limits.depthMax}`);
  const json = JSON.stringify(given);
  if (Buffer.byteLength(json) > limits.bazaarBytesMax) return reject(`bazaar exceeds ${limits.bazaarBytesMax} bytes`);
  const unstorable = characterProblem("bazaar", given);
  if (unstorable) return reject(unstorable);
  if (hasForeignReference(schema)) return reject("bazaar.schema must not refer outside itself");
  const problem = inputProblem(info.input);
  if (problem) return reject(problem);
  return { info: withToolName(info), schema, routeTemplate };
}

/** What PostgreSQL would not read back. */
export function characterProblem(where: string, given: unknown): string | undefined {
  const field = unstorableIn(given, where);
  if (field === undefined) return undefined;
  // A name is as long as the payer likes, and what is told of it goes into a header.
  const named = field === where ? where : `${where}, ${field.slice(0, fieldLengthMax)},`;
  return `${named} holds a character that is none (NUL, or half of a surrogate pair)`;
}

function inputProblem(input: unknown): string | undefined {
  if (!isJsonObject(input)) return "bazaar.info.input must be an object";
  if (input.type === "http") return httpProblem(input);
  if (input.type === "mcp") return mcpProblem(input);
  return 'bazaar.info.input.type must be "http" or "mcp"';
}

const queryMethods = ["GET", "HEAD", "DELETE"];
const bodyMethods = ["POST", "PUT", "PATCH"];

function httpProblem({ method, bodyType, body }: JsonObject): string | undefined {
  if (queryMethods.includes(method as string)) {
    return bodyType === undefined ? undefined : `bazaar.info.input.bodyType does not go with ${method}`;
  }
  if (!bodyMethods.includes(method as string)) {
    return `bazaar.info.input.method must be one of ${[...queryMethods, ...bodyMethods].join(", ")}`;
  }
  if (!["json", "form-data", "text"].includes(bodyType as string)) {
    return "bazaar.info.input.bodyType must be one of json, form-data, text";
  }
  return body === undefined ? "bazaar.info.input.body is missing" : undefined;
}

function mcpProblem({ toolName, tool, inputSchema, transport }: JsonObject): string | undefined {
  const name = toolName ?? tool;
  if (typeof name !== "string" || !/^[\x21-\x7e]{1,128}$/.test(name))
    return "bazaar.info.input.toolName is no tool name";
  if (!isJsonObject(inputSchema)) return "bazaar.info.input.inputSchema must be an object";
  if (transport === undefined || transport === "streamable-http" || transport === "sse") return undefined;
  return "bazaar.info.input.transport must be streamable-http or sse";
}

/** Earlier drafts called it `tool`. */
function withToolName(info: JsonObject): JsonObject {
  const input = info.input as JsonObject;
  return input.type === "mcp" ? { ...info, input: { ...input, toolName: input.toolName ?? input.tool } } : info;
}

/** Stops counting one level below `max`. */
function depthOf(value: unknown, max: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (max === 0) return 1;
  return 1 + Object.values(value).reduce((deepest, child) => Math.max(deepest, depthOf(child, max - 1)), 0);
}

function hasForeignReference(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  return Object.entries(node).some(
    ([name, value]) =>
      (/^\$(ref|id|dynamicRef|recursiveRef)$/.test(name) && !(typeof value === "string" && value.startsWith("#"))) ||
      hasForeignReference(value),
  );
}

/** A template that does not describe the path paid for is another resource's, or nonsense: the path itself is then listed. */
function readRouteTemplate(given: unknown, pathname: string): string | undefined {
  if (typeof given !== "string" || given.length > 512 || !/^\/[a-zA-Z0-9_/:.\-~%]+$/.test(given)) return undefined;
  const decoded = fullyDecoded(given);
  if (decoded === undefined || decoded.includes("..") || decoded.includes("://")) return undefined;
  const [template, path] = [given.split("/"), pathname.split("/")];
  const fits = template.every((part, index) => (part.includes(":") ? path[index] !== "" : part === path[index]));
  return fits && template.length === path.length ? given : undefined;
}

function fullyDecoded(text: string, passesLeft = 5): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    if (decoded === text) return decoded;
    return passesLeft > 1 ? fullyDecoded(decoded, passesLeft - 1) : undefined;
  } catch {
    return undefined;
  }
}

/** Data for people and for search, never markup or instructions: control and formatting characters go, the length is capped. */
function readText(given: unknown, lengthMax: number): string | undefined {
  if (typeof given !== "string") return undefined;
  const text = given
    .slice(0, lengthMax * 4)
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu, " ")
    .trim();
  return text === "" ? undefined : Array.from(text).slice(0, lengthMax).join("");
}

function readMimeType(given: unknown): string | undefined {
  return typeof given === "string" && /^[\w.+-]{1,64}\/[\w.+-]{1,64}(;[ -~]{0,64})?$/.test(given) ? given : undefined;
}

function isLabel(given: unknown): given is string {
  return typeof given === "string" && /^[\x20-\x7e]{1,32}$/.test(given);
}

function readTags(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  const byName = new Map<string, string>();
  for (const tag of given.slice(0, 50).filter(isLabel)) {
    if (!byName.has(tag.toLowerCase())) byName.set(tag.toLowerCase(), tag);
  }
  return [...byName.values()].slice(0, 5);
}

/** Shown by others, never fetched here. */
function isIconUrl(given: unknown): given is string {
  if (typeof given !== "string" || given.length > limits.urlLengthMax || /\p{Cc}/u.test(given)) return false;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !["https:", "http:"].includes(url.protocol) || url.username !== "" || url.password !== "") return false;
  return isPublicName(url.hostname);
}
