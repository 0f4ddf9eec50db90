import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tracer = ["marketplace/tracer", "marketplace/tracer/pool"];
const folders = [
  "client",
  "shared",
  "shared/page/islands",
  "facilitator",
  "marketplace",
  "marketplace/answers",
  ...tracer,
  "marketplace/web/islands",
  "facilitator/web/islands",
  "infra",
];
let copy: string;
/** What the compiler says of all of it. */
let said: string;

const importOf = (path: string) => `import { own } from "../${path}/own.ts";\nexport const borrowed = own;\n`;
const importOfNode = 'import { readFile } from "node:fs";\nexport const read = readFile;\n';
const islands = ["marketplace/web/islands", "facilitator/web/islands"];
const forbidden = [
  ["facilitator", "marketplace"],
  ["marketplace", "facilitator"],
  ["shared", "facilitator"],
  ["shared", "marketplace"],
  ["infra", "facilitator"],
  ["infra", "marketplace"],
  ["client", "marketplace"],
  ["client", "facilitator"],
  ["client", "shared"],
] as const;
const users = ["facilitator", "marketplace", "infra"];
/** Programs of one import each, by their files. */
const programs = new Map<string, string>([
  ...[...forbidden, ...users.map((user) => [user, "shared"] as const)].map(
    ([folder, imported]) => [`${folder}/imports-${imported}.ts`, importOf(imported)] as const,
  ),
  ...islands.flatMap((folder) => [
    [`${folder}/imports-shared.ts`, importOf("../../shared")] as const,
    [`${folder}/imports-shared-islands.ts`, importOf("../../shared/page/islands")] as const,
    [`${folder}/imports-server.ts`, importOf("..")] as const,
    [`${folder}/imports-node.ts`, importOfNode] as const,
  ]),
  ["marketplace/web/islands/imports-client.ts", importOf("../../client")],
  ["shared/page/islands/imports-node.ts", importOfNode],
  ["client/imports-node.ts", importOfNode],
  ["marketplace/web/islands/imports-answers.ts", importOf("../answers")],
  ["marketplace/answers/imports-server.ts", importOf(".")],
]);

/** The project's own compiler settings around tiny files, so that their imports are all that can be wrong; compiled once. */
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "architecture-"));
  await cp(join(root, "tsconfig.base.json"), join(copy, "tsconfig.base.json"));
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  await writeFile(join(copy, "package.json"), '{ "type": "module" }');
  for (const folder of folders) {
    await mkdir(join(copy, folder), { recursive: true });
    await cp(join(root, folder, "tsconfig.json"), join(copy, folder, "tsconfig.json"));
    await writeFile(join(copy, folder, "own.ts"), "export const own = 1;\n");
  }
  for (const [file, source] of programs) await writeFile(join(copy, file), source);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const built = promisify(execFile)(process.execPath, [tsc, "-b", "--pretty", "false", ...folders], { cwd: copy });
  said = (await built.catch((error) => error)).stdout;
});

afterAll(() => rm(copy, { recursive: true, force: true }));

/** What the compiler says of a program; what it is must be among those above. */
function complaintsOf(file: string): string {
  expect(programs.has(file), file).toBe(true);
  return said
    .split("\n")
    .filter((line) => line.startsWith(`${file}(`))
    .join("\n");
}

describe("an import that the architecture forbids fails the build", () => {
  test.each(forbidden)("%s may not import %s", (importer, imported) => {
    expect(complaintsOf(`${importer}/imports-${imported}.ts`)).toMatch(/error TS6059|error TS6307/);
  });

  test.each(users)("%s may import shared", (importer) => {
    expect(complaintsOf(`${importer}/imports-shared.ts`)).toBe("");
  });

  test("code for the browser may import what both services share, and nothing of the server", () => {
    for (const folder of islands) {
      expect(complaintsOf(`${folder}/imports-shared.ts`)).toBe("");
      expect(complaintsOf(`${folder}/imports-shared-islands.ts`)).toBe("");
      expect(complaintsOf(`${folder}/imports-server.ts`)).not.toBe("");
      expect(complaintsOf(`${folder}/imports-node.ts`)).not.toBe("");
    }
    expect(complaintsOf("shared/page/islands/imports-node.ts")).not.toBe("");
  });

  test("what the client signs is signed by the website's pages, too, and needs nothing of Node", () => {
    expect(complaintsOf("marketplace/web/islands/imports-client.ts")).toBe("");
    expect(complaintsOf("client/imports-node.ts")).not.toBe("");
  });

  test("what answers say is for the server and the browser, and imports nothing of either", () => {
    expect(complaintsOf("marketplace/web/islands/imports-answers.ts")).toBe("");
    expect(complaintsOf("marketplace/answers/imports-server.ts")).not.toBe("");
  });
});
