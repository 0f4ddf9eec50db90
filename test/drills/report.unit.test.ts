import { afterEach, expect, test } from "vitest";
import { choiceOf } from "./report.ts";

const words = process.argv.length;
afterEach(() => void process.argv.splice(words));

test("a drill takes the choices that there are, and refuses another instead of doing nothing", () => {
  expect(choiceOf("mode", ["synchronous", "asynchronous"])).toBeUndefined();
  process.argv.push("--mode=asynchronous", "--suite=stabel");
  expect(choiceOf("mode", ["synchronous", "asynchronous"])).toBe("asynchronous");
  expect(() => choiceOf("suite", ["stable", "trixie"])).toThrow("--suite= is one of stable, trixie");
});
