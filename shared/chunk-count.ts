/** Each chunk costs calls, so that a body in chunks of one byte costs more than one that is a thousand times as long. */
const chunksFree = 1_000;
const chunkBytesMin = 64;

/** Counts the chunks that a body comes in. */
export class ChunkCount {
  chunks = 0;
  #bytes = 0;

  /** Whether it comes in too many for its length, this one included. */
  isOneTooMany(bytes: number): boolean {
    this.chunks += 1;
    this.#bytes += bytes;
    return this.chunks > chunksFree && this.#bytes < this.chunks * chunkBytesMin;
  }
}
