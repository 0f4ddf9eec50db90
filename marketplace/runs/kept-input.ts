import type { Input, Values } from "../input.ts";

/** Characters of all texts together: longer inputs, such as images, are not kept with the run. */
const keptCharactersMax = 32_768;

/** An input as its run keeps it, for the buyer alone, who may run it again; undefined when it is too long for that. */
export function keptInput({ values, extraInstructions = "" }: Input): string | undefined {
  let characters = extraInstructions.length;
  for (const value of Object.values(values)) characters += typeof value === "string" ? value.length : 0;
  if (characters > keptCharactersMax) return undefined;
  return JSON.stringify(extraInstructions ? { values, extraInstructions } : { values });
}

/** What `keptInput` kept, as the run's buyer would post it. */
export function askedInput(kept: Kept | null): Readonly<Record<string, string | number | boolean>> | null {
  if (!kept) return null;
  return kept.extraInstructions ? { ...kept.values, extraInstructions: kept.extraInstructions } : kept.values;
}

export interface Kept {
  readonly values: Values;
  readonly extraInstructions?: string;
}
