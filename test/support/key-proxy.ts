import { request } from "node:http";
import { type HttpServer, startHttpServer } from "./http-server.ts";

/** A loopback proxy that adds an API key and passes everything else on as it is, for programs that cannot send one. */
export async function startKeyProxy(upstream: string, key: string): Promise<HttpServer> {
  return startHttpServer((incoming, outgoing) => {
    const { method, headers, url = "/" } = incoming;
    const passed = request(
      new URL(url, upstream),
      { method, headers: { ...headers, authorization: `Bearer ${key}` }, setHost: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
}
