import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { ApiError } from "../../shared/errors.ts";

/**
 * Where bytes are kept under a name that never means anything else. Throws ApiError 503 while it cannot be reached or has
 * no room.
 */
export interface FileStore {
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined where there is no such file. The caller must read the file to its end or destroy it. */
  open(name: string): Promise<StoredFile | undefined>;
  remove(name: string): Promise<void>;
}

export interface StoredFile {
  /** Undefined where the store does not say. */
  readonly bytes: number | undefined;
  readonly stream: Readable;
}

/** The store does not work at the moment; `cause` is for the log. */
export function storeAway(cause: unknown): ApiError {
  const headers = { "retry-after": "5" };
  return new ApiError("unavailable", "Files cannot be read or kept at the moment; try again shortly.", {
    headers,
    cause,
  });
}

/** On disk, spread over 256 directories. A file is whole or not there, also after a crash. */
export function diskStore(directory: string): FileStore {
  const pathOf = (name: string) => join(directory, name.slice(0, 2), name);
  return {
    put: async (name, bytes) => {
      const path = pathOf(name);
      const unfinished = `${path}.${randomUUID()}`;
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(unfinished, bytes, { flush: true });
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {});
        throw storeAway(error);
      }
    },
    open: async (name) => {
      let handle: FileHandle;
      try {
        handle = await open(pathOf(name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw storeAway(error);
      }
      try {
        const { size } = await handle.stat();
        return { bytes: size, stream: handle.createReadStream() };
      } catch (error) {
        await handle.close().catch(() => {});
        throw storeAway(error);
      }
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  };
}
