import type { Server } from "node:http";
import type { Socket } from "node:net";
import { clientOf } from "./client-address.ts";

/**
 * Keeps one address from taking all connections. At its limit of connections the one of an address that has been idle longest
 * is closed for the new one, so that an address that floods loses its own; while all of them are being answered, the new one is
 * closed. No connections are counted of addresses that `isProxy`: all callers come through them. Returns what is to be called
 * with the connection of each request that is over.
 */
export function limitConnections(
  server: Server,
  perAddress: number,
  { isProxy, isIdle }: { isProxy: (address: string) => boolean; isIdle: (socket: Socket) => boolean },
): (socket: Socket) => void {
  const byClient = new Map<string, Set<Socket>>();

  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address)) return;
    const client = clientOf(address);
    const sockets = byClient.get(client) ?? new Set();
    if (sockets.size >= perAddress) {
      const idlest = firstOf(sockets, isIdle);
      if (!idlest) return void socket.destroy();
      sockets.delete(idlest);
      idlest.destroy();
    }
    byClient.set(client, sockets.add(socket));
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0 && byClient.get(client) === sockets) byClient.delete(client);
    });
  });

  return (socket) => {
    const sockets = byClient.get(clientOf(socket.remoteAddress ?? ""));
    // The order of a set is the order of use.
    if (sockets?.delete(socket)) sockets.add(socket);
  };
}

function firstOf<T>(all: Iterable<T>, isWanted: (one: T) => boolean): T | undefined {
  for (const one of all) if (isWanted(one)) return one;
  return undefined;
}
