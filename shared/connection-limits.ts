import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientOf } from "./client-address.ts";
import { closeQueued } from "./response-closed.ts";

/** Requests of one connection that may wait for their answers. No browser or proxy in use sends more than one. */
const pipelinedMax = 8;

/**
 * Keeps one address from taking all connections, and one connection from asking without end. At its limit of connections
 * the one of an address that has waited longest without a whole request is closed for the new one, so that an address that floods
 * loses its own; while all of them are being answered, the new one is closed. No connections are counted of addresses
 * that `isProxy`: all callers come through them.
 *
 * `admits` is called with each request: false means that its connection was closed for having too many that wait, and that
 * nothing is to be done for it.
 */
export function limitConnections(
  server: Server,
  perAddress: number,
  isProxy: (address: string) => boolean,
): Connections {
  const byClient = new Map<string, Set<Socket>>();
  const answering = new Map<Socket, ServerResponse[]>();
  const isWaiting = (socket: Socket) => answering.get(socket)?.at(-1)?.req.complete !== true;

  const countConnection = (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address)) return;
    const client = clientOf(address);
    const sockets = byClient.get(client) ?? new Set();
    if (sockets.size >= perAddress) {
      const idlest = firstOf(sockets, isWaiting);
      if (!idlest) return void socket.destroy();
      sockets.delete(idlest);
      idlest.destroy();
    }
    byClient.set(client, sockets.add(socket));
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0 && byClient.get(client) === sockets) byClient.delete(client);
    });
  };

  const markUsed = (socket: Socket) => {
    const sockets = byClient.get(clientOf(socket.remoteAddress ?? ""));
    // The order of a set is the order of use.
    if (sockets?.delete(socket)) sockets.add(socket);
  };

  server.on("connection", (socket: Socket) => {
    const responses: ServerResponse[] = [];
    answering.set(socket, responses);
    socket.once("close", () => {
      answering.delete(socket);
      for (const response of responses.splice(0)) closeQueued(response);
    });
    countConnection(socket);
  });

  const admits: Connections["admits"] = ({ socket }, response) => {
    const responses = answering.get(socket);
    // Node goes on to hand over what it had read of a connection before it was closed.
    if (!responses || socket.destroyed) return false;
    if (responses.length >= pipelinedMax) {
      socket.destroy();
      return false;
    }
    responses.push(response);
    response.once("close", () => {
      remove(responses, response);
      markUsed(socket);
    });
    return true;
  };
  return { admits, answering };
}

export interface Connections {
  admits(request: IncomingMessage, response: ServerResponse): boolean;
  /** The responses of each connection that are not over, in the order of their requests. */
  readonly answering: ReadonlyMap<Socket, readonly ServerResponse[]>;
}

function firstOf<T>(all: Iterable<T>, isWanted: (one: T) => boolean): T | undefined {
  for (const one of all) if (isWanted(one)) return one;
  return undefined;
}

function remove(responses: ServerResponse[], response: ServerResponse): void {
  const at = responses.indexOf(response);
  if (at >= 0) responses.splice(at, 1);
}
