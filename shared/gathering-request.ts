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
export const splinters = "splinters";

/**
 * A class of requests that keep in one piece what nobody reads yet: Node keeps every chunk by itself, and of a body in chunks of a byte
 * what comes at once is ten thousand objects, two megabytes on each connection. One that comes in too many chunks is parsed no further.
 * `turns` are told while there are many.
 */
export function gatheringRequest(turns: ReadingTurns): typeof IncomingMessage {
  return class extends IncomingMessage implements MaybeSplintered {
    isInSplinters = false;
    readonly #count = new ChunkCount();
    /** Chunks since it was read last. */
    #unread = 0;
    #gathered: BodyBytes | undefined;
    #isWhole = false;

    override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
      if (this.isInSplinters) return false;
      if (chunk && this.#isOneTooMany(chunk)) return this.#giveUp();
      if (!this.#gathered) {
        // What flows is handed on at once, but for what came before the first was.
        const isRead = this.readableFlowing === true && this.readableLength === 0;
        if (!isRead) this.#unread += 1;
        if (isRead || !chunk || this.#unread <= unreadMax) return super.push(chunk, encoding);
      }
      if (!chunk) this.#isWhole = true;
      else {
        this.#gathered ??= new BodyBytes();
        this.#gathered.append(chunk);
      }
      return false;
    }

    override read(size?: number): unknown {
      // Without a size of its own, or for who was told that there is something: else Node only asks for more to come.
      if (size !== 0 || this.listenerCount("readable") > 0) this.#handOver();
      return super.read(size);
    }

    override _read(size: number): void {
      if (!this.#gathered) super._read(size);
    }

    #isOneTooMany({ length }: Buffer): boolean {
      const isOneTooMany = this.#count.isOneTooMany(length);
      if (this.#count.chunks % chunksPerLook === 0) turns.look(this.socket);
      return isOneTooMany;
    }

    #giveUp(): false {
      this.isInSplinters = true;
      this.#gathered = undefined;
      closeWithoutReading(this.socket);
      stopParsing(this.socket);
      this.emit(splinters);
      return false;
    }

    #handOver(): void {
      const gathered = this.#gathered;
      this.#unread = 0;
      this.#gathered = undefined;
      if (gathered) super.push(gathered.all());
      if (gathered && this.#isWhole) super.push(null);
    }
  };
}

/** A request of any server. */
export interface MaybeSplintered extends IncomingMessage {
  readonly isInSplinters?: boolean;
}
