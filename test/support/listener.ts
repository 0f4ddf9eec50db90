import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";

/** Counts who connects, on the loopback address of IPv4 and IPv6, and answers `HTTP 200`. */
export async function startListener(): Promise<Listener> {
  let connections = 0;
  const servers: Server[] = [];
  const open = async (host: string, port: number) => {
    const server = createServer((socket) => {
      connections += 1;
      socket.on("error", () => {});
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret");
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  const port = await open("127.0.0.1", 0);
  await open("::1", port).catch(() => {});
  return {
    port,
    connections: () => connections,
    stop: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

export interface Listener {
  readonly port: number;
  connections(): number;
  stop(): Promise<void>;
}
