import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const source = (name: string) => readFileSync(new URL(`../../client/cli/${name}.ts`, import.meta.url), "utf8");

test("the command line's help names every option", () => {
  const names = [...source("arguments").matchAll(/^ {2}"?([a-z-]+)"?: \{ type: /gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(25);
  const help = source("help");
  expect(names.filter((name) => !new RegExp(`--${name}\\b`).test(help))).toEqual(["out"]);
  expect(help).toContain("-o FILE");
});
