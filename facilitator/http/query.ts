import { ApiError } from "../../shared/errors.ts";

/**
 * Reads a query string by the same definitions that describe it in the OpenAPI document. Throws ApiError 400 naming
 * the parameter; parameters that are not defined are left alone.
 */
export function readQuery<P extends Parameters>(parameters: P, query: Readonly<Record<string, unknown>>): Read<P> {
  const entries = Object.entries(parameters).map(([name, parameter]) => {
    const given = query[name];
    if (given !== undefined && typeof given !== "string") throw malformed(name, "given once");
    return [name, given === undefined || given === "" ? parameter.fallback : parameter.read(given, name)];
  });
  return Object.fromEntries(entries) as Read<P>;
}

/** A whole number; too small or too large a one becomes the nearest allowed, anything else is refused. */
export function whole(bounds: { min: number; max: number; fallback: number; description: string }): Parameter<number> {
  const { min, max, fallback, description } = bounds;
  return {
    description: `${description} From ${min} to ${max}; what lies outside becomes the nearest allowed.`,
    schema: { type: "integer", minimum: 0, default: fallback },
    fallback,
    read: (given, name) => {
      if (!/^\d{1,15}$/.test(given)) throw malformed(name, "a whole number");
      return Math.min(Math.max(Number(given), min), max);
    },
  };
}

export function oneOf<T extends string>(allowed: readonly T[], description: string): Parameter<T | undefined> {
  return {
    description,
    schema: { type: "string", enum: allowed },
    fallback: undefined,
    read: (given, name) => {
      if (!allowed.includes(given as T)) throw malformed(name, `one of ${allowed.join(", ")}`);
      return given as T;
    },
  };
}

export function text(lengthMax: number, description: string): Parameter<string | undefined> {
  return {
    description,
    schema: { type: "string", maxLength: lengthMax },
    fallback: undefined,
    read: (given, name) => {
      if (given.length > lengthMax) throw malformed(name, `at most ${lengthMax} characters long`);
      // PostgreSQL's text has no NUL.
      return given.replaceAll("\0", "");
    },
  };
}

/** A moment of ISO 8601 in UTC; of a day its first moment, or its end where `until` says so. */
export function moment(description: string, { until = false } = {}): Parameter<Date | undefined> {
  return {
    description: `${description} A day (\`2026-11-20\`, UTC) or a moment (\`2026-11-20T10:00:00Z\`).`,
    schema: { type: "string", examples: ["2026-11-20"] },
    fallback: undefined,
    read: (given, name) => {
      const isDay = /^\d{4}-\d\d-\d\d$/.test(given);
      const at = isDay || /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z$/.test(given) ? new Date(given) : undefined;
      // A day that no month has becomes one of the next month.
      if (!at || Number.isNaN(at.getTime()) || !at.toISOString().startsWith(given.slice(0, 10))) {
        throw malformed(name, "a day such as 2026-11-20, or a moment such as 2026-11-20T10:00:00Z");
      }
      return isDay && until ? new Date(at.getTime() + 86_400_000) : at;
    },
  };
}

/** A place in a list, as `encode` once gave it out. */
export function opaque<T>(read: (decoded: string) => T | undefined, description: string): Parameter<T | undefined> {
  return {
    description,
    schema: { type: "string" },
    fallback: undefined,
    read: (given, name) => {
      const decoded = Buffer.from(given, "base64url").toString();
      const place = encodeOpaque(decoded) === given ? read(decoded) : undefined;
      if (place === undefined) throw malformed(name, "a cursor taken from an earlier page");
      return place;
    },
  };
}

export function encodeOpaque(place: string): string {
  return Buffer.from(place).toString("base64url");
}

export interface Parameter<T> {
  readonly description: string;
  readonly schema: object;
  readonly required?: boolean;
  readonly fallback: T;
  read(given: string, name: string): T;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
export type Read<P extends Parameters> = { readonly [N in keyof P]: P[N] extends Parameter<infer T> ? T : never };

export function missing(name: string): ApiError {
  return new ApiError("bad_request", `${name} is required.`, { body: { field: name } });
}

export function malformed(name: string, expected: string): ApiError {
  return new ApiError("bad_request", `${name} must be ${expected}.`, { body: { field: name } });
}
