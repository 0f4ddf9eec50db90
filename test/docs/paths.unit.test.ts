import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
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
    "marketplace/payments/README.md",
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

test("marketplace/payments/README.md names each file of its folder, by itself or with its folder, and no other", async () => {
  const folder = join(project, "marketplace/payments");
  const text = await readFile(join(folder, "README.md"), "utf8");
  const named = new Set([...text.matchAll(/`([\w-]+\/|(?:[\w-]+\/)?[\w-]+\.ts)`/g)].map(([, path]) => path as string));
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".ts"));
  expect(files.filter((file) => !named.has(file) && !named.has(`${dirname(file)}/`))).toEqual([]);
  expect([...named].filter((path) => !existsSync(join(folder, path)))).toEqual([]);
});

test("README.md's tree names every folder of the services and of what they share", async () => {
  const tree = (await readFile(join(project, "README.md"), "utf8")).split("## Where is what")[1]?.split("```")[1] ?? "";
  const parts = tree
    .split(/^(?=\w)/m)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  for (const part of parts) {
    const [name = ""] = part.split("/");
    const inside = await readdir(join(project, name), { withFileTypes: true });
    const folders = inside
      .filter((entry) => entry.isDirectory() && !unnamed.has(entry.name))
      .map((entry) => entry.name);
    expect([name, folders.filter((folder) => !part.includes(`${folder}/`) && !part.includes(`/${folder},`))]).toEqual([
      name,
      [],
    ]);
  }
  expect(parts).toHaveLength(6);
});

/** Made or fetched, or, in test/, of the same names as what is tested. */
const unnamed = new Set(["node_modules", "dist", "facilitator", "marketplace", "client", "shared", "infra"]);

test("comments name only files that are there", async () => {
  const folders = ["client", "facilitator", "marketplace", "shared", "infra", "test"];
  const all = await Promise.all(folders.map((folder) => filesIn(folder)));
  const files = all.flat();
  const known = new Set(files.flatMap((file) => [basename(file), file]));
  const missing = await Promise.all(
    files
      .filter((file) => /\.tsx?$/.test(file))
      .map(async (file) => {
        const comments = (await readFile(join(project, file), "utf8")).match(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm) ?? [];
        const named = comments.flatMap(
          (comment) => comment.match(/(?<![\w/.*…<\\])[\w/-]*[\w-](?:\.\w+)*\.(?:tsx?|md)\b/g) ?? [],
        );
        const isKnown = (name: string) => known.has(name) || files.some((one) => one.endsWith(`/${name}`));
        return named.filter((name) => !isKnown(name) && !name.startsWith("docs/")).map((name) => `${file}: ${name}`);
      }),
  );
  expect(missing.flat()).toEqual([]);
});

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(join(project, folder), { recursive: true });
  return names.filter((name) => !/(^|\/)(node_modules|dist)\//.test(name)).map((name) => join(folder, name));
}
