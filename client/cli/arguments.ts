import { parseArgs } from "node:util";

const options = {
  url: { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
  quiet: { type: "boolean", short: "q" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
  timeout: { type: "string" },
  retries: { type: "string" },
  input: { type: "string" },
  "max-credits": { type: "string" },
  "max-usd": { type: "string" },
  network: { type: "string" },
  "idempotency-key": { type: "string" },
  purchase: { type: "string" },
  limit: { type: "string" },
  category: { type: "string" },
  "max-price": { type: "string" },
  free: { type: "boolean" },
  "per-call": { type: "boolean" },
  out: { type: "string", short: "o" },
  style: { type: "string" },
  mode: { type: "string" },
  colors: { type: "string" },
  simplify: { type: "string" },
  aspect: { type: "string" },
  background: { type: "string" },
  seed: { type: "string" },
  hd: { type: "boolean" },
  layers: { type: "boolean" },
  "remove-background": { type: "boolean" },
} as const;

/** The command line is wrong; nothing was sent. */
export class UsageError extends Error {}

export type Options = ReturnType<typeof parsed>["values"];

/** Throws UsageError for an option that there is not. */
export function readArguments(words: readonly string[]): {
  readonly options: Options;
  readonly words: readonly string[];
} {
  try {
    const { values, positionals } = parsed(words);
    return { options: values, words: positionals };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function parsed(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true });
}

export type OptionName = keyof Options;

/** Options of all commands. */
export const everywhere: readonly OptionName[] = ["url", "key", "json", "quiet", "timeout", "retries"];

/** Refuses options that would be ignored: the person who typed them counts on them. Throws UsageError. */
export function refuseOthers(options: Options, taken: readonly OptionName[], command: string): void {
  const other = (Object.keys(options) as OptionName[]).find((name) => !taken.includes(name));
  if (other !== undefined) throw new UsageError(`"${command}" takes no --${other} here; --help lists what it takes.`);
}

/** A number that was given as text; undefined where there was none. */
export function numberOf(name: OptionName, { [name]: text }: Options): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) throw new UsageError(`--${name} must be a number.`);
  return value;
}
