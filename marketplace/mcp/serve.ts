import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createMcpHandler, type Server } from "@modelcontextprotocol/server";
import type { Request, Response } from "express";
import type { Log } from "../../shared/log.ts";
import { onceClosed } from "../../shared/response-closed.ts";
import { type Message, problemWithParams } from "./read-message.ts";
import { invalidParams } from "./rpc-error.ts";

/**
 * Has a server answer one message. Requests of 2026-07-28 name their version in each message, older clients agree on it first;
 * neither has a session. A caller who leaves ends the answer, and not what runs.
 */
export async function serveMessage(
  { log }: { readonly log: Log },
  request: Request,
  response: Response,
  message: Message,
  server: Server,
): Promise<void> {
  const problem = problemWithParams(message);
  if (problem !== undefined) {
    response.json({ jsonrpc: "2.0", id: message.id, error: { code: invalidParams, message: problem } });
    return;
  }
  const left = new AbortController();
  // The listeners of the answer and of its stream are more than Node takes for usual: it would warn each time.
  response.setMaxListeners(20);
  onceClosed(response, () => left.abort());
  const handler = createMcpHandler(() => server, {
    // Lists of tools are asked for anew: nothing here tells of their changes.
    maxSubscriptions: 0,
    onerror: (error) => log.debug({ err: error }, "a message to the tool server was refused"),
  });
  const asked = new globalThis.Request("http://localhost/", {
    method: "POST",
    headers: headersOf(request),
    signal: left.signal,
  });
  await send(await handler.fetch(asked, { parsedBody: message }), response);
}

function headersOf(request: Request): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string") headers.set(name, value);
  }
  // A client that accepts any type accepts both.
  const takes = (type: string) => request.accepts(type) !== false;
  if (takes("application/json") && takes("text/event-stream")) {
    headers.set("accept", "application/json, text/event-stream");
  }
  return headers;
}

async function send(answer: globalThis.Response, response: Response): Promise<void> {
  response.status(answer.status);
  for (const [name, value] of answer.headers) if (name !== "connection") response.setHeader(name, value);
  if (!answer.body) {
    response.end();
    return;
  }
  response.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(answer.body as never), response);
  } catch (error) {
    // The caller left.
    if (!response.destroyed) throw error;
  }
}
