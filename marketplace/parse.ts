import { z } from "zod";
import { ApiError } from "../shared/errors.ts";

/** `given` in the schema's form; throws an ApiError that names every wrong field. */
export function parse<T>(schema: z.ZodType<T>, given: unknown, code: "bad_request" | "invalid_value"): T {
  const result = schema.safeParse(given, plainMessages);
  if (result.success) return result.data;
  const problems = problemsOf(result.error);
  const named = problems.slice(0, 10).map((problem) => sentenceOf(problem, "The body"));
  const field = problems[0]?.path.join(".");
  throw new ApiError(code, `${named.join("; ")}.`, field ? { body: { field } } : {});
}

/** What is wrong and where; read on after the field's name. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Where it is put right that is no part of what was given. */
  readonly remedy?: "wallets";
}

/** "path" message, as an error tells it. */
export function sentenceOf({ path, message }: Problem, whole: string): string {
  return `${path.length === 0 ? whole : `"${path.join(".")}"`} ${message}`;
}

/** The problems a schema found that was given `plainMessages`. */
export function problemsOf(error: z.ZodError, at: readonly (string | number)[] = []): Problem[] {
  return error.issues.flatMap((issue) => {
    const place = [...at, ...(issue.path as (string | number)[])];
    const { message } = issue;
    const isUnsaid = issue.code === "invalid_union" && message === nearest && issue.errors.length > 0;
    return isUnsaid ? problemsOf(new z.ZodError(nearestOf(issue.errors)), place) : [{ path: place, message }];
  });
}

/** For a union without a message of its own: then the alternative with the fewest problems counts as the one that was meant. */
const nearest = "is of no kind that is taken";

function nearestOf(alternatives: ReadonlyArray<z.core.$ZodIssue[]>): z.core.$ZodIssue[] {
  return alternatives.reduce((least, one) => (one.length < least.length ? one : least));
}

/** Messages that read on after the field's name; undefined leaves zod's own. */
function plainMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${nameOf(issue.expected)}`;
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`;
    case "too_big":
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
    case "too_small":
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
    case "unrecognized_keys":
      return `has unknown keys: ${issue.keys.join(", ")}`;
    case "invalid_union":
      return issue.input === undefined ? "is required" : nearest;
    default:
      return undefined;
  }
}

function nameOf(expected: string): string {
  const names: Record<string, string> = {
    string: "a text",
    number: "a number",
    int: "a whole number",
    boolean: "true or false",
    object: "an object",
    record: "an object",
    array: "a list",
  };
  return names[expected] ?? expected;
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters long";
  return origin === "array" ? " items long" : "";
}

/** Makes a schema speak so that its messages read on after the field's name. */
export const plainMessages = { error: plainMessage };
