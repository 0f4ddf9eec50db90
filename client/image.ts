import { toBase64 } from "./base64.ts";

/** A picture: an https or data: address or base64, bytes, a Blob or File, or where it lies on this machine (not in a browser). */
export type ImageSource = string | Uint8Array | ArrayBuffer | Blob | { readonly path: string };

/** The picture as the service takes it. */
export async function imageText(image: ImageSource): Promise<string> {
  if (typeof image === "string") return image;
  if (image instanceof Uint8Array) return toBase64(image);
  if (image instanceof ArrayBuffer) return toBase64(new Uint8Array(image));
  if (image instanceof Blob) return toBase64(new Uint8Array(await image.arrayBuffer()));
  return toBase64(await readFile(image.path));
}

/** Bundlers for browsers see no import here. */
async function readFile(path: string): Promise<Uint8Array> {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => FileSystem | undefined } };
  const files = process?.getBuiltinModule?.("node:fs/promises");
  if (!files) throw new TypeError("A path can be read in Node only; give a File or bytes.");
  return files.readFile(path);
}

interface FileSystem {
  readFile(path: string): Promise<Uint8Array>;
}
