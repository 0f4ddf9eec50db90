import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { projectDirectory } from "../../infra/dev/settings.ts";

/**
 * The program as `npm run build` compiles it, which is what is deployed. It starts in a third of the time and with half the
 * memory that it takes from source, where each function made within another also costs a call that names it. Tests build
 * before they begin (global-setup.ts), and so does `npm run bench`.
 */
export function compiled(source: URL): string {
  const file = relative(projectDirectory, fileURLToPath(source));
  return join(projectDirectory, "dist", file.replace(/\.ts$/, ".js"));
}
