import type { IncomingHttpHeaders } from "node:http";
import { startHttpServer } from "./http-server.ts";
import type { Fate } from "./rpc-proxy.ts";

/** A proxy between a service and one it calls, which misbehaves as told: by path, request after request. */
export async function startHttpProxy(upstream: string): Promise<HttpProxy> {
  let fateOf: (path: string, body: string) => Fate = () => "pass";
  const held: Array<() => void> = [];
  const behave: HttpProxy["behave"] = (rule) => {
    fateOf = rule;
    for (const go of held.splice(0)) go();
  };
  const server = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const fate = fateOf(request.url ?? "", Buffer.concat(chunks).toString());
    if (fate === "lose-call") return void request.socket.destroy();
    if (fate === "hold") await new Promise<void>((resolve) => held.push(resolve));
    const answer = await fetch(`${upstream}${request.url}`, {
      method: request.method ?? "GET",
      headers: { "content-type": "application/json", ...traceOf(request.headers) },
      ...(request.method === "POST" && { body: Buffer.concat(chunks) }),
    });
    const text = await answer.text();
    if (fate === "lose-answer") return void request.socket.destroy();
    const retryAfter = answer.headers.get("retry-after");
    const headers = { "content-type": "application/json", ...(retryAfter !== null && { "retry-after": retryAfter }) };
    response.writeHead(answer.status, headers).end(text);
  });
  return {
    url: server.url,
    behave,
    held: () => held.length,
    stop: server.stop,
  };
}

const traceOf = ({ traceparent }: IncomingHttpHeaders) =>
  traceparent === undefined ? {} : { traceparent: `${traceparent}` };

export interface HttpProxy {
  readonly url: string;
  behave(rule: (path: string, body: string) => Fate): void;
  /** How many requests it keeps. */
  held(): number;
  stop(): Promise<void>;
}
