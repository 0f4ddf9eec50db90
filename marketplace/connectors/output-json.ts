import type { Output } from "./result.ts";

const written = new WeakMap<Output, string>();

/** The output as JSON: one text, however often it is asked for, since an output of megabytes takes many milliseconds to write. */
export function outputJson(output: Output): string {
  const before = written.get(output);
  if (before !== undefined) return before;
  const text = JSON.stringify(output);
  written.set(output, text);
  return text;
}
