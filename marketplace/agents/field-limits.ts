import type { FieldType } from "../input.ts";
import type { Field } from "./contract.ts";

export const extraInstructionsLengthMax = 2_000;
export const patternTextLengthMax = 2_000;
const lengthMaxByType: Partial<Record<FieldType, number>> = {
  string: 2_000,
  text: 20_000,
  url: 2_048,
  image: 1_500_000,
};
/**
 * What the patterns of one agent may cost together, in steps × characters: about 20 ms of a slow machine, during which
 * no other request is answered.
 */
export const patternWorkMax = 1_000_000;
export const imageStart = "^(https://|data:image/(png|jpeg|webp);base64,)";

/** Characters that a text field may have. */
export function lengthMaxOf(field: Field): number {
  const usual = field.pattern === undefined ? (lengthMaxByType[field.type] ?? 0) : patternTextLengthMax;
  return field.max_length ?? usual;
}

/** An empty text is as good as none where one is required. */
export function lengthMinOf({ type, required, default: fallback }: Field): number {
  const isText = type === "string" || type === "text";
  return isText && required && fallback === undefined ? 1 : 0;
}
