import { Readable } from "node:stream";
import { openBucket, type S3Config } from "../../shared/s3.ts";
import { type FileStore, storeAway } from "./store.ts";

/** So long the next part of a file may keep its reader waiting; a reader that takes none is not counted. */
const silentMaxMs = 15_000;

/** In a bucket that only this service reads: it serves the files itself, under its own policy. */
export function s3Store(config: S3Config, { silentMs = silentMaxMs } = {}): FileStore {
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
      return { bytes: length === null ? undefined : Number(length), stream: streamOf(body, silentMs) };
    },
    remove: (name) => orAway(bucket.remove(name)),
  };
}

function streamOf(body: ReadableStream<Uint8Array>, silentMs: number): Readable {
  const reader = body.getReader();
  const stream = Readable.from(partsOf(reader, silentMs), { objectMode: false });
  stream.once("close", () => void reader.cancel().catch(() => {}));
  return stream;
}

async function* partsOf(reader: ReadableStreamDefaultReader<Uint8Array>, silentMs: number): AsyncGenerator<Uint8Array> {
  let isSilent = false;
  const giveUp = () => {
    isSilent = true;
    reader.cancel().catch(() => {});
  };
  for (;;) {
    const timer = setTimeout(giveUp, silentMs);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (isSilent) throw new Error(`the bucket sent nothing for ${silentMs} ms in the middle of a file`);
    if (done) return;
    yield value;
  }
}
