import type { Field } from "./contract.ts";
import { extraInstructionsLengthMax, imageStart, lengthMaxOf, lengthMinOf } from "./field-limits.ts";

/** JSON Schema 2020-12 of an agent's input. */
export function jsonSchemaOf(fields: readonly Field[], acceptsExtraInstructions: boolean): object {
  const properties = Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)]));
  if (acceptsExtraInstructions) {
    properties.extraInstructions = {
      type: "string",
      maxLength: extraInstructionsLengthMax,
      description: "Anything to add to what the agent does.",
    };
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    required: fields.filter((field) => field.required && field.default === undefined).map(({ name }) => name),
  };
}

function propertyOf(field: Field): object {
  const { label, description, default: fallback, example } = field;
  return {
    ...(label === undefined ? {} : { title: label }),
    ...(description === undefined ? {} : { description }),
    ...ruleOf(field),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

function ruleOf(field: Field): object {
  const { min, max, choices, pattern } = field;
  switch (field.type) {
    case "boolean":
      return { type: "boolean" };
    case "choice":
      return { type: "string", enum: choices };
    case "number":
      return {
        type: "number",
        ...(min === undefined ? {} : { minimum: min }),
        ...(max === undefined ? {} : { maximum: max }),
      };
    case "integer":
      return { type: "integer", minimum: min ?? Number.MIN_SAFE_INTEGER, maximum: max ?? Number.MAX_SAFE_INTEGER };
    case "url":
      return { type: "string", format: "uri", pattern: "^[hH][tT][tT][pP][sS]?://", maxLength: lengthMaxOf(field) };
    case "image":
      return { type: "string", pattern: imageStart, maxLength: lengthMaxOf(field) };
    default:
      return {
        type: "string",
        ...(lengthMinOf(field) > 0 && { minLength: lengthMinOf(field) }),
        maxLength: lengthMaxOf(field),
        ...(pattern === undefined ? {} : { pattern }),
      };
  }
}
