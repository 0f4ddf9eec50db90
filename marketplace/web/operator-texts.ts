import { readFileSync, statSync } from "node:fs";
import type { EnvReader } from "../../shared/env.ts";

/** The operator's own pages, as Markdown or plain text; undefined: there is no such page. */
export interface OperatorTexts {
  readonly terms: string | undefined;
  readonly privacy: string | undefined;
  readonly imprint: string | undefined;
}

/** Read once, at the start: a file that cannot be read keeps the service from starting. */
export function readOperatorTexts(env: EnvReader): OperatorTexts {
  return {
    terms: readText(env, "TERMS_FILE"),
    privacy: readText(env, "PRIVACY_FILE"),
    imprint: readText(env, "IMPRINT_FILE"),
  };
}

const bytesMax = 500_000;

function readText(env: EnvReader, name: string): string | undefined {
  const path = env.optional(name);
  if (path === undefined) return undefined;
  try {
    if (statSync(path).size > bytesMax)
      return env.problem(`${name} must name a file of at most ${bytesMax} bytes`, undefined);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)).trim();
    if (text === "") return env.problem(`${name} names an empty file`, undefined);
    return /\.(md|markdown)$/i.test(path) ? text : withItsLines(text);
  } catch {
    return env.problem(`${name} must name a text file in UTF-8 that can be read; "${path}" is none`, undefined);
  }
}

/** Plain text as Markdown: its lines stay lines, as those of an address. */
const withItsLines = (text: string) => text.replaceAll(/(?<=\S)[ \t]*\r?\n(?=\S)/g, "  \n");
