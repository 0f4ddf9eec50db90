import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { statusNotes } from "../../marketplace/web/docs/statuses.ts";

const docs = new URL("../../marketplace/web/docs/", import.meta.url);
const pages = (await readdir(new URL("pages/", docs))).map((name) => `pages/${name}`);

test("wherever a buyer reads that a payment is used, it says how a result that did not arrive is fetched", async () => {
  const texts = await Promise.all(["llms.md", ...pages].map((name) => readFile(new URL(name, docs), "utf8")));
  const parts = texts.flatMap((text) => text.split(/\n\n|\n(?=- )/));
  const notes = Object.values(statusNotes).flat();
  const told = [...parts, ...notes.map(({ means, next }) => `${means} ${next}`)].filter((part) =>
    part.includes("already_settled"),
  );
  expect(told.length).toBeGreaterThan(3);
  expect(told.filter((part) => !part.includes("sign-in-with-x"))).toEqual([]);
});
