import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { closeWithoutReading } from "./lingering-close.ts";
import { stopParsing } from "./stop-parsing.ts";

/** Requests of one connection that may wait for their answers. No browser or proxy in use sends more than one. */
const pipelinedMax = 8;

/** A request that is being answered, or waits until those before it have been. */
export interface Exchange {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/**
 * Begins the requests of each connection one after another, the next when the answer to the one before has been sent: a
 * client that asks without reading has one answer made for it. To one that asks without end, the requests that were taken
 * are answered, and then its connection is closed.
 */
export class Pipelining {
  readonly #exchanges = new Map<Socket, Exchange[]>();

  readonly #answered: (socket: Socket) => void;

  /** `answered` is called with the connection of each request that is over. */
  constructor(server: Server, answered: (socket: Socket) => void) {
    this.#answered = answered;
    server.on("connection", (socket: Socket) => {
      this.#exchanges.set(socket, []);
      socket.once("close", () => this.#exchanges.delete(socket));
    });
  }

  /** What is not over of each connection, in the order of the requests. */
  get exchanges(): ReadonlyMap<Socket, readonly Exchange[]> {
    return this.#exchanges;
  }

  /** Whether the connection has no whole request that is to be answered. */
  isIdle(socket: Socket): boolean {
    return this.#exchanges.get(socket)?.at(-1)?.response.req.complete !== true;
  }

  /** To be called with each request that Node hands over. `begin` may never be called: the connection can end before. */
  take(response: ServerResponse, begin: () => void): void {
    const { socket } = response.req;
    const exchanges = this.#exchanges.get(socket);
    if (!exchanges || socket.destroyed) {
      stopParsing(socket);
      return;
    }
    const last = exchanges[pipelinedMax - 1];
    if (last) {
      last.response.setHeader("connection", "close");
      closeWithoutReading(socket);
      stopParsing(socket);
      return;
    }
    exchanges.push({ response, begin });
    response.once("close", () => {
      exchanges.shift();
      this.#answered(socket);
      const [next] = exchanges;
      // Node gives the connection to the next response, unless the one before was to be its last.
      if (next?.response.socket && !socket.destroyed) next.begin();
    });
    if (exchanges.length === 1) begin();
  }
}
