import { partsOf } from "./template.ts";

/** In place of a value while a template is checked; in a JSON text it would be wrong after a backslash. */
export const stand = "\u{e000}";

/** A text with `stand` in its slots. */
export const marked = (template: string): string => partsOf(template).literals.join(stand);

/**
 * Why one value of a body or an address may not have a slot: it is JSON or GraphQL itself, so that its reader decodes twice
 * what is escaped once. `text` is the value as its reader has it, `marked`.
 */
export function nestedProblem(text: string): string | undefined {
  return text.includes(stand) && nested.test(text)
    ? "has a slot in JSON or GraphQL that is inside of a string, where it cannot be escaped: give it a value of its own, as in GraphQL's variables"
    : undefined;
}

const nested = /^\s*(?:[[{]\s*["'[{]|\{\s*\w+\s*[({:]|(?:query|mutation|subscription|fragment)\b[^{]*\{)/;
