import { setImmediate as breathe } from "node:timers/promises";
import {
  type Ask,
  type OpenAnswer,
  type Outbound,
  OutboundBusyError,
  OutboundFailedError,
  OutboundRefusedError,
} from "../../shared/outbound.ts";
import { messagesIn } from "./event-stream.ts";
import { parseJson } from "./parse-json.ts";
import { busyText, ConnectorError } from "./result.ts";

/** Limits of one call, over all of its requests together. */
const limits = { requests: 12, messages: 2_000, pings: 3, redirects: 3 };
const protocolVersions = ["2025-06-18", "2025-11-25", "2025-03-26", "2024-11-05"];
const endTimeoutMs = 5_000;
/** After so many messages that came together, other calls get their turn. */
const messagesATurn = 20;

/**
 * Calls one tool of a remote MCP server over Streamable HTTP (specification 2025-06-18) and ends the session. The server
 * is not trusted: it may answer, report progress and ping a few times. At its first request to this client (sampling,
 * roots, elicitation) the connection is closed. Throws ConnectorError for everything that is not a result.
 */
export async function callRemoteTool(outbound: Outbound, ask: AskedTool): Promise<ToolResult> {
  const session = new Session(outbound, ask);
  try {
    await session.initialize();
    return await session.callTool(ask.tool, ask.arguments);
  } catch (error) {
    if (ask.signal.aborted || error instanceof ConnectorError) throw error;
    if (error instanceof OutboundBusyError) throw new ConnectorError(busyText, { reason: error.message });
    if (!(error instanceof OutboundRefusedError || error instanceof OutboundFailedError)) throw error;
    throw new ConnectorError("The tool behind this agent could not be reached.", { reason: error.message });
  } finally {
    session.end();
  }
}

export interface AskedTool extends Required<Pick<Ask, "timeoutMs" | "bytesMax" | "holder">> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tool: string;
  readonly arguments: object;
  readonly signal: AbortSignal;
}

/** The server's result, unchecked except that `content` is a list of objects. */
export interface ToolResult {
  readonly content: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

class Session {
  readonly #outbound: Outbound;
  readonly #ask: AskedTool;
  #url: URL;
  #sessionHeaders: Record<string, string> = {};
  #bytesLeft: number;
  #requests = 0;
  #messages = 0;
  #pings = 0;
  #lastId = 0;

  constructor(outbound: Outbound, ask: AskedTool) {
    this.#outbound = outbound;
    this.#ask = ask;
    this.#url = new URL(ask.url);
    this.#bytesLeft = ask.bytesMax;
  }

  async initialize(): Promise<void> {
    const clientInfo = { name: "agent-marketplace", version: "1" };
    const params = { protocolVersion: protocolVersions[0], capabilities: {}, clientInfo };
    const { protocolVersion } = await this.#request("initialize", params);
    if (typeof protocolVersion !== "string" || !protocolVersions.includes(protocolVersion)) throw odd("version");
    this.#sessionHeaders = { ...this.#sessionHeaders, "mcp-protocol-version": protocolVersion };
    await this.#notify({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  async callTool(name: string, given: object): Promise<ToolResult> {
    const { content = [], structuredContent, isError } = await this.#request("tools/call", { name, arguments: given });
    if (!Array.isArray(content) || !content.every(isObject)) throw odd("content");
    return { content, structuredContent, isError };
  }

  /** Without waiting for a server that does not. */
  end(): void {
    if (this.#sessionHeaders["mcp-session-id"] === undefined) return;
    const headers = { ...this.#ask.headers, ...this.#sessionHeaders };
    const last = { method: "DELETE", headers, timeoutMs: endTimeoutMs, bytesMax: 0, followRedirects: false } as const;
    this.#outbound.open(this.#url.href, { ...last, holder: this.#ask.holder }).then(
      (answer) => answer.discard(),
      () => {},
    );
  }

  async #request(method: string, params: object): Promise<Record<string, unknown>> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = await this.#post({ jsonrpc: "2.0", id, method, params });
    try {
      const opened = answer.headers["mcp-session-id"];
      if (method === "initialize" && opened !== undefined) this.#keepSession(opened);
      for await (const message of this.#messagesOf(answer)) {
        const result = await this.#hear(message, id);
        if (result) return result;
      }
    } finally {
      answer.discard();
    }
    throw odd("the answer ended early");
  }

  async #notify(message: object): Promise<void> {
    (await this.#post(message)).discard();
  }

  /** A server that answers from another path of its own is followed there. */
  async #post(message: object): Promise<OpenAnswer> {
    for (let redirects = 0; redirects <= limits.redirects; redirects += 1) {
      this.#requests += 1;
      if (this.#requests > limits.requests) throw odd("too many requests");
      const { headers, timeoutMs, signal, holder } = this.#ask;
      const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const answer = await this.#outbound.open(this.#url.href, {
        method: "POST",
        headers: { ...headers, ...this.#sessionHeaders, ...json },
        body: JSON.stringify(message),
        timeoutMs,
        bytesMax: this.#bytesLeft,
        signal,
        holder,
        followRedirects: false,
      });
      if (answer.status >= 200 && answer.status < 300) return answer;
      answer.discard();
      this.#url = this.#redirectOf(answer);
    }
    throw odd("too many redirects");
  }

  /** Only one that keeps the method, and never to another origin: the headers are meant for this one. */
  #redirectOf({ status, headers }: OpenAnswer): URL {
    const location = headers.location ?? "";
    const stays = (status === 307 || status === 308) && URL.canParse(location, this.#url.href);
    const next = stays ? new URL(location, this.#url) : undefined;
    if (next?.origin === this.#url.origin) return next;
    throw new ConnectorError("The tool behind this agent could not be reached.", { status });
  }

  #keepSession(id: string | string[]): void {
    if (typeof id !== "string" || !/^[\x21-\x7e]{1,512}$/.test(id)) throw odd("session id");
    this.#sessionHeaders = { ...this.#sessionHeaders, "mcp-session-id": id };
  }

  async *#messagesOf({ chunks, contentType }: OpenAnswer): AsyncGenerator<unknown> {
    const type = contentType.split(";")[0]?.trim().toLowerCase();
    if (type === "text/event-stream") {
      for await (const text of messagesIn(this.#counted(chunks))) yield await parseMessage(text);
    } else if (type === "application/json") {
      const gathered: Buffer[] = [];
      for await (const chunk of this.#counted(chunks)) gathered.push(chunk);
      yield await parseMessage(Buffer.concat(gathered));
    } else throw odd("content-type");
  }

  async *#counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.#bytesLeft -= chunk.length;
      if (this.#bytesLeft < 0) throw odd("too many bytes");
      yield chunk;
    }
  }

  /** The result, when the message answers the request `id`. */
  async #hear(message: unknown, id: number): Promise<Record<string, unknown> | undefined> {
    this.#messages += 1;
    if (this.#messages > limits.messages) throw odd("too many messages");
    if (this.#messages % messagesATurn === 0) await breathe();
    if (!isObject(message)) throw odd("no message");
    if (typeof message.method === "string") {
      if (message.id !== undefined) await this.#answer(message.method, message.id);
      return undefined;
    }
    if (message.id !== id) return undefined;
    if (isObject(message.result)) return message.result;
    const code = isObject(message.error) ? message.error.code : undefined;
    // A server's text about an error can quote what it was sent, so the log gets the code alone.
    throw odd("error", typeof code === "number" ? { code } : {});
  }

  async #answer(method: string, id: unknown): Promise<void> {
    this.#pings += 1;
    const isPing = method === "ping" && (typeof id === "number" || (typeof id === "string" && id.length <= 128));
    if (!isPing || this.#pings > limits.pings) throw odd("the server made requests of its own");
    await this.#notify({ jsonrpc: "2.0", id, result: {} });
  }
}

function parseMessage(text: Buffer | string): Promise<unknown> {
  return parseJson(text).catch(() => {
    throw odd("no JSON, or too much of it");
  });
}

function odd(what: string, detail: Record<string, unknown> = {}): ConnectorError {
  return new ConnectorError("The tool behind this agent did not answer as it should.", { what, ...detail });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
