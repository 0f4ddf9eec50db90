import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Where it is on every site: what `npm install` and `npx` take as an address. */
export const clientPackagePath = "/client.tgz";

const packageFile = "client.tgz";

/** Where `npm run build` leaves it; not among the assets, which are bundled. */
const builtPackage = fileURLToPath(new URL("../../web/client", import.meta.url));

export interface ClientPackage {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** The client's package: what `npm run build` packed, where compiled code runs, and packed when first asked for, where the sources run. */
export function readClientPackage(): Promise<ClientPackage> {
  known ??= read();
  known.catch(() => {
    known = undefined;
  });
  return known;
}

let known: Promise<ClientPackage> | undefined;

async function read(): Promise<ClientPackage> {
  if (import.meta.url.endsWith(".js")) return described(await readFile(join(builtPackage, packageFile)));
  return described(await packed());
}

function described(bytes: Buffer): ClientPackage {
  return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url")}"` };
}

/**
 * Packs the client, which is compiled, into the directory, which has the whole package or none at any time. The same sources give
 * the same bytes.
 */
export async function packClient(directory: string): Promise<void> {
  const part = join(directory, `${randomUUID()}.part`);
  await writeFile(part, await packed());
  await rename(part, join(directory, packageFile));
}

async function packed(): Promise<Buffer> {
  const client = fileURLToPath(new URL("../../client", import.meta.url));
  const directory = await mkdtemp(join(tmpdir(), "client-package-"));
  try {
    const asked = ["pack", "--json", "--ignore-scripts", "--pack-destination", directory];
    const { stdout } = await promisify(execFile)("npm", asked, { cwd: client });
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf("["))) as [{ filename: string }];
    return await readFile(join(directory, filename));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
