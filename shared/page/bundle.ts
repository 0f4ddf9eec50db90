import { readdirSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { Metafile } from "esbuild";
import { type Assets, assetsOf, type Bundle, type Manifest, readBundle } from "./assets.ts";

/** Where the browser's part of a service lies. */
export interface BrowserSources {
  /** The stylesheet, as an absolute path. */
  readonly stylesheet: string;
  /** A directory of scripts, each file of which is an entry; folders in it hold what they share. */
  readonly islands: string;
  /** A directory of pictures. */
  readonly pictures: string;
}

/** Bundles a service's stylesheet, islands and pictures, minified, under names that carry a digest. */
export async function bundle(sources: BrowserSources): Promise<Bundle> {
  // What is installed runs without it: there `npm run build` has run before.
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: [sources.stylesheet, ...filesIn(sources.islands, /\.tsx?$/), ...filesIn(sources.pictures, /./)],
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    target: ["es2022", "chrome123", "firefox121", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    outdir: "/",
    publicPath: "/assets",
    entryNames: "[name].[hash]",
    chunkNames: "shared.[hash]",
    assetNames: "[name].[hash]",
    loader: { ".woff2": "file", ".svg": "copy", ".webp": "copy", ".png": "copy" },
    logLevel: "silent",
  });
  const contents = new Map(outputFiles.map(({ path, contents: bytes }) => [basename(path), Buffer.from(bytes)]));
  return { manifest: manifestOf(metafile), contents };
}

function filesIn(directory: string, pattern: RegExp): string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && pattern.test(entry.name) && entry.name !== "tsconfig.json")
    .map(({ name }) => join(directory, name))
    .toSorted();
}

function manifestOf({ outputs }: Metafile): Manifest {
  const files: Record<string, string> = {};
  const imports: Record<string, readonly string[]> = {};
  for (const [path, { entryPoint, inputs, imports: imported }] of Object.entries(outputs)) {
    const file = basename(path);
    const source = entryPoint ?? (extname(path) === ".js" ? undefined : Object.keys(inputs)[0]);
    if (source) files[basename(source).replace(/\.tsx?$/, ".js")] = file;
    const scripts = imported.filter(({ path: to, kind }) => kind === "import-statement" && outputs[to]);
    if (scripts.length > 0) imports[file] = scripts.map(({ path: to }) => basename(to));
  }
  return { files, imports };
}

/**
 * A service's assets: what `npm run build` wrote, where compiled code runs, and bundled in memory at the first page that
 * wants them, where the sources run.
 */
export function assetsFor(sources: BrowserSources, built: string): () => Promise<Assets> {
  if (import.meta.url.endsWith(".js")) {
    const assets = Promise.resolve(assetsOf(readBundle(built)));
    return () => assets;
  }
  return () => {
    const known = bundled.get(sources.stylesheet);
    if (known) return known;
    const assets = bundle(sources).then(assetsOf);
    bundled.set(sources.stylesheet, assets);
    assets.catch(() => bundled.delete(sources.stylesheet));
    return assets;
  };
}

/** Every service of this process is made of the same sources. */
const bundled = new Map<string, Promise<Assets>>();
