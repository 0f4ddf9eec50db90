import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of a test's own, on any free port of this machine. */
export async function startHttpServer(answer: RequestListener): Promise<HttpServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface HttpServer {
  readonly url: string;
  /** As `url` names it: `127.0.0.1:4321`. */
  readonly host: string;
  /** Cuts every connection that is open. */
  stop(): Promise<void>;
}
