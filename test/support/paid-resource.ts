import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpServer } from "./http-server.ts";

/** A resource server whose answer to callers who do not pay is set by the test; every request is counted. */
export async function startPaidResource(): Promise<PaidResource> {
  const answers = new Map<string, Answerer>();
  const requests: string[] = [];
  const server = await startHttpServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    requests.push(`${request.method} ${request.url}`);
    const answer = answers.get(path);
    if (!answer) return void response.writeHead(404).end();
    answer(response, request);
  });
  return {
    url: server.url,
    requests,
    answer: (path, answerer) => {
      answers.set(path, answerer);
    },
    stop: server.stop,
  };
}

export type Answerer = (response: ServerResponse, request: IncomingMessage) => void;

export interface PaidResource {
  readonly url: string;
  /** `GET /path?query`, in order. */
  readonly requests: string[];
  answer(path: string, answerer: Answerer): void;
  stop(): Promise<void>;
}

/** The 402 of version 2: the quote is in a header. */
export function quoteV2(accepts: readonly object[], more: object = {}): Answerer {
  const quote = Buffer.from(JSON.stringify({ x402Version: 2, accepts, ...more })).toString("base64");
  return (response) => response.writeHead(402, { "payment-required": quote }).end("{}");
}

/** The 402 of version 1: the quote is the body. */
export function quoteV1(accepts: readonly object[]): Answerer {
  return (response) =>
    response
      .writeHead(402, { "content-type": "application/json" })
      .end(JSON.stringify({ x402Version: 1, error: "", accepts }));
}
