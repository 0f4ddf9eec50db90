import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { fieldTypes, type Input, type Value } from "../input.ts";
import { shownLine } from "../shown-text.ts";
import { jsonSchemaOf } from "./contract-schema.ts";
import {
  extraInstructionsLengthMax,
  imageStart,
  lengthMaxOf,
  lengthMinOf,
  patternTextLengthMax,
  patternWorkMax,
} from "./field-limits.ts";
import { compilePattern } from "./pattern.ts";
import { PatternError } from "./pattern-syntax.ts";

const value = z.union([z.string(), z.number(), z.boolean()]);

/** One input field as its creator declares it. Rules that make no sense together are refused by name. */
const fieldSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "must be a letter, then letters, digits or _ (64 at most)")
      .describe("What the input calls it, and templates as {{name}}."),
    label: shownLine(z.string().min(1).max(100)).optional().describe("What people see; the name when left out."),
    type: z.enum(fieldTypes),
    required: z.boolean().default(false).describe("Without a default it must be given, and a text must not be empty."),
    default: value.optional().describe("What it is when it is not given."),
    description: z.string().max(500).optional(),
    max_length: z.int().min(1).max(100_000).optional().describe("Characters of a string or text."),
    min: z.number().optional().describe("The least a number or integer may be."),
    max: z.number().optional().describe("The most a number or integer may be."),
    choices: z.array(z.string().min(1).max(200)).min(1).max(100).optional().describe("What a choice may be."),
    pattern: z
      .string()
      .optional()
      .describe("A regular expression that must match somewhere in a string or text; ^ and $ ask for the whole of it."),
    example: value.optional(),
  })
  .superRefine((field, issues) => {
    for (const [path, message] of fieldProblems(field)) issues.addIssue({ code: "custom", path: [path], message });
  })
  .meta({ id: "AgentField" });

export const fieldsSchema = z
  .array(fieldSchema)
  .max(50)
  .superRefine((fields, issues) => {
    const names = new Set<string>(["extraInstructions"]);
    fields.forEach(({ name }, index) => {
      if (names.has(name)) issues.addIssue({ code: "custom", path: [index, "name"], message: "is taken already" });
      names.add(name);
    });
    for (const [path, message] of [...workProblems(fields), ...valueProblems(fields)]) {
      issues.addIssue({ code: "custom", path, message });
    }
  });

export type Field = z.infer<typeof fieldSchema>;

/** Compiles the declared fields once, so that the check of an input and its description come from the same place. */
export function compileContract(fields: readonly Field[], acceptsExtraInstructions: boolean): Contract {
  const checks = fields.map(compileField);
  return {
    fields,
    acceptsExtraInstructions,
    jsonSchema: jsonSchemaOf(fields, acceptsExtraInstructions),
    read: (input) => {
      const given = (name: string) => (Object.hasOwn(input, name) ? (input[name] ?? undefined) : undefined);
      for (const { name, required, default: fallback } of fields) {
        if (required && fallback === undefined && given(name) === undefined) throw missing(name);
      }
      const values: Record<string, Value> = {};
      const work = { left: patternWorkMax };
      fields.forEach(({ name, default: fallback }, index) => {
        const found = given(name) ?? fallback;
        if (found === undefined) return;
        const problem = checks[index]!(found, work);
        if (problem) throw broken(name, problem);
        values[name] = found as Value;
      });
      const extra = acceptsExtraInstructions ? given("extraInstructions") : undefined;
      const problem = extra === undefined ? undefined : textProblem(extra, extraInstructionsLengthMax);
      if (problem) throw broken("extraInstructions", problem);
      return { values, ...(extra === undefined ? {} : { extraInstructions: extra as string }) };
    },
  };
}

export interface Contract {
  readonly fields: readonly Field[];
  readonly acceptsExtraInstructions: boolean;
  /** JSON Schema 2020-12 of an input. Undeclared keys are allowed, since they are dropped. */
  readonly jsonSchema: object;
  /**
   * The declared fields of an input with defaults filled in; everything undeclared is dropped. `null` counts as
   * absent. 400 when a required field is missing, 422 when a value breaks a rule; both name the field.
   */
  readonly read: (input: Readonly<Record<string, unknown>>) => Input;
}

function missing(field: string): ApiError {
  return new ApiError("bad_request", `"${field}" is required.`, { body: { field } });
}

function broken(field: string, problem: string): ApiError {
  return new ApiError("invalid_value", `"${field}" ${problem}.`, { body: { field } });
}

/** The problem of a value, if any. Takes the cost of its pattern from `work`, of which each field must leave enough for the next. */
type Check = (value: unknown, work: { left: number }) => string | undefined;

function compileField(field: Field): Check {
  const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE, choices = [] } = field;
  switch (field.type) {
    case "boolean":
      return (value) => (typeof value === "boolean" ? undefined : "must be true or false");
    case "choice":
      return (value) => (choices.includes(value as string) ? undefined : `must be one of ${choices.join(", ")}`);
    case "number":
      return (value) => (typeof value === "number" ? boundsProblem(value, min, max) : "must be a number");
    case "integer":
      return (value) =>
        Number.isSafeInteger(value) ? boundsProblem(value as number, min, max) : "must be a whole number";
    default:
      return compileText(field);
  }
}

function compileText(field: Field): Check {
  const lengthMax = lengthMaxOf(field);
  const lengthMin = lengthMinOf(field);
  const fits = field.pattern === undefined ? undefined : compilePattern(field.pattern);
  return (value, work) => {
    const problem = textProblem(value, lengthMax);
    if (problem) return problem;
    if ((value as string).length < lengthMin) return "must not be empty";
    if (field.type === "url" && !isWebUrl(value as string)) return "must be an http or https URL";
    if (field.type === "image" && !new RegExp(imageStart).test(value as string)) {
      return "must be an https URL or a data: URI of a PNG, JPEG or WebP image";
    }
    if (!fits) return undefined;
    work.left -= fits.workPerCharacter * (lengthOf(value as string) + 1);
    if (work.left < 0) return "is too long for its pattern to be checked, beside the other fields";
    return fits(value as string) ? undefined : `must match ${field.pattern}`;
  };
}

function boundsProblem(value: number, min: number, max: number): string | undefined {
  if (value < min) return `must be at least ${min}`;
  return value > max ? `must be at most ${max}` : undefined;
}

/** Length is counted in characters (code points), as JSON Schema does. */
function textProblem(value: unknown, lengthMax: number): string | undefined {
  if (typeof value !== "string") return "must be a text";
  const tooLong = value.length > lengthMax && (value.length > 2 * lengthMax || lengthOf(value) > lengthMax);
  return tooLong ? `must have at most ${lengthMax} characters` : undefined;
}

function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at + 1 < text.length; at += 1) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) length -= 1;
  }
  return length;
}

function isWebUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:\/\//i.test(value);
}

function* fieldProblems(field: Field): Generator<[keyof Field, string]> {
  const isText = field.type === "string" || field.type === "text";
  const isNumber = field.type === "number" || field.type === "integer";
  if (field.max_length !== undefined && !isText) yield ["max_length", "is for string and text fields"];
  if (field.pattern !== undefined && !isText) yield ["pattern", "is for string and text fields"];
  if (field.pattern !== undefined && (field.max_length ?? 0) > patternTextLengthMax) {
    yield ["max_length", `may be at most ${patternTextLengthMax} beside a pattern`];
  }
  if (field.min !== undefined && !isNumber) yield ["min", "is for number and integer fields"];
  if (field.max !== undefined && !isNumber) yield ["max", "is for number and integer fields"];
  if (field.min !== undefined && field.max !== undefined && field.min > field.max) yield ["max", "is below min"];
  if ((field.type === "choice") !== (field.choices !== undefined)) yield ["choices", "go with the type choice"];
  if (new Set(field.choices).size !== (field.choices?.length ?? 0)) yield ["choices", "must differ"];
  const pattern = patternOf(field);
  if (pattern instanceof PatternError) yield ["pattern", pattern.message];
}

function patternOf({ pattern }: Field): ReturnType<typeof compilePattern> | PatternError | undefined {
  try {
    return pattern === undefined ? undefined : compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
}

type Found = [path: (string | number)[], message: string];

/** Patterns that would take too long together, over all the characters their fields may have. */
function workProblems(fields: readonly Field[]): Found[] {
  const works = fields.flatMap((field) => {
    const pattern = patternOf(field);
    if (pattern === undefined || pattern instanceof PatternError) return [];
    return [{ name: field.name, work: pattern.workPerCharacter * (lengthMaxOf(field) + 1) }];
  });
  const total = works.reduce((sum, { work }) => sum + work, 0);
  if (total <= patternWorkMax) return [];
  const dearest = works.toSorted((a, b) => b.work - a.work).map(({ name, work }) => `${name} ${work}`);
  const named = `${dearest.slice(0, 10).join(", ")}${dearest.length > 10 ? " …" : ""}`;
  const message = `have patterns that take ${total} steps (${named}), at most ${patternWorkMax} together: use smaller repetitions or a smaller max_length`;
  return [[[], message]];
}

/** Defaults and examples that break the rules, looked at with no more work than one input may take each. */
function valueProblems(fields: readonly Field[]): Found[] {
  const spare = { default: { left: patternWorkMax }, example: { left: patternWorkMax } };
  return fields.flatMap((field, index) => {
    if (patternOf(field) instanceof PatternError) return [];
    const check = compileField(field);
    return (["default", "example"] as const).flatMap((name): Found[] => {
      const problem = field[name] === undefined ? undefined : check(field[name], spare[name]);
      return problem ? [[[index, name], problem]] : [];
    });
  });
}
