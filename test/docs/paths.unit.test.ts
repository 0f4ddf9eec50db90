import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const project = fileURLToPath(new URL("../..", import.meta.url));

async function documents(): Promise<string[]> {
  const inDocs = (await readdir(join(project, "docs"), { recursive: true })).map((name) => join("docs", name));
  const elsewhere = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "client/README.md",
    "marketplace/connectors/README.md",
    "marketplace/tracer/README.md",
  ];
  return [...inDocs, ...elsewhere].filter((name) => name.endsWith(".md"));
}

/** Of one kind of file, or of all tests of one place: `test/facilitator/*\/landing.test.ts`, `*\/jobs.ts`. */
const isPattern = (path: string) => /[*<>…{}]/.test(path);

test.each(await documents())("%s names only files and links that are there", async (name) => {
  const text = (await readFile(join(project, name), "utf8")).replace(/```[\s\S]*?```/g, "");
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, path]) =>
    join(dirname(name), path as string),
  );
  const named = [
    ...text.matchAll(/`((?:client|facilitator|marketplace|shared|infra|test|docs)\/[\w./*<>…{}-]+)`/g),
  ].map(([, path]) => path as string);
  const made = [...text.matchAll(/<!-- create (\S+) -->/g)].map(([, path]) => path);
  const missing = [...links, ...named].filter(
    (path) => !isPattern(path) && !made.includes(path) && !existsSync(join(project, path)),
  );
  expect(missing).toEqual([]);
});
