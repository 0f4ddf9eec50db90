import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where the website's browser part lies. */
export const browserSources = {
  stylesheet: here("styles/site.css"),
  islands: here("islands"),
  pictures: here("pictures"),
};

/** Where compiled code finds it, as `npm run build` wrote it. */
export const builtAssets = here("../../web/marketplace");
