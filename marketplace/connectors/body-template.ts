import type { FieldType } from "../input.ts";
import { marked, nestedProblem, stand } from "./nested-notation.ts";
import { type Filling, fillJson, fillText, partsOf, type Slot } from "./template.ts";
import { encodeUrlPart, hasSlotInName, pairsProblem } from "./url-template.ts";

/** The notation of a body: its reader takes a value for what its place in the notation says. */
type Notation = "json" | "form" | "plain";

/** Why a body template cannot be filled safely; read on after the field's name. */
export function bodyTemplateProblem(
  body: unknown,
  contentType: string | undefined,
  typeOf: (slot: Slot) => FieldType | undefined,
): string | undefined {
  const isText = typeof body === "string";
  if (isText && partsOf(body).slots.length === 0) return undefined;
  const notation = notationOf(body, contentType);
  if (!notation) return "has slots, which only JSON, application/x-www-form-urlencoded and text/plain may, in UTF-8";
  if (!isText) {
    return notation === "json"
      ? problemIn(JSON.parse(marked(JSON.stringify(body ?? null))))
      : "is JSON, and settings.headers say otherwise";
  }
  switch (notation) {
    case "json":
      return jsonProblem(body, typeOf);
    case "form":
      return hasSlotInName(body, { mayStandAlone: false })
        ? "must have its slots after a name and ="
        : pairsProblem(body);
    case "plain":
      return looksStructured(body, contentType !== undefined)
        ? "looks like JSON, XML or a form; settings.headers must say which by a content-type, so that values can be escaped"
        : undefined;
  }
}

/** A body that has no bodyTemplateProblem, filled. `contentType` is what the headers say; one is added where they say nothing. */
export function fillBody(
  body: unknown,
  contentType: string | undefined,
  filling: Filling,
): { text: string; contentType: string | undefined } {
  if (typeof body !== "string") {
    return { text: JSON.stringify(fillJson(body, filling)), contentType: contentType ?? "application/json" };
  }
  if (partsOf(body).slots.length === 0) return { text: body, contentType };
  switch (notationOf(body, contentType)) {
    case "json":
      return { text: fillJsonText(body, filling), contentType };
    case "form":
      return { text: fillText(body, filling, (value) => encodeUrlPart(String(value ?? ""))), contentType };
    case "plain":
      return { text: fillText(body, filling), contentType: contentType ?? "text/plain; charset=utf-8" };
    default:
      throw new Error("a body in an unknown notation has slots");
  }
}

function notationOf(body: unknown, contentType: string | undefined): Notation | undefined {
  if (contentType === undefined) return typeof body === "string" ? "plain" : "json";
  const [, type = "", parameters = ""] = /^\s*([\w.+-]+\/[\w.+-]+)\s*(;[^,]*)?$/.exec(contentType) ?? [];
  const charsets = [...parameters.matchAll(/charset[^=]*=\s*"?([^\s;"]*)/gi)];
  if (!charsets.every(([, charset = ""]) => /^(utf-?8|us-ascii)$/i.test(charset))) return undefined;
  if (/^(application|text)\/([\w.-]+\+)?json$/i.test(type)) return "json";
  if (/^application\/x-www-form-urlencoded$/i.test(type)) return "form";
  return /^text\/(plain|markdown)$/i.test(type) ? "plain" : undefined;
}

/** Many servers read JSON whatever its content-type says. Without one, a quoted value is taken for the syntax of some format. */
function looksStructured(body: string, declared: boolean): boolean {
  const { literals } = partsOf(body);
  if (/^\s*([[{"<]|[^\s=&]*=)/.test(literals.join("")) || /^\s*[^\s=&]*=/.test(literals.join(stand))) return true;
  if (/["']\s*:\s*["'][^"']*\u{e000}/u.test(literals.join(stand))) return true;
  return !declared && /[{[(,:=]\s*["'`][^"'`]*\u{e000}/u.test(literals.join(stand));
}

function jsonProblem(template: string, typeOf: (slot: Slot) => FieldType | undefined): string | undefined {
  const { slots } = partsOf(template);
  const places = placesOf(template);
  for (const [index, slot] of slots.entries()) {
    if (places[index] === "name") return "must be JSON with slots in its values, not in its names";
    const bare = places[index] === "value" && !bareTypes.has(typeOf(slot) ?? "text");
    if (bare)
      return `must have quotes around {{${slot.secret ? "secret." : ""}${slot.name}}}: it is no number or boolean`;
  }
  try {
    const filled = fillText(template, { values: {}, secrets: {} }, (_value, _slot, at) => sampleAt(places[at]));
    return problemIn(JSON.parse(filled));
  } catch {
    return "must be JSON, as its content-type says, once its slots are filled";
  }
}

/** What is wrong with a string anywhere in a JSON value. */
function problemIn(value: unknown): string | undefined {
  if (typeof value === "string") return nestedProblem(value);
  if (typeof value !== "object" || value === null) return undefined;
  for (const part of Object.values(value)) {
    const problem = problemIn(part);
    if (problem) return problem;
  }
  return undefined;
}

const sampleAt = (place: Place | undefined) => (place === "value" ? "null" : stand);
const bareTypes = new Set<FieldType>(["number", "integer", "boolean"]);

function fillJsonText(template: string, filling: Filling): string {
  const places = placesOf(template);
  return fillText(template, filling, (value, _slot, at) => {
    const inString = places[at] !== "value";
    return inString ? JSON.stringify(String(value ?? "")).slice(1, -1) : JSON.stringify(value ?? null);
  });
}

/** Where a slot of a JSON text stands: in a value's own place, or inside of a string that is a value or a property's name. */
type Place = "value" | "string" | "name";

const beforeColon = /\s*:/y;

function placesOf(template: string): Place[] {
  const places: Place[] = [];
  let inString = false;
  let escaped = false;
  /** The slots in the string that is open. */
  let here: number[] = [];
  for (const [index, literal] of partsOf(template).literals.entries()) {
    if (index > 0) {
      if (inString) here.push(index - 1);
      places.push(inString ? "string" : "value");
      escaped = false;
    }
    for (let at = 0; at < literal.length; at += 1) {
      const char = literal[at];
      if (escaped || (inString && char === "\\")) {
        escaped = !escaped;
        continue;
      }
      if (char !== '"') continue;
      inString = !inString;
      if (inString) continue;
      beforeColon.lastIndex = at + 1;
      if (beforeColon.test(literal)) for (const slot of here) places[slot] = "name";
      here = [];
    }
  }
  return places;
}
