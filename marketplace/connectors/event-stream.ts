import { ConnectorError } from "./result.ts";

/** Lines of one stream; each may have any length that its bytes allow. */
const linesMax = 50_000;

/**
 * The data of a stream's `message` events (text/event-stream, WHATWG HTML §9.2). One whose data is empty only names the place to come
 * back to (MCP 2025-11-25), and is left out. Throws ConnectorError for a stream that is cut into more lines than an honest server sends.
 */
export async function* messagesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const parser = new EventParser();
  for await (const chunk of chunks) yield* parser.read(decoder.decode(chunk, { stream: true }));
}

/** Reads each character once, however long a line it belongs to. */
class EventParser {
  #begun: string[] = [];
  #afterReturn = false;
  #lines = 0;
  #kind = "";
  #data: string[] = [];

  /** The messages that end in `text`. */
  read(text: string): string[] {
    const messages: string[] = [];
    let from = 0;
    for (const { 0: end, index } of text.matchAll(/[\r\n]/g)) {
      const isSecondHalf = end === "\n" && this.#afterReturn && index === from && this.#begun.length === 0;
      this.#afterReturn = end === "\r";
      if (!isSecondHalf) this.#take(this.#begun.join("") + text.slice(from, index), messages);
      this.#begun = [];
      from = index + 1;
    }
    if (from < text.length) {
      this.#begun.push(text.slice(from));
      this.#afterReturn = false;
    }
    return messages;
  }

  #take(line: string, messages: string[]): void {
    this.#lines += 1;
    if (this.#lines > linesMax) {
      throw new ConnectorError("The tool behind this agent sent too much.", { lines: this.#lines });
    }
    if (line === "") {
      const isMessage = this.#kind === "" || this.#kind === "message";
      const data = this.#data.join("\n");
      if (isMessage && data !== "") messages.push(data);
      this.#kind = "";
      this.#data = [];
    } else if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) this.#kind = line.slice(6).trim();
  }
}
