import { expect, test } from "vitest";
import { agentYaml, parseAgentYaml } from "../../marketplace/agents/agent-yaml.ts";
import { processorMs, slowness } from "../support/processor-time.ts";

const words = ['\u2028\u0085\ufeff: # \t\r\n"\\', "yes", "null", "~", 1e21, -1.5e-9, true, null, "", "- a", "{{x}}"];
const many = (length: number) => Array.from({ length }, (_, at) => words[at % words.length]);

test("a definition is written in blocks, a field a line", () => {
  const fields = [{ name: "text", type: "choice", choices: ["a", "b: c"] }];
  const said = { name: "a: b", tags: ["x"], fields, settings: { prompt: "one\ntwo\n" } };
  expect(agentYaml("ada/x", said, ["token"])).toBe(`agent: ada/x
name: "a: b"
tags: [ x ]
fields:
  - { name: text, type: choice, choices: [ a, "b: c" ] }
settings:
  prompt: |
    one
    two

# secrets that are kept and not told: token
`);
});

test("what is large is written line by line too, and read as the same", () => {
  const fields = Array.from({ length: 50 }, (_, at) => ({ name: `f${at}`, choices: many(40) }));
  const settings = { list: many(1_200), empty: [], none: {}, ["k".repeat(1_000)]: 1, "a: b": [[], {}, { c: [1] }] };
  const said = { name: "N", tags: many(0), fields, settings };
  const text = agentYaml("ada/x", said, ["token"]);
  expect(parseAgentYaml(text)).toMatchObject({ handle: "ada", slug: "x", definition: said });
  expect(text.split("\n").filter((line) => line.includes('"name":"f'))).toHaveLength(50);
  expect(text.split("\n").filter((line) => /^ +"yes",$/.test(line)).length).toBeGreaterThan(100);
});

test("the largest definitions are written in a moment", () => {
  const largest = { settings: { list: Array.from({ length: 130_000 }, () => 1) } };
  const times = Array.from({ length: 5 }, () => processorMs(() => agentYaml("ada/x", largest, [])));
  expect(Math.min(...times)).toBeLessThan(60 * slowness());
});
