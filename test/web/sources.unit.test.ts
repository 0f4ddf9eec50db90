import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const pragma = "/** @jsxRuntime automatic @jsxImportSource preact */\n";

test("every file with mark-up begins with how it is compiled, since tsx reads no such option from a tsconfig without files", () => {
  const files = ["shared", "facilitator", "marketplace"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".tsx"))
      .map((file) => join(folder, file)),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !readFileSync(join(root, file), "utf8").startsWith(pragma))).toEqual([]);
});
