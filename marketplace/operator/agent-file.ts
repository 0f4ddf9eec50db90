import { readFile } from "node:fs/promises";
import { type AgentText, AgentYamlError, type Place, parseAgentYaml } from "../agents/agent-yaml.ts";
import { agentSentence } from "../agents/check.ts";
import type { Problem } from "../parse.ts";
import { UsageError } from "./arguments.ts";

export interface AgentFile extends AgentText {
  /** The problems as an error that says in which line of the file each one is. */
  refusal(problems: readonly Problem[]): UsageError;
}

/** Throws a UsageError with line and column for a file that is no YAML or names no agent. */
export async function readAgentFile(file: string): Promise<AgentFile> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code})`);
  });
  const said = (place: Place, sentence: string) => `${file}:${place.line}:${place.column}: ${sentence}`;
  const parsed = parsedOr(text, ({ place, message }) => new UsageError(said(place, message)));
  const refusal = (problems: readonly Problem[]) =>
    new UsageError(problems.map((one) => said(parsed.placeOf(one.path), agentSentence(one))).join("\n"));
  return { ...parsed, refusal };
}

function parsedOr(text: string, refusal: (error: AgentYamlError) => UsageError): AgentText {
  try {
    return parseAgentYaml(text);
  } catch (error) {
    throw error instanceof AgentYamlError ? refusal(error) : error;
  }
}
