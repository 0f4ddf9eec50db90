import { inspect } from "node:util";

/**
 * Reads a service's environment once and remembers every problem, so that a service that cannot start says all of
 * what is wrong at once. Call `finish()` after the last read; it throws ConfigError when anything was amiss.
 */
export class EnvReader {
  readonly problems: string[] = [];
  /** What is taken as it was said, and was meant otherwise most likely. */
  readonly doubts: string[] = [];
  readonly #env: Record<string, string | undefined>;
  readonly #asked = new Set<string>();

  constructor(env: Record<string, string | undefined>) {
    this.#env = env;
  }

  /** A non-empty text, or the default; without a default a missing variable is a problem. */
  text(name: string, fallback?: string): string {
    return this.#raw(name) ?? fallback ?? this.#missing(name, "");
  }

  optional(name: string): string | undefined {
    return this.#raw(name);
  }

  /** One of the given words. */
  choice<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const value = this.#raw(name);
    if (value === undefined) return fallback;
    if (allowed.includes(value as T)) return value as T;
    return this.problem(`${name} must be one of ${allowed.join(", ")}`, fallback);
  }

  /** A whole decimal number within the bounds, both included. */
  integer(name: string, fallback: number, bounds: { min?: number; max?: number } = {}): number {
    const value = this.#raw(name);
    if (value === undefined) return fallback;
    const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = bounds;
    if (Number.isNaN(number) || number < min || number > max) {
      return this.problem(`${name} must be a whole number between ${min} and ${max}`, fallback);
    }
    return number;
  }

  /** A whole number of base units, `least` or more. Beyond what it usually is, that is told, as it was meant in another unit most likely. */
  amount(name: string, fallback: bigint, { unit, min, max, least = 0n }: AmountRange): bigint {
    const value = this.#raw(name);
    if (value === undefined) return fallback;
    const amount = /^\d{1,78}$/.test(value) ? BigInt(value) : -1n;
    if (amount < least) return this.problem(`${name} must be a whole number of ${unit}, ${least} or more`, fallback);
    if (amount > max || (amount < min && amount !== 0n))
      this.doubts.push(`${name} is ${amount} ${unit}: it is between ${min} and ${max} anywhere else`);
    return amount;
  }

  /** `true`/`1`/`yes` or `false`/`0`/`no`; anything else is a problem, never silently true. */
  flag(name: string, fallback: boolean): boolean {
    const value = this.#raw(name)?.toLowerCase();
    if (value === undefined) return fallback;
    if (["true", "1", "yes"].includes(value)) return true;
    if (["false", "0", "no"].includes(value)) return false;
    return this.problem(`${name} must be true or false`, fallback);
  }

  /** A comma-separated list without empty items. */
  list(name: string, fallback: readonly string[] = []): readonly string[] {
    const value = this.#raw(name);
    if (value === undefined) return fallback;
    return value
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  }

  /** An absolute URL with one of the schemes, without a trailing slash. */
  url(name: string, fallback?: string, schemes: readonly string[] = ["http:", "https:"]): string {
    const value = this.#raw(name) ?? fallback;
    if (value === undefined) return this.#missing(name, "");
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (!url || !schemes.includes(url.protocol)) {
      const expected = schemes.map((scheme) => `${scheme}//`).join(" or ");
      return this.problem(`${name} must be a URL starting with ${expected}`, value);
    }
    return value.replace(/\/+$/, "");
  }

  /** A secret; problems never quote it. */
  secret(name: string, pattern?: RegExp, meaning = "in the expected form"): Secret {
    const value = this.#raw(name);
    if (value === undefined) return new Secret(this.#missing(name, ""));
    if (pattern && !pattern.test(value)) return this.problem(`${name} is not ${meaning}`, new Secret(value));
    return new Secret(value);
  }

  /** Notes what is wrong and lets reading go on with a placeholder that never reaches a started service. */
  problem<T>(message: string, placeholder: T): T {
    this.problems.push(message);
    return placeholder;
  }

  finish(service: string): void {
    if (this.problems.length > 0) throw new ConfigError(service, this.problems);
  }

  /** The variables whose names have this form and were never read: misspelt, most likely. */
  unread(form: RegExp): readonly string[] {
    return Object.keys(this.#env).filter((name) => form.test(name) && !this.#asked.has(name));
  }

  #raw(name: string): string | undefined {
    this.#asked.add(name);
    const value = this.#env[name]?.trim();
    return value === "" ? undefined : value;
  }

  #missing<T>(name: string, placeholder: T): T {
    return this.problem(`${name} is missing`, placeholder);
  }
}

/** What an amount is counted in, what it usually is where it is not 0, and the least that it can be. */
export interface AmountRange {
  readonly unit: string;
  readonly min: bigint;
  readonly max: bigint;
  readonly least?: bigint;
}

/** A value that never shows itself in a log, an error or JSON; ask for it by name where it is used. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}

/** Everything that keeps a service from starting, in one message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(service: string, problems: readonly string[]) {
    super(`${service} cannot start:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}
