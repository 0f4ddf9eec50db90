import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileContract, type Field, fieldsSchema } from "../../marketplace/agents/contract.ts";
import { compilePattern } from "../../marketplace/agents/pattern.ts";
import { processorMs } from "../support/processor-time.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "1", " ", "é", "\n", "😀"), maxLength: 12 });

test("a pattern says yes and no as the built-in engine does", () => {
  const atom = fc.constantFrom(
    ..."a b [ab] [^a] . \\d \\W (?:ab) ^ $ \\b \\B (a*) \\u{61} \\u0062 \\x61 \\p{L} \\. [\\]a] [a-c1]".split(" "),
    "(|a)",
    "(a|b)",
    "(?:a|bb)",
  );
  const repetition = fc.constantFrom("", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "{0}");
  const sequence = fc.array(fc.tuple(atom, repetition), { maxLength: 6 }).map((items) => items.flat().join(""));
  const pattern = fc.oneof(
    sequence,
    fc.tuple(sequence, sequence).map(([a, b]) => `^(?:${a}|${b})*$`),
  );
  let compared = 0;
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      let expression: RegExp;
      try {
        expression = new RegExp(source, "uy");
      } catch {
        return;
      }
      compared += 1;
      expect(compilePattern(source)(given)).toBe(findsIn(given, expression));
    }),
    { numRuns: 3000 },
  );
  expect(compared).toBeGreaterThan(500);
});

/** Tried at each character: by itself the built-in engine also begins between the halves of one, against its specification. */
function findsIn(given: string, sticky: RegExp): boolean {
  let start = 0;
  return [...given, ""].some((character) => {
    sticky.lastIndex = start;
    start += character.length;
    return sticky.test(given);
  });
}

test.each(["^(a+)+$", "^(a|a)*$", "(a*)*b", "(.*)(.*)(.*)(.*)x", "(.?){160}x"])(
  "the pattern %s, which hangs a backtracking engine, is answered at once",
  (source) => {
    const matches = compilePattern(source);
    expect(processorMs(() => expect(matches(`${"a".repeat(1_999)}!`)).toBe(false))).toBeLessThan(1_000);
  },
);

test.each([
  ["(", "is not a regular expression"],
  ["(?=a)", "look-around"],
  ["(?<!a)", "look-around"],
  ["(a)\\1", "back-reference"],
  ["a{501}", "too large"],
  ["(){99999999}", "too large"],
  ["((a{0}){500}){500}", "too large"],
  ["a".repeat(201), "longer than"],
])("the pattern %s is refused", (source, reason) => {
  expect(() => compilePattern(source)).toThrow(reason);
});

const fields: fc.Arbitrary<Field[]> = fc
  .array(
    fc.oneof(
      fc.record({
        type: fc.constantFrom("string", "text"),
        max_length: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
      }),
      fc.record({ type: fc.constant("string"), pattern: fc.constantFrom("^a+$", "b", "^[ab]{1,3}$") }),
      fc.record({
        type: fc.constantFrom("number", "integer"),
        min: fc.constantFrom(undefined, -2, 0),
        max: fc.constantFrom(undefined, 3),
      }),
      fc.record({ type: fc.constantFrom("boolean", "url", "image") }),
      fc.record({ type: fc.constant("choice"), choices: fc.constant(["a", "b", "1"]) }),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .chain((rules) =>
    fc
      .array(fc.boolean(), { minLength: rules.length, maxLength: rules.length })
      .map((required) =>
        fieldsSchema.parse(rules.map((rule, n) => ({ ...rule, name: `f${n}`, required: required[n] }))),
      ),
  );

const value = fc.oneof(
  text,
  fc.constantFrom(
    "a",
    "b",
    "http://x.org/",
    "https://x.org/y",
    "ftp://x",
    "data:image/png;base64,AA==",
    "data:text/html,x",
  ),
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(2 ** 53, 1.5, true, false),
  fc.constant([]),
  fc.constant({}),
);

test("what the published JSON Schema allows is what a run accepts", () => {
  const ajv = new Ajv2020({ strict: false, formats: { uri: (text: string) => URL.canParse(text) } });
  fc.assert(
    fc.property(
      fields,
      fc.array(fc.dictionary(fc.constantFrom("f0", "f1", "f2", "f3", "extraInstructions", "other"), value), {
        minLength: 5,
        maxLength: 5,
      }),
      (declared, inputs) => {
        const contract = compileContract(declared, true);
        const isAllowed = ajv.compile(contract.jsonSchema);
        for (const input of inputs) expect(accepts(contract, input)).toBe(isAllowed(input));
      },
    ),
    // Each schema is compiled: that takes longer than all else.
    { numRuns: 400 },
  );
});

function accepts(contract: ReturnType<typeof compileContract>, input: Record<string, unknown>): boolean {
  try {
    contract.read(input);
    return true;
  } catch (error) {
    expect(["bad_request", "invalid_value"]).toContain((error as { code: string }).code);
    return false;
  }
}

test("what is read holds declared fields alone, with defaults", () => {
  const declared = fieldsSchema.parse([
    { name: "a", type: "integer", default: 3 },
    { name: "b", type: "boolean" },
    { name: "constructor", type: "string" },
  ]);
  const contract = compileContract(declared, false);
  expect(contract.read({ other: 1, extraInstructions: "x" })).toEqual({ values: { a: 3 } });
  expect(contract.read({ a: 4, b: false, constructor: "x" })).toEqual({ values: { a: 4, b: false, constructor: "x" } });
  expect(contract.read({ a: null })).toEqual({ values: { a: 3 } });
});

describe("the patterns of an agent", () => {
  const dear = (n: number) =>
    Array.from({ length: n }, (_, at) => ({ name: `f${at}`, type: "string", pattern: "(.?){160}x" }));
  const problemsOf = (fields: object[]) => fieldsSchema.safeParse(fields).error?.issues ?? [];

  test("are refused where they take too long together, by the fields' names", () => {
    expect(problemsOf(dear(1))).toEqual([]);
    const [problem] = problemsOf(dear(50));
    expect(problem?.message).toMatch(/f0 \d+, f1 \d+.*at most 1000000 together/);
    expect(problemsOf(dear(50).map((field) => ({ ...field, max_length: 40 })))).toEqual([]);
    const usual = { type: "string", pattern: "^0\\.0\\.[0-9]{1,12}$", max_length: 40 };
    expect(problemsOf(Array.from({ length: 50 }, (_, at) => ({ ...usual, name: `f${at}` })))).toEqual([]);
  });

  test.each(["default", "example"])("are refused at once, whatever their %s", (what) => {
    const took = processorMs(() => {
      const [problem] = problemsOf(dear(50).map((field) => ({ ...field, [what]: "a".repeat(2_000) })));
      expect(problem?.message).toContain("together");
    });
    expect(took).toBeLessThan(2_000);
  });

  const worst = [
    ["of one field", [{ name: "a", type: "string", pattern: "(?:a?){230}x" }]],
    ["of fifty fields", dear(50).map((field) => ({ ...field, max_length: 56 }))],
    ["of classes", [{ name: "a", type: "string", pattern: `(?:${"[^b][^c][^d]".repeat(9)})*x`, max_length: 2_000 }]],
    ["of word ends", [{ name: "a", type: "string", pattern: `(?:${"\\b".repeat(90)}.?)*x`, max_length: 2_000 }]],
  ] as const;
  test.each(worst)("keep everybody waiting for a moment at the worst: %s", (_name, declared) => {
    const fields = fieldsSchema.parse(declared);
    const contract = compileContract(fields, false);
    const long = (character: string) =>
      Object.fromEntries(
        fields.map(({ name, max_length: max = 2_000 }) => [name, character.repeat(max / character.length)]),
      );
    const inputs = ["a", "é", "a ", "ab"].map(long);
    const times = [...inputs, ...inputs, ...inputs].map((input) =>
      processorMs(() => expect(() => contract.read(input)).toThrow("must match")),
    );
    expect(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]).toBeLessThan(100);
  });

  test("that were published before there was a limit are checked as far as it goes", () => {
    const fields = dear(50) as Field[];
    const contract = compileContract(fields, false);
    const input = (length: number) =>
      Object.fromEntries(fields.map(({ name }) => [name, `${"a".repeat(length - 1)}x`]));
    expect(Object.keys(contract.read(input(20)).values)).toHaveLength(50);
    const took = processorMs(() => expect(() => contract.read(input(2_000))).toThrow("too long for its pattern"));
    expect(took).toBeLessThan(1_000);
  });

  test("and lengths are counted in characters, in a moment", () => {
    const fields = fieldsSchema.parse(
      Array.from({ length: 50 }, (_, at) => ({ name: `f${at}`, type: "text", max_length: 100_000 })),
    );
    const contract = compileContract(fields, false);
    const input = Object.fromEntries(fields.map(({ name }) => [name, "😀".repeat(100_000)]));
    const took = processorMs(() => expect(Object.keys(contract.read(input).values)).toHaveLength(50));
    expect(took).toBeLessThan(5_000);
    expect(() => contract.read({ f0: `${"😀".repeat(100_000)}a` })).toThrow("at most 100000 characters");
  });
});

test("a required text may not be empty, and its schema says so; one with a default may", () => {
  const declared = [
    { name: "text", type: "text", required: true },
    { name: "note", type: "string", required: true, default: "" },
    { name: "more", type: "string" },
  ];
  const contract = compileContract(fieldsSchema.parse(declared), false);
  expect(() => contract.read({ text: "" })).toThrow('"text" must not be empty.');
  expect(contract.read({ text: "x", note: "", more: "" }).values).toEqual({ text: "x", note: "", more: "" });
  expect(contract.jsonSchema).toMatchObject({ properties: { text: { minLength: 1 } } });
  expect(contract.jsonSchema).not.toMatchObject({ properties: { note: { minLength: 1 } } });
});
