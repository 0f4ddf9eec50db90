import { access, constants, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Output, VectorGraphics } from "../agent-marketplace.ts";
import { type Options, UsageError } from "./arguments.ts";

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

/** A paid result could not be written to its file, and is on standard output instead. */
export class NotWrittenError extends Error {}

/** Throws UsageError where a file cannot be written: asked before anything is paid. */
export async function checkWritable(file: string): Promise<void> {
  try {
    const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT" || file === "") throw error;
    });
    if (found?.isDirectory()) throw new Error("it is a directory");
    // Only of a directory can an address end in a slash.
    await access(found ? file : `${dirname(file)}/`, constants.W_OK);
  } catch (error) {
    throw new UsageError(`-o "${file}" cannot be written: ${(error as Error).message}. Nothing was sent.`);
  }
}

/** The drawing's markup, in a file where one is named. */
export async function sayDrawing(drawn: VectorGraphics, { out, json }: Options): Promise<void> {
  const failure = out === undefined ? undefined : await writeFile(out, drawn.svg).catch((error: Error) => error);
  if (json) sayJson(drawn);
  else if (out === undefined || failure) say(drawn.svg);
  if (failure) throw new NotWrittenError(`${out} cannot be written: ${failure.message}. What was drawn is printed.`);
  if (out === undefined || json) return;
  const { width, height, paths, colors, bytes, cost_usd: cost } = drawn;
  const paid = cost === 0 ? "free" : `${cost} USD`;
  tell(`${out}: ${width} × ${height}, ${paths} paths, ${colors} colours, ${bytes} bytes; ${paid}`);
}

/** Without characters that a terminal takes for commands. */
function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}
