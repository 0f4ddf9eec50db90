import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vitest/config";

const project = fileURLToPath(new URL("../..", import.meta.url));

/** What the build of global-setup.ts writes, and Node loads as it is. */
export const compiledFiles = /^(?!.*\/node_modules\/).*\/dist\//;

/**
 * Tests meet the services as `npm run build` compiles them, which is what is deployed: each worker would have to load some
 * thousand sources by way of Vite, and run them slower. The unit tests, which need no build, meet the sources.
 */
export const compiledCode: Plugin = {
  name: "compiled code",
  enforce: "pre",
  resolveId(source, importer) {
    // It builds what the others use.
    const isGlobalSetup = this.environment.name === "__vitest__";
    if (isGlobalSetup || !importer || !source.startsWith(".")) return undefined;
    const file = relative(project, resolve(dirname(importer), source));
    if (!/^(client|facilitator|marketplace|shared)\//.test(file)) return undefined;
    return join(project, "dist", file.replace(/\.tsx?$/, ".js"));
  },
};
