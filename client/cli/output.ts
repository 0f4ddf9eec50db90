import { writeFile } from "node:fs/promises";
import type { Output, VectorGraphics } from "../agent-marketplace.ts";
import type { Options } from "./arguments.ts";

/** Writes to standard output; to a terminal nothing that would steer it. */
export function say(text: string): void {
  const shown = process.stdout.isTTY ? harmless(text) : text;
  process.stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
}

/** Progress and what went wrong, on standard error. */
export function tell(text: string): void {
  process.stderr.write(`${harmless(text)}\n`);
}

/** What an agent answered, as what it is: text, addresses of pictures, or JSON. */
export function sayOutput(output: Output): void {
  if ("images" in output) say(output.images.join("\n"));
  else if (output.kind === "text") say(output.text);
  else sayJson(output.kind === "json" ? output.data : output);
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value, undefined, 2));
}

/** The drawing's markup, in a file where one is named. */
export async function sayDrawing(drawn: VectorGraphics, { out, json }: Options): Promise<void> {
  if (out !== undefined) await writeFile(out, drawn.svg);
  if (json) return sayJson(drawn);
  if (out === undefined) return say(drawn.svg);
  tell(`${out}: ${drawn.width} × ${drawn.height}, ${drawn.paths} paths, ${drawn.colors} colours, ${drawn.bytes} bytes`);
}

/** Without characters that a terminal takes for commands. */
function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}
