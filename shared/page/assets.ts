import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { NextFunction, Request, Response } from "express";
import { encodingOf } from "../content-encoding.ts";

/** Files that pages load. Their names carry the digest of what they hold, so that browsers keep them for good. */
export interface Assets {
  /** Where a file is, by the name of its source: `site.css`, `theme.js`, `geist-latin-wght-normal.woff2`. */
  url(name: string): string;
  /** The addresses of what a script imports. */
  importsOf(name: string): readonly string[];
  /** A served file, by its last part of the address. */
  find(file: string): AssetFile | undefined;
  /** Gzipped bytes of a script with all it imports, or of a stylesheet. */
  weightOf(name: string): number;
}

interface AssetFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly brotli: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

/** The bundler's output: by source name the served file, and by served file the files it imports. */
export interface Manifest {
  readonly files: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, readonly string[]>>;
}

export interface Bundle {
  readonly manifest: Manifest;
  readonly contents: ReadonlyMap<string, Buffer>;
}

const assetsPath = "/assets/";

/** A bundle, ready to be served. What was compressed before is among it, as `<file>.br` and `<file>.gz`. */
export function assetsOf({ manifest, contents }: Bundle): Assets {
  const files = new Map<string, AssetFile>();
  for (const [file, bytes] of contents) if (!/\.(br|gz)$/.test(file)) files.set(file, assetFile(file, bytes, contents));
  const fileOf = (name: string) => {
    const file = manifest.files[name];
    if (file === undefined) throw new Error(`no asset is named "${name}"`);
    return file;
  };
  const importsOf = (name: string) => manifest.imports[fileOf(name)] ?? [];
  return {
    url: (name) => assetsPath + fileOf(name),
    importsOf: (name) => importsOf(name).map((file) => assetsPath + file),
    find: (file) => files.get(file),
    weightOf: (name) => {
      const weights = [fileOf(name), ...importsOf(name)].map((file) => files.get(file)?.gzip?.length ?? 0);
      return weights.reduce((sum, weight) => sum + weight, 0);
    },
  };
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  webp: "image/webp",
  woff2: "font/woff2",
};

/** Whether a file is text: other kinds are compressed already, and would gain nothing. */
export function isText(file: string): boolean {
  return /\.(css|js|svg)$/.test(file);
}

function assetFile(file: string, bytes: Buffer, contents: Bundle["contents"]): AssetFile {
  const type = types[file.split(".").at(-1) ?? ""];
  if (type === undefined) throw new Error(`nothing says what kind of file "${file}" is`);
  if (!isText(file)) return { type, bytes, brotli: undefined, gzip: undefined };
  let brotli = contents.get(`${file}.br`);
  let gzip = contents.get(`${file}.gz`);
  // Not everything is asked for: some is large, and loaded when it is wanted.
  return {
    type,
    bytes,
    get brotli() {
      brotli ??= brotliCompressSync(bytes, { params: quickly });
      return brotli;
    },
    get gzip() {
      gzip ??= gzipSync(bytes);
      return gzip;
    },
  };
}

const quickly = { [constants.BROTLI_PARAM_QUALITY]: 6 };

/** Reads what `npm run build` wrote. */
export function readBundle(directory: string): Bundle {
  const contents = new Map<string, Buffer>();
  for (const file of readdirSync(directory)) contents.set(file, readFileSync(join(directory, file)));
  const manifest = contents.get("manifest.json");
  if (!manifest) throw new Error(`there is no manifest.json in ${directory}: npm run build writes it`);
  contents.delete("manifest.json");
  return { manifest: JSON.parse(manifest.toString("utf8")), contents };
}

/** Serves `/assets/…`; goes on where there is no such file. */
export function serveAssets(assets: () => Promise<Assets>) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const file = (await assets()).find(request.path.slice(1));
    if (!file || (request.method !== "GET" && request.method !== "HEAD")) return next();
    response.setHeader("cache-control", "public, max-age=31536000, immutable");
    response.setHeader("content-type", file.type);
    const [encoding, bytes] = encodedFor(request, file);
    if (file.brotli) response.setHeader("vary", "accept-encoding");
    if (encoding) response.setHeader("content-encoding", encoding);
    response.setHeader("content-length", bytes.length);
    response.end(request.method === "HEAD" ? undefined : bytes);
  };
}

function encodedFor(request: Request, { bytes, brotli, gzip }: AssetFile): [string | undefined, Buffer] {
  const encoding = brotli && gzip ? encodingOf(request) : undefined;
  if (encoding === "br" && brotli) return ["br", brotli];
  if (encoding === "gzip" && gzip) return ["gzip", gzip];
  return [undefined, bytes];
}
