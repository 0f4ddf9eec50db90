import { ApiError } from "./errors.ts";

/** A JSON object whose fields are not known yet. */
export type JsonObject = { readonly [field: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Neither missing nor null. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** JSON without spaces, the members of every object in the order of their names' UTF-16 code units (RFC 8785). */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, membersByName);
}

/** The replacer by which `JSON.stringify` writes that. */
export function membersByName(_name: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The readers below take the value of `path`'s last name in `parent`; `path` is how the caller of the API finds it in the
 * body. Each throws ApiError 400 that names the whole path when the value is missing or of another type.
 */
export function textAt(parent: JsonObject, path: string): string {
  const value = valueAt(parent, path);
  return typeof value === "string" ? value : refuseValue(path, value, "a string");
}

/** An empty path is `parent` itself, which errors then call `name`. */
export function objectAt(parent: unknown, path: string, name = path): JsonObject {
  const value = path === "" ? parent : valueAt(parent as JsonObject, path);
  return isJsonObject(value) ? value : refuseValue(name, value, "a JSON object");
}

export function integerAt(parent: JsonObject, path: string): number {
  const value = valueAt(parent, path);
  return Number.isSafeInteger(value) ? (value as number) : refuseValue(path, value, "an integer");
}

function valueAt(parent: JsonObject, path: string): unknown {
  const name = path.slice(path.lastIndexOf(".") + 1);
  return Object.hasOwn(parent, name) ? parent[name] : undefined;
}

function refuseValue(path: string, value: unknown, expected: string): never {
  const message = isGiven(value) ? `${path} must be ${expected}.` : `${path} is required.`;
  throw new ApiError("bad_request", message, { body: { field: path } });
}
