import { readdirSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { BuildOptions, Metafile, Plugin } from "esbuild";
import { type Assets, assetsOf, type Bundle, type Manifest, readBundle } from "./assets.ts";

/** Where the browser's part of a service lies. */
interface BrowserSources {
  /** The stylesheet, as an absolute path. */
  readonly stylesheet: string;
  /** A directory of scripts, each file of which is an entry; folders in it hold what they share. */
  readonly islands: string;
  /** A directory of pictures. */
  readonly pictures: string;
}

/** Bundles a service's stylesheet, islands and pictures, minified, under names that carry a digest. */
export async function bundle(sources: BrowserSources): Promise<Bundle> {
  // An installed copy runs without esbuild: there `npm run build` has run before.
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    ...forBrowsers,
    entryPoints: [sources.stylesheet, ...filesIn(sources.islands, /\.tsx?$/), ...filesIn(sources.pictures, /./)],
    plugins: [packagesByThemselves],
    splitting: true,
    metafile: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: "/",
    publicPath: "/assets",
    entryNames: "[name].[hash]",
    chunkNames: "shared.[hash]",
    assetNames: "[name].[hash]",
    loader: { ".woff2": "file", ".svg": "copy", ".webp": "copy", ".png": "copy" },
  });
  const contents = new Map(outputFiles.map(({ path, contents: bytes }) => [basename(path), Buffer.from(bytes)]));
  return { manifest: manifestOf(metafile), contents };
}

const forBrowsers = {
  bundle: true,
  minify: true,
  write: false as const,
  format: "esm" as const,
  platform: "browser" as const,
  target: ["es2022", "chrome123", "firefox121", "safari17.5"],
  legalComments: "none" as const,
  logLevel: "silent" as const,
} satisfies BuildOptions;

/**
 * A package that is loaded when it is wanted is bundled by itself. What esbuild needs for its CommonJS would otherwise be a script
 * that every page loads.
 */
const packagesByThemselves: Plugin = {
  name: "packages by themselves",
  setup({ onResolve, onLoad, esbuild }) {
    const namespace = "package";
    onResolve({ filter: /^[^./]/ }, ({ kind, path, resolveDir, namespace: from }) =>
      kind === "dynamic-import" && from !== namespace ? { path, namespace, pluginData: resolveDir } : undefined,
    );
    onLoad({ filter: /./, namespace }, async ({ path, pluginData: resolveDir }) => {
      const stdin = { contents: `export * from ${JSON.stringify(path)};`, resolveDir };
      const { outputFiles } = await esbuild.build({ ...forBrowsers, stdin });
      return { contents: outputFiles[0]!.text, loader: "js" };
    });
  },
};

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
