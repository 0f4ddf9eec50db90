import { readFile } from "node:fs/promises";
import { parse as parseYaml } from "yaml";

/** The options of every command, as node:util's parseArgs takes them. */
export const options = {
  account: { type: "string" },
  address: { type: "string" },
  email: { type: "string" },
  agent: { type: "string" },
  agents: { type: "string" },
  all: { type: "boolean" },
  credits: { type: "string" },
  file: { type: "string" },
  handle: { type: "string" },
  help: { type: "boolean", short: "h" },
  id: { type: "string" },
  "if-missing": { type: "boolean" },
  json: { type: "boolean" },
  limit: { type: "string" },
  "max-credits-per-day": { type: "string" },
  "max-credits-per-month": { type: "string" },
  name: { type: "string" },
  network: { type: "string" },
  note: { type: "string" },
  "rate-limit": { type: "string" },
  reason: { type: "string" },
  reference: { type: "string" },
  scope: { type: "string" },
  unchecked: { type: "boolean" },
} as const;

export type Options = Partial<Record<keyof typeof options, string | boolean>>;

/** Reads a command's options by name and says which one is missing or wrong. */
export class Arguments {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Undefined when it is left out. One that is given and empty, as of a variable that is not set, is refused. */
  optional(name: keyof Options): string | undefined {
    const value = this.#options[name];
    if (value === "") throw new UsageError(`--${name} is empty`);
    return typeof value === "string" ? value : undefined;
  }

  text(name: keyof Options): string {
    const value = this.optional(name);
    if (value === undefined) throw new UsageError(`--${name} is required`);
    return value;
  }

  flag(name: keyof Options): boolean {
    return this.#options[name] === true;
  }

  optionalInteger(name: keyof Options): number | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,15}$/.test(value)) throw new UsageError(`--${name} must be a whole number`);
    return Number(value);
  }

  integer(name: keyof Options): number {
    this.text(name);
    return this.optionalInteger(name)!;
  }

  optionalChoice<T extends string>(name: keyof Options, allowed: readonly T[]): T | undefined {
    const value = this.optional(name);
    if (value === undefined || allowed.includes(value as T)) return value as T | undefined;
    throw new UsageError(`--${name} must be one of ${allowed.join(", ")}`);
  }
}

/** The command was not given as it must be; the message says how. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A YAML file that holds a mapping, or a UsageError; bad YAML is a YAMLParseError that names the line. */
export async function readYaml(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code})`);
  });
  const value: unknown = parseYaml(text, { maxAliasCount: 100 });
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError(`${file} must hold a mapping`);
}
