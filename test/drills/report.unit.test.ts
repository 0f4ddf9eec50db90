import { afterEach, expect, test } from "vitest";
import { choiceOf, numberOf, unknownOptions } from "./report.ts";

const words = process.argv.length;
afterEach(() => void process.argv.splice(words));

test("a drill takes the choices that there are, and refuses another instead of doing nothing", () => {
  expect(choiceOf("mode", ["synchronous", "asynchronous"])).toBeUndefined();
  process.argv.push("--mode=asynchronous", "--suite=stabel");
  expect(choiceOf("mode", ["synchronous", "asynchronous"])).toBe("asynchronous");
  expect(() => choiceOf("suite", ["stable", "trixie"])).toThrow("--suite= is one of stable, trixie");
});

test("a drill takes a number for its seed, and refuses an option that it does not have instead of doing nothing", () => {
  process.argv.splice(2, words, "failover", "--seed=7", "--modes=synchronous", "seed=8");
  expect(numberOf("seed", 1)).toBe(7);
  expect(unknownOptions(["mode=synchronous|asynchronous", "seed=N"])).toEqual(["--modes=synchronous", "seed=8"]);
  process.argv.splice(2, words, "failover", "--seed=seven");
  expect(() => numberOf("seed", 1)).toThrow("--seed= is a number, 0 or more");
});
