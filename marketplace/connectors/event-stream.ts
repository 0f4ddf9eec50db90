import { ConnectorFailure } from "./connector.ts";

/** Of one stream; a line may have any length that its bytes allow. */
const linesMax = 50_000;

/**
 * The data of a stream's `message` events (text/event-stream, WHATWG HTML §9.2). Throws ConnectorFailure for one that is
 * cut into more lines than anybody honest would send.
 */
export async function* messagesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let kind = "";
  let data: string[] = [];
  for await (const line of linesIn(chunks)) {
    if (line === "") {
      if (data.length > 0 && (kind === "" || kind === "message")) yield data.join("\n");
      kind = "";
      data = [];
    } else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) kind = line.slice(6).trim();
  }
}

/** Each chunk is looked at once, however long a line it belongs to. */
async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  let afterReturn = false;
  let lines = 0;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    let from = 0;
    for (const { 0: end, index } of text.matchAll(/[\r\n]/g)) {
      const isSecondHalf = end === "\n" && afterReturn && index === from;
      afterReturn = end === "\r";
      const rest = text.slice(from, index);
      from = index + 1;
      if (isSecondHalf && begun.length === 0) continue;
      lines += 1;
      if (lines > linesMax) throw new ConnectorFailure("The tool behind this agent sent too much.", { lines });
      yield begun.join("") + rest;
      begun = [];
    }
    if (from < text.length) {
      begun.push(text.slice(from));
      afterReturn = false;
    }
  }
}
