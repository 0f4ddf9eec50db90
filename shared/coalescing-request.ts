import { IncomingMessage } from "node:http";
import { BodyBytes } from "./body-bytes.ts";
import { ChunkCount } from "./chunk-count.ts";
import { closeWithoutReading } from "./lingering-close.ts";
import type { ReadingTurns } from "./reading-turns.ts";
import { stopParsing } from "./stop-parsing.ts";

/** Almost every body comes in fewer before it is read. */
const unreadMax = 16;
const chunksPerLook = 256;

/** Tells those who read a body that it comes in too many chunks, and that no more of it will come. */
export const tooManyChunks = "tooManyChunks";

/**
 * A class of requests that keep in one piece what nobody reads yet: Node keeps every chunk by itself, and of a body in chunks of a byte
 * what comes at once is ten thousand objects, two megabytes on each connection. One that comes in too many chunks is parsed no further.
 * `turns` are told while there are many.
 */
export function coalescingRequest(turns: ReadingTurns): typeof IncomingMessage {
  return class extends IncomingMessage implements CountedRequest {
    hasTooManyChunks = false;
    readonly #count = new ChunkCount();
    /** Chunks since it was read last. */
    #unread = 0;
    #coalesced: BodyBytes | undefined;
    #isWhole = false;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (this.hasTooManyChunks) return false;
      if (chunk && this.#isOneTooMany(chunk)) return this.#giveUp();
      if (!this.#coalesced) {
        // A flowing stream hands a chunk to its reader at once, unless earlier ones still wait.
        const isRead = this.readableFlowing === true && this.readableLength === 0;
        if (!isRead) this.#unread += 1;
        if (isRead || !chunk || this.#unread <= unreadMax) return super.push(chunk, encoding);
      }
      if (!chunk) this.#isWhole = true;
      else {
        this.#coalesced ??= new BodyBytes();
        this.#coalesced.append(chunk);
      }
      return false;
    }

    override read(size?: number): unknown {
      // With size 0 Node asks for more to come, and wants nothing itself, unless somebody listens for what there is to read.
      if (size !== 0 || this.listenerCount("readable") > 0) this.#handOver();
      return super.read(size);
    }

    override _read(size: number): void {
      if (!this.#coalesced) super._read(size);
    }

    #isOneTooMany({ length }: Buffer): boolean {
      const isOneTooMany = this.#count.isOneTooMany(length);
      if (this.#count.chunks % chunksPerLook === 0) turns.look(this.socket);
      return isOneTooMany;
    }

    #giveUp(): false {
      this.hasTooManyChunks = true;
      this.#coalesced = undefined;
      closeWithoutReading(this.socket);
      stopParsing(this.socket);
      this.emit(tooManyChunks);
      return false;
    }

    #handOver(): void {
      const coalesced = this.#coalesced;
      this.#unread = 0;
      this.#coalesced = undefined;
      if (coalesced) super.push(coalesced.all());
      if (coalesced && this.#isWhole) super.push(null);
    }
  };
}

/** A request of any server; of `listen`, one whose chunks are counted. */
export interface CountedRequest extends IncomingMessage {
  readonly hasTooManyChunks?: boolean;
}
