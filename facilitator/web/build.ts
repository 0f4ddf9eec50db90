import { fileURLToPath } from "node:url";
import { bundle } from "../../shared/page/bundle.ts";
import { writeBundle } from "../../shared/page/write-bundle.ts";
import { browserSources } from "./browser-sources.ts";

/** Part of `npm run build`: the stylesheet, islands and pictures of the daemon's pages, for compiled code to serve. */
const directory = fileURLToPath(new URL("../../dist/web/facilitator", import.meta.url));
await writeBundle(await bundle(browserSources), directory);
