import type { Input, Value, Values } from "../input.ts";
import type { Problem } from "../parse.ts";
import { unfitInput } from "./result.ts";

const slot = /\{\{\s*(secret\.)?([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g;
const onlySlot = new RegExp(`^${slot.source}$`);
/** Characters that values may add to what one run sends: a template can name a long value thousands of times. */
const addedMax = 8_000_000;

/** What fills `{{field}}` and `{{secret.name}}`. */
export interface Filling {
  readonly values: Values;
  readonly secrets: Values;
  /** Characters that may still be added. */
  left?: number;
}

/** What a call has to fill templates with; `{{extraInstructions}}` is a field like any other. */
export function fillingOf({ values, secrets, extraInstructions }: Input & { readonly secrets: Values }): Filling {
  const named = extraInstructions === undefined ? values : { ...values, extraInstructions };
  return { values: named, secrets, left: addedMax };
}

/** What the texts anywhere in `template` name, and the braces in them that can only be mistakes. */
export function slotsOf(template: unknown): Slots {
  const fields = new Set<string>();
  const secrets = new Set<string>();
  const problems: Problem[] = [];
  for (const { path, text, isName } of textsOf(template, [])) {
    const { slots } = partsOf(text);
    for (const { secret, name } of slots) (secret ? secrets : fields).add(name);
    const message = isName && slots.length > 0 ? "must have no slots in its names" : braceProblem(text);
    if (message) problems.push({ path, message });
  }
  return { fields: [...fields], secrets: [...secrets], problems };
}

export interface Slots {
  readonly fields: readonly string[];
  readonly secrets: readonly string[];
  /** Their paths begin with a name in `template`. */
  readonly problems: readonly Problem[];
}

/** A text cut at its slots: one literal more than slots. */
export function partsOf(template: string): { literals: string[]; slots: Slot[] } {
  const literals: string[] = [];
  const slots: Slot[] = [];
  let at = 0;
  for (const { 0: whole, 1: secret, 2: name, index } of template.matchAll(slot)) {
    literals.push(template.slice(at, index));
    slots.push({ secret: secret !== undefined, name: name! });
    at = index + whole.length;
  }
  literals.push(template.slice(at));
  return { literals, slots };
}

export interface Slot {
  readonly secret: boolean;
  readonly name: string;
}

/** Whether the text is one slot and nothing else. */
export const isOnlySlot = (template: string) => onlySlot.test(template.trim());

/**
 * Fills every slot once, so that braces in a buyer's text stay text; `encode` makes a value fit its place, the how-manyth
 * slot it is. A field that was not given is empty.
 */
export function fillText(
  template: string,
  filling: Filling,
  encode: (value: Value | undefined, slot: Slot, at: number) => string = plain,
): string {
  const { literals, slots } = partsOf(template);
  const [first = "", ...rest] = literals;
  return rest.reduce((filled, literal, at) => {
    const text = encode(valueIn(filling, slots[at]!), slots[at]!, at);
    count(filling, text);
    return filled + text + literal;
  }, first);
}

/** Fills the texts inside a JSON template; a text that is one slot alone keeps the value's type, absent ones are null. */
export function fillJson(template: unknown, filling: Filling): unknown {
  if (typeof template === "string") {
    const [, secret, name] = onlySlot.exec(template) ?? [];
    if (name === undefined) return fillText(template, filling);
    const value = valueIn(filling, { secret: secret !== undefined, name }) ?? null;
    count(filling, String(value));
    return value;
  }
  if (Array.isArray(template)) return template.map((item) => fillJson(item, filling));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, item]) => [name, fillJson(item, filling)]));
}

const plain = (value: Value | undefined) => String(value ?? "");

function count(filling: Filling, added: string): void {
  filling.left = (filling.left ?? addedMax) - added.length;
  if (filling.left < 0) throw unfitInput("The input makes too long a request.");
}

function valueIn({ values, secrets }: Filling, { secret, name }: Slot): Value | undefined {
  const source = secret ? secrets : values;
  return Object.hasOwn(source, name) ? source[name] : undefined;
}

/** Beside its slots a text may hold any braces but these: `{{` begins a slot, and nothing else begins with `}}`. */
function braceProblem(text: string): string | undefined {
  let open = 0;
  for (const literal of partsOf(text).literals) {
    const odd = /\{\{.{0,30}/s.exec(literal)?.[0];
    if (odd !== undefined) return `holds ${JSON.stringify(odd)}, which is no {{field}} or {{secret.name}}`;
    for (const [brace] of literal.matchAll(/\{|\}+/g)) {
      open += brace === "{" ? 1 : -brace.length;
      if (open < 0 && brace.length > 1) return "holds }} that nothing opened";
      open = Math.max(0, open);
    }
  }
  return undefined;
}

interface FoundText {
  readonly path: readonly (string | number)[];
  readonly text: string;
  /** The text is a property's name, which is never filled. */
  readonly isName: boolean;
}

function* textsOf(template: unknown, path: readonly (string | number)[]): Generator<FoundText> {
  if (typeof template === "string") yield { path, text: template, isName: false };
  else if (Array.isArray(template)) {
    for (const [index, item] of template.entries()) yield* textsOf(item, [...path, index]);
  } else if (typeof template === "object" && template !== null) {
    for (const [name, item] of Object.entries(template)) {
      yield { path, text: name, isName: true };
      yield* textsOf(item, [...path, name]);
    }
  }
}
