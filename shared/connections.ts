import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientOf } from "./client-address.ts";

/**
 * Keeps one address from taking all connections. At its limit the connection that has waited longest without a whole
 * request gives way to the new one, so that whoever floods loses their own; while all of them are being answered, the new
 * one is closed. Nothing is counted of addresses that `isProxy`: everybody comes through them.
 */
export function limitConnections(server: Server, perAddress: number, isProxy: (address: string) => boolean): void {
  const byClient = new Map<string, Set<Socket>>();
  const answering = new Map<Socket, IncomingMessage>();
  const isWaiting = (socket: Socket) => answering.get(socket)?.complete !== true;

  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address)) return;
    const client = clientOf(address);
    const sockets = byClient.get(client) ?? new Set();
    if (sockets.size >= perAddress) {
      const idlest = [...sockets].find(isWaiting);
      if (!idlest) return void socket.destroy();
      sockets.delete(idlest);
      idlest.destroy();
    }
    byClient.set(client, sockets.add(socket));
    socket.once("close", () => {
      sockets.delete(socket);
      answering.delete(socket);
      if (sockets.size === 0 && byClient.get(client) === sockets) byClient.delete(client);
    });
  });

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    answering.set(socket, request);
    response.once("close", () => {
      answering.delete(socket);
      const sockets = byClient.get(clientOf(socket.remoteAddress ?? ""));
      // The order of a set is the order of use.
      if (sockets?.delete(socket)) sockets.add(socket);
    });
  });
}
