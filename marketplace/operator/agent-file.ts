import { readFile } from "node:fs/promises";
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { sentenceOf } from "../agents/check.ts";
import type { Problem } from "../parse.ts";
import { UsageError } from "./given.ts";

/** An agent's definition in YAML (or JSON): `agent: handle/slug` and the rest. */
export interface AgentFile {
  readonly handle: string;
  readonly slug: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** The problems as an error that says in which line of the file each one is. */
  refusal(problems: readonly Problem[]): UsageError;
}

/** Throws a UsageError with line and column for a file that is no YAML or names no agent. */
export async function readAgentFile(file: string): Promise<AgentFile> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code})`);
  });
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  const refusal = (problems: readonly Problem[]) =>
    new UsageError(
      problems.map((one) => `${at(offsetOf(document.contents, one.path))}: ${sentenceOf(one)}`).join("\n"),
    );
  const [broken] = document.errors;
  if (broken) throw new UsageError(`${at(broken.pos[0])}: ${broken.message.split(" at line")[0]}`);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${file}:1:1: an agent's file must hold a mapping`);
  }
  const { agent, ...definition } = value as Record<string, unknown>;
  const [handle, slug, rest] = typeof agent === "string" ? agent.split("/") : [];
  if (!handle || !slug || rest !== undefined) {
    throw refusal([{ path: ["agent"], message: "must be handle/slug" }]);
  }
  return { handle, slug, definition, refusal };
}

/** Where the path leads to, or its last part that is there. */
function offsetOf(contents: unknown, path: readonly (string | number)[]): number {
  let at: Node | null = isNode(contents) ? contents : null;
  let offset = at?.range?.[0] ?? 0;
  for (const part of path) {
    if (isMap(at)) {
      const pair = at.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === String(part));
      if (!pair) break;
      offset = isNode(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
      at = isNode(pair.value) ? pair.value : null;
    } else {
      const item: unknown = at && "items" in at ? (at.items as unknown[])[Number(part)] : undefined;
      if (!isNode(item)) break;
      at = item;
      offset = item.range?.[0] ?? offset;
    }
  }
  return offset;
}
