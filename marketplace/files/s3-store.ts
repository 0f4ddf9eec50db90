import { Readable } from "node:stream";
import { openBucket, type S3Config } from "../../shared/s3.ts";
import { type FileStore, storeAway } from "./store.ts";

/** In a bucket that only this service reads: it serves the files itself, under its own policy. */
export function s3Store(config: S3Config): FileStore {
  const bucket = openBucket(config);
  const orAway = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch((error) => {
      throw storeAway(error);
    });
  return {
    put: (name, bytes) => orAway(bucket.put(name, bytes)),
    open: async (name) => {
      const { headers, body } = (await orAway(bucket.get(name))) ?? {};
      if (!headers || !body) return undefined;
      const length = headers.get("content-length");
      // Node's own type of the same stream.
      const stream = Readable.fromWeb(body as unknown as Parameters<typeof Readable.fromWeb>[0]);
      return { bytes: length === null ? undefined : Number(length), stream };
    },
    remove: (name) => orAway(bucket.remove(name)),
  };
}
