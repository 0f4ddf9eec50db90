import type { Input, Value, Values } from "../agents/contract.ts";

const slot = /\{\{\s*(secret\.)?([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g;
const onlySlot = new RegExp(`^${slot.source}$`);

/** What fills `{{field}}` and `{{secret.name}}`. */
export interface Filling {
  readonly values: Values;
  readonly secrets: Values;
}

/** What a call has to fill templates with; `{{extraInstructions}}` is a field like any other. */
export function fillingOf({ values, secrets, extraInstructions }: Input & { readonly secrets: Values }): Filling {
  return { values: extraInstructions === undefined ? values : { ...values, extraInstructions }, secrets };
}

/** The fields and secrets that the texts anywhere in `template` name. */
export function slotsOf(template: unknown): { fields: string[]; secrets: string[] } {
  const fields = new Set<string>();
  const secrets = new Set<string>();
  for (const text of textsOf(template)) {
    for (const [, secret, name] of text.matchAll(slot)) (secret ? secrets : fields).add(name!);
  }
  return { fields: [...fields], secrets: [...secrets] };
}

/** Fills every slot once, so that braces in a buyer's text stay text. A field that was not given is empty. */
export function fillText(
  template: string,
  filling: Filling,
  encode: (text: string) => string = (text) => text,
): string {
  return template.replace(slot, (_whole, secret: string | undefined, name: string) => {
    const value = valueIn(filling, secret, name);
    return value === undefined ? "" : encode(String(value));
  });
}

/** Fills the texts inside a JSON template; a text that is one slot alone keeps the value's type, absent ones are null. */
export function fillJson(template: unknown, filling: Filling): unknown {
  if (typeof template === "string") {
    const [, secret, name] = onlySlot.exec(template) ?? [];
    return name === undefined ? fillText(template, filling) : (valueIn(filling, secret, name) ?? null);
  }
  if (Array.isArray(template)) return template.map((item) => fillJson(item, filling));
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, item]) => [name, fillJson(item, filling)]));
}

function valueIn({ values, secrets }: Filling, secret: string | undefined, name: string): Value | undefined {
  const source = secret ? secrets : values;
  return Object.hasOwn(source, name) ? source[name] : undefined;
}

function* textsOf(template: unknown): Generator<string> {
  if (typeof template === "string") yield template;
  else if (typeof template === "object" && template !== null) {
    for (const item of Object.values(template)) yield* textsOf(item);
  }
}
