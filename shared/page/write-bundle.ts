import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { type Bundle, isText } from "./assets.ts";

/** Writes a bundle as `readBundle` reads it, its texts compressed as far as they can be. */
export async function writeBundle({ manifest, contents }: Bundle, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const files = [...contents].flatMap(([file, bytes]) => [
    [file, bytes] as const,
    ...(isText(file) ? compressed(file, bytes) : []),
  ]);
  await Promise.all(files.map(([file, bytes]) => writeFile(join(directory, file), bytes)));
  await writeFile(join(directory, "manifest.json"), JSON.stringify(manifest));
}

function compressed(file: string, bytes: Buffer): ReadonlyArray<readonly [string, Buffer]> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  return [
    [`${file}.br`, brotliCompressSync(bytes, { params })],
    [`${file}.gz`, gzipSync(bytes, { level: 9 })],
  ];
}
