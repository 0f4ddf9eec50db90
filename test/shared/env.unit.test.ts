import { inspect } from "node:util";
import { expect, test } from "vitest";
import { ConfigError, EnvReader, Secret } from "../../shared/env.ts";

test("every problem is named at once, and no secret among them", () => {
  const env = new EnvReader({
    PORT: "eighty",
    FLAG: "maybe",
    URL: "ftp://x",
    MODE: "loud",
    KEY: "hunter2",
    AMOUNT: "-1",
  });
  env.integer("PORT", 80);
  env.flag("FLAG", false);
  env.url("URL");
  env.choice("MODE", ["quiet"], "quiet");
  env.secret("KEY", /^\d+$/, "a number");
  env.amount("AMOUNT", 0n, { unit: "wei", min: 0n, max: 10n });
  env.text("ABSENT");
  expect(() => env.finish("daemon")).toThrow(ConfigError);
  expect(env.problems.map((problem) => problem.split(" ")[0])).toEqual([
    "PORT",
    "FLAG",
    "URL",
    "MODE",
    "KEY",
    "AMOUNT",
    "ABSENT",
  ]);
  expect(env.problems.join()).not.toContain("hunter2");
});

test.each([
  ["true", true],
  ["1", true],
  ["no", false],
  ["False", false],
])("the flag %s is %s", (text, value) => {
  expect(new EnvReader({ FLAG: text }).flag("FLAG", !value)).toBe(value);
});

test.each<[string, number]>([
  ["0", 0],
  ["5", 0],
  ["9", 0],
  ["4", 1],
  ["10", 1],
])("an amount of %s is taken; beyond what it usually is, that is told", (text, doubts) => {
  const env = new EnvReader({ AMOUNT: text });
  expect(env.amount("AMOUNT", 7n, { unit: "wei", min: 5n, max: 9n })).toBe(BigInt(text));
  expect(env.problems).toEqual([]);
  expect(env.doubts).toHaveLength(doubts);
});

test.each(["2", "1e30", "NaN", "-5", "5.0", "9".repeat(79)])("an amount of %s is refused, naming its unit", (text) => {
  const env = new EnvReader({ AMOUNT: text });
  env.amount("AMOUNT", 7n, { unit: "wei", min: 5n, max: 9n, least: 3n });
  expect(env.problems).toEqual(["AMOUNT must be a whole number of wei, 3 or more"]);
});

test("an empty variable counts as missing", () => {
  expect(new EnvReader({ NAME: "  " }).text("NAME", "default")).toBe("default");
});

test("a secret shows itself to nobody who does not ask for it", () => {
  const secret = new Secret("hunter2");
  expect(`${secret} ${JSON.stringify({ secret })} ${inspect(secret)}`).not.toContain("hunter2");
  expect(secret.reveal()).toBe("hunter2");
});
