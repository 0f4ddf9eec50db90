import { StringDecoder } from "node:string_decoder";
import { ownEventLoopTurn } from "./event-loop.ts";

/** Each block is twice as large as the one before: a small body in pieces holds little. */
const blockBytesMin = 4_096;
const blockBytesMax = 65_536;
/** Blocks of full size that no request uses now: fresh memory costs more than what is written into it. */
const spare: Buffer[] = [];
const spareMax = 512;
/** How many blocks of a large body are copied or decoded at once. */
const blocksPerTurn = 16;

/** The bytes of a body. But for the first, chunks are copied together: each would hold on to all that was read with it. */
export class BodyBytes {
  readonly #blocks: Buffer[] = [];
  #last: Buffer = empty;
  #used = 0;
  received = 0;
  /** Bytes of memory. */
  held = 0;

  append(chunk: Buffer): void {
    this.received += chunk.length;
    if (this.held === 0) {
      this.#blocks.push(chunk);
      this.held = chunk.length;
      return;
    }
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#last.length) this.#add();
      const copied = chunk.copy(this.#last, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  #add(): void {
    const size = Math.min(Math.max(2 * this.#last.length, blockBytesMin), blockBytesMax);
    this.#last = (size === blockBytesMax && spare.pop()) || Buffer.allocUnsafeSlow(size);
    this.#used = 0;
    this.#blocks.push(this.#last);
    this.held += size;
  }

  /** Gives its memory to the next bodies; nothing may be asked of it afterwards. */
  release(): void {
    for (const block of this.#blocks.splice(0).slice(1)) {
      if (block.length === blockBytesMax && spare.length < spareMax) spare.push(block);
    }
    this.#last = empty;
    this.#used = 0;
  }

  all(): Buffer {
    return this.#blocks.length === 1
      ? (this.#blocks[0] as Buffer)
      : Buffer.concat([...this.#between(0, this.received)]);
  }

  /** What is written there in UTF-8. */
  async text(from = 0, to = this.received): Promise<string> {
    const [first] = this.#blocks;
    if (first && this.#blocks.length === 1) return first.toString("utf8", from, to);
    let text = "";
    for await (const piece of this.pieces(from, to)) text += piece;
    return text;
  }

  /** The UTF-8 text from `from` to `to`, a piece per turn. */
  async *pieces(from: number, to: number): AsyncIterable<string> {
    const decoder = new StringDecoder("utf8");
    for await (const blocks of this.#inTurns(from, to)) yield blocks.map((block) => decoder.write(block)).join("");
    yield decoder.end();
  }

  /** What is written there in ASCII. Of a megabyte and more it is kept outside of V8's heap. */
  async plainText(from: number, to: number): Promise<string> {
    const bytes = Buffer.allocUnsafeSlow(to - from);
    let copied = 0;
    for await (const blocks of this.#inTurns(from, to)) for (const block of blocks) copied += block.copy(bytes, copied);
    await ownEventLoopTurn();
    return bytes.toString("latin1");
  }

  /** A few blocks per turn: nothing else waits for the whole of what is there. */
  async *#inTurns(from: number, to: number): AsyncIterable<Buffer[]> {
    let blocks: Buffer[] = [];
    for (const block of this.#between(from, to)) {
      blocks.push(block);
      if (blocks.length < blocksPerTurn) continue;
      yield blocks;
      blocks = [];
      await ownEventLoopTurn();
    }
    yield blocks;
  }

  *#between(from: number, to: number): Iterable<Buffer> {
    let at = 0;
    for (const block of this.#blocks) {
      const end = Math.min(at + block.length, this.received);
      if (end > from && at < to) yield block.subarray(Math.max(from - at, 0), Math.min(to, end) - at);
      at += block.length;
    }
  }
}

const empty = Buffer.alloc(0);
