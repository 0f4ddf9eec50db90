import type { AgentDetail, DescribedField } from "../../agents/detail.ts";
import type { Value } from "../../input.ts";
import { controlName } from "./input-fields.tsx";

/** The first values of an agent's form, so that Run works untouched: examples, else defaults, else usual values. */
export function exampleInput({ inputs }: Pick<AgentDetail, "inputs">): Record<string, Value> {
  return Object.fromEntries(inputs.flatMap((field) => startOf(field).map((value) => [field.name, value])));
}

function startOf(field: DescribedField): Value[] {
  const given = field.example ?? field.default;
  if (given !== null) return [given];
  if (!field.required) return [];
  switch (field.type) {
    case "boolean":
      return [false];
    case "number":
    case "integer":
      return [field.min ?? 1];
    case "choice":
      return field.choices?.slice(0, 1) ?? [];
    case "url":
    case "image":
      return ["https://example.com/"];
    default:
      return [];
  }
}

/** A posted form as the run's input: what was left empty is left out. Its rules are the contract's to check. */
export function inputOfForm(fields: readonly DescribedField[], form: URLSearchParams): Record<string, Value> {
  return Object.fromEntries(fields.flatMap((field) => valueIn(field, form).map((value) => [field.name, value])));
}

/** The extra instructions have a field of their own. */
export const extraField: DescribedField = {
  name: "extraInstructions",
  label: "Extra instructions",
  type: "text",
  required: false,
  default: null,
  description: "Added to the creator’s recipe.",
  max_length: 2_000,
  min: null,
  max: null,
  choices: null,
  pattern: null,
  example: null,
};

export function fieldsOf({ inputs, accepts_extra_instructions: extra }: AgentDetail): readonly DescribedField[] {
  return extra ? [...inputs, extraField] : inputs;
}

function valueIn({ name, type }: DescribedField, form: URLSearchParams): Value[] {
  const control = controlName(name);
  const given = form.get(control) ?? "";
  if (type === "boolean") return form.has(`${control}.asked`) ? [given === "true"] : [];
  if (given === "") return [];
  if (type !== "number" && type !== "integer") return [given.replaceAll("\r\n", "\n")];
  const number = Number(given);
  return [Number.isFinite(number) ? number : given];
}
