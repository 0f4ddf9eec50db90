import { cpSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundle } from "../../shared/page/bundle.ts";
import { writeBundle } from "../../shared/page/write-bundle.ts";
import { browserSources } from "./browser-sources.ts";
import { packClient } from "./client-package.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Part of `npm run build`: the stylesheet, islands and pictures of the website and the client's package, for compiled code to
 * serve, and what it reads.
 */
const directory = here("../../dist/web/marketplace");
await writeBundle(await bundle(browserSources), directory);
const client = here("../../dist/web/client");
mkdirSync(client, { recursive: true });
await packClient(client);
for (const read of ["docs/pages", "docs/llms.md", "share-picture/fonts"])
  cpSync(here(read), here(`../../dist/marketplace/web/${read}`), { recursive: true });
