import { pipeline, Transform } from "node:stream";
import { type StoredFile, storeAway } from "./store.ts";

/**
 * A stored file that has as many bytes as were kept: a store may answer a part of it, or an error of its own, and what is sent is
 * cached for good. Throws ApiError 503 where the store says another length; where it says none, the stream fails at the end.
 */
export function ofLength({ bytes, stream }: StoredFile, kept: number): StoredFile {
  if (bytes === undefined) return { bytes: kept, stream: pipeline(stream, counted(kept), () => {}) };
  if (bytes === kept) return { bytes, stream };
  stream.destroy();
  throw storeAway(`the store has ${bytes} bytes instead of ${kept}`);
}

/** Fails with more or fewer bytes. */
function counted(kept: number): Transform {
  let left = kept;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      left -= chunk.length;
      if (left < 0) done(storeAway(`the store answered more than ${kept} bytes`));
      else done(null, chunk);
    },
    flush: (done) => done(left === 0 ? null : storeAway(`the store answered ${left} bytes less than ${kept}`)),
  });
}
