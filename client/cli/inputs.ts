import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageError } from "./arguments.ts";

/**
 * An agent's input: `name=text`, `name:=JSON` and `name=@file` over what `--input` gives (JSON, `@file`, or `-` for what comes
 * in on standard input).
 */
export async function readInputs(
  words: readonly string[],
  whole: string | undefined,
): Promise<Record<string, unknown>> {
  const input = whole === undefined ? {} : objectIn(await textGiven(whole));
  for (const word of words) {
    const [, name, kind, value] = /^([\w.-]+)(:?=)(.*)$/s.exec(word) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`"${word}" is no input: write name=text, name:=JSON or name=@file.`);
    }
    if (kind === ":=") input[name] = jsonIn(value, name);
    else input[name] = value.startsWith("@") ? await fileAsInput(value.slice(1)) : value;
  }
  return input;
}

async function textGiven(whole: string): Promise<string> {
  if (whole === "-") return text(process.stdin);
  return whole.startsWith("@") ? textOf(await fileIn(whole.slice(1))) : whole;
}

function objectIn(json: string): Record<string, unknown> {
  const value = jsonIn(json, "--input");
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new UsageError("--input must be a JSON object of the agent's fields.");
}

function jsonIn(json: string, name: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError(`${name}: "${json.slice(0, 60)}" is not JSON.`);
  }
}

/** A picture as a data: address, anything else as its text. */
async function fileAsInput(path: string): Promise<string> {
  const bytes = await fileIn(path);
  const type = pictureTypeOf(bytes);
  return type ? `data:${type};base64,${bytes.toString("base64")}` : textOf(bytes);
}

/** Without the mark that Windows' programs begin a file with. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes);
}

export async function fileIn(path: string): Promise<Buffer> {
  return readFile(path).catch((error: Error) => {
    throw new UsageError(`${path} cannot be read: ${error.message}`);
  });
}

function pictureTypeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))) return "image/png";
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return "image/jpeg";
  return bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"
    ? "image/webp"
    : undefined;
}
