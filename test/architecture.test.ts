import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tracer = ["marketplace/tracer", "marketplace/tracer/pool"];
const folders = [
  "client",
  "shared",
  "facilitator",
  "marketplace",
  "marketplace/answers",
  ...tracer,
  "marketplace/web/islands",
  "facilitator/web/islands",
  "infra",
];
let copy: string;

/** The project's own compiler settings around one tiny file a folder, so that an import is all that can be wrong. */
beforeEach(async () => {
  copy = await mkdtemp(join(tmpdir(), "architecture-"));
  await cp(join(root, "tsconfig.base.json"), join(copy, "tsconfig.base.json"));
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  await writeFile(join(copy, "package.json"), '{ "type": "module" }');
  for (const folder of folders) {
    await mkdir(join(copy, folder), { recursive: true });
    await cp(join(root, folder, "tsconfig.json"), join(copy, folder, "tsconfig.json"));
    await writeFile(join(copy, folder, "own.ts"), "export const own = 1;\n");
  }
});

afterEach(() => rm(copy, { recursive: true, force: true }));

async function build(folder: string, source: string): Promise<string> {
  await writeFile(join(copy, folder, "importer.ts"), source);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-b", join(copy, folder)]).catch(
    (error) => error,
  );
  return stdout;
}

const importOf = (folder: string) => `import { own } from "../${folder}/own.ts";\nexport const borrowed = own;\n`;

describe("an import that the architecture forbids fails the build", () => {
  test.each([
    ["facilitator", "marketplace"],
    ["marketplace", "facilitator"],
    ["shared", "facilitator"],
    ["shared", "marketplace"],
    ["infra", "facilitator"],
    ["infra", "marketplace"],
    ["client", "marketplace"],
    ["client", "facilitator"],
    ["client", "shared"],
  ])("%s may not import %s", async (importer, imported) => {
    expect(await build(importer, importOf(imported))).toMatch(/error TS6059|error TS6307/);
  });

  test.each(["facilitator", "marketplace", "infra"])("%s may import shared", async (importer) => {
    expect(await build(importer, importOf("shared"))).toBe("");
  });

  test("code for the browser may import what both services share, and nothing of the server", async () => {
    for (const folder of ["marketplace/web/islands", "facilitator/web/islands"]) {
      expect(await build(folder, importOf("../../shared"))).toBe("");
      expect(await build(folder, importOf(".."))).not.toBe("");
      expect(await build(folder, 'import { readFile } from "node:fs";\nexport const read = readFile;\n')).not.toBe("");
    }
  });

  test("what the client signs is signed by the website's pages, too, and needs nothing of Node", async () => {
    expect(await build("marketplace/web/islands", importOf("../../client"))).toBe("");
    expect(await build("client", 'import { readFile } from "node:fs";\nexport const read = readFile;\n')).not.toBe("");
  });

  test("what answers say is for the server and the browser, and imports nothing of either", async () => {
    expect(await build("marketplace/web/islands", importOf("../answers"))).toBe("");
    expect(await build("marketplace/answers", importOf("."))).not.toBe("");
  });
});
