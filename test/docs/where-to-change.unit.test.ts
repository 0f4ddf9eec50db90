import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}/docs/where-to-change.md`, "utf8");

/** Each "`name`, `other` in `file` or `file`" of the page. */
const homes = [...page.matchAll(/((?:`\w+`(?:, | or |))+) in ((?:`[\w./-]+\.ts`(?: or |))+)/g)].flatMap(
  ([, names = "", files = ""]) => quotedIn(files).flatMap((file) => quotedIn(names).map((name) => ({ name, file }))),
);

test.each(homes)("$name, which docs/where-to-change.md names, stands in $file", ({ name, file }) => {
  expect(readFileSync(`${root}/${file}`, "utf8")).toMatch(new RegExp(`\\b${name}\\b`));
});

test("docs/where-to-change.md names a home in most of its rows", () => {
  expect(homes.length).toBeGreaterThan(20);
});

function quotedIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quoted]) => quoted as string);
}
