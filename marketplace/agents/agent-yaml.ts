import { Document, isMap, isNode, isScalar, isSeq, Lexer, LineCounter, type Node, parseDocument, visit } from "yaml";

/** An agent's definition in YAML (or JSON): `agent: handle/slug` and the rest. */
export interface AgentText {
  readonly handle: string;
  readonly slug: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** Where in the text the path leads to, or its last part that is there. */
  placeOf(path: readonly (string | number)[]): Place;
}

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A text that is no YAML, or names no agent. */
export class AgentYamlError extends Error {
  override readonly name = "AgentYamlError";
  readonly place: Place;

  constructor(message: string, place: Place) {
    super(message);
    this.place = place;
  }
}

/** Throws an AgentYamlError. */
export function parseAgentYaml(text: string): AgentText {
  requireFewParts(text);
  const lines = new LineCounter();
  const document = parseDocument(text, readInTime(lines));
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const placeOf = (path: readonly (string | number)[]) => at(offsetOf(document.contents, path));
  const [broken] = document.errors;
  if (broken) throw new AgentYamlError(broken.message, at(broken.pos[0]));
  const twice = repeatedKey(document);
  if (twice) throw new AgentYamlError("Map keys must be unique", at(twice.range?.[0] ?? 0));
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AgentYamlError("an agent's file must hold a mapping", { line: 1, column: 1 });
  }
  const { agent, ...definition } = value as Record<string, unknown>;
  const [handle, slug, rest] = typeof agent === "string" ? agent.split("/") : [];
  if (!handle || !slug || rest !== undefined) {
    throw new AgentYamlError('"agent" must be handle/slug', placeOf(["agent"]));
  }
  return { handle, slug, definition, placeOf };
}

/**
 * The library compares each key of a map with all others, and tells of each error what stands around it: both take the square of the
 * text's length, seconds for one that is allowed here.
 */
const readInTime = (lineCounter: LineCounter) => ({ lineCounter, uniqueKeys: false, prettyErrors: false });

/** Reading a part takes microseconds, and a caller may send a text that is nothing but parts. */
function requireFewParts(text: string): void {
  let parts = 0;
  for (const _ of new Lexer().lex(text)) {
    parts += 1;
    if (parts > partsMax) throw new AgentYamlError("the text has too many parts", { line: 1, column: 1 });
  }
}

/** Twice the parts of the largest agent: as many fields as it may have, each with as many choices. */
const partsMax = 40_000;

function repeatedKey(document: Document.Parsed): Node | undefined {
  let repeated: Node | undefined;
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Set<unknown>();
      const again = items.find(({ key }) => isScalar(key) && seen.size === seen.add(key.value).size);
      if (!again) return undefined;
      repeated = again.key as Node;
      return visit.BREAK;
    },
  });
  return repeated;
}

/** The YAML text of a definition, a field a line. Secrets are never in it: a comment names those that the agent has. */
export function agentYaml(
  address: string,
  definition: Readonly<Record<string, unknown>>,
  secretNames: readonly string[],
): string {
  const told = secretNames.length === 0 ? "" : `\n# secrets that are kept and not told: ${secretNames.join(", ")}\n`;
  const parts = Object.entries({ agent: address, ...definition });
  return parts.map(([name, value]) => partYaml(name, value)).join("") + told;
}

function partYaml(name: string, value: unknown): string {
  if (isLarge(value)) return `${name}:\n  ${jsonLines(value, name === "fields" ? 1 : 2)}\n`;
  const document = new Document({ [name]: value });
  const node = document.get(name);
  if (isSeq(node) && name === "tags") node.flow = true;
  if (isSeq(node) && name === "fields") for (const item of node.items) if (isMap(item)) item.flow = true;
  return document.toString({ lineWidth: 0 });
}

/**
 * JSON, which is YAML as it is: for what is large the library would take tenths of a second. What is nested in more than `depth` others
 * is on one line.
 */
function jsonLines(value: unknown, depth: number, indent = "  "): string {
  const hasLines = typeof value === "object" && value !== null && depth > 0 && Object.keys(value).length > 0;
  if (!hasLines) return JSON.stringify(value);
  const line = `\n${indent} `;
  const inner = (one: unknown) => jsonLines(one, depth - 1, `${indent} `);
  if (Array.isArray(value)) return `[${line}${value.map(inner).join(`,${line}`)}\n${indent}]`;
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${inner(one)}`);
  return `{${line}${members.join(`,${line}`)}\n${indent}}`;
}

/** Whether it has more parts than the library writes in some milliseconds. */
function isLarge(value: unknown): boolean {
  let left = partsByLibrary;
  const count = (inner: unknown): boolean => {
    left -= 1;
    if (left < 0) return true;
    return typeof inner === "object" && inner !== null && Object.values(inner).some(count);
  };
  return count(value);
}

const partsByLibrary = 1_000;

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
