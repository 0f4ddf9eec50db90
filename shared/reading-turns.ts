import type { Server } from "node:http";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { clientOf } from "./client-address.ts";

/**
 * Bounds what a turn of the event loop spends on reading. Node reads up to 64 KB of each connection in every turn, and where a body
 * comes in small chunks parsing these takes milliseconds. Once that has taken long, no other connection is read in this turn; in
 * the turns after it a few are, one of each caller after another.
 */
export class ReadingTurns {
  readonly #sockets = new Set<ReadSocket>();
  /** Those that are not read meanwhile, by caller, in the order of their turns. */
  readonly #stopped = new Map<string, Set<ReadSocket>>();
  /** Those whose turn it is. */
  #started = new Set<ReadSocket>();
  #lookedAt: number | undefined;
  #isLong = false;

  watch(server: Server): void {
    server.on("connection", (socket: ReadSocket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** To be called now and then while what was read of a connection is parsed. */
  look(socket: Socket): void {
    if (this.#lookedAt === undefined) {
      this.#lookedAt = performance.now();
      setImmediate(() => {
        this.#lookedAt = undefined;
      });
    }
    if (this.#isLong || performance.now() - this.#lookedAt < longMs) return;
    this.#isLong = true;
    const isUnderWay = this.#stopped.size > 0;
    for (const other of this.#sockets) if (other !== socket && !this.#started.has(other)) this.#stop(other);
    if (!isUnderWay) setImmediate(() => this.#readNext());
  }

  #stop(socket: ReadSocket): void {
    if (!socket._handle?.reading) return;
    socket._handle.readStop();
    const client = clientOf(socket.remoteAddress ?? "");
    const before = this.#stopped.get(client);
    if (before) before.add(socket);
    else this.#stopped.set(client, new Set([socket]));
  }

  #readNext(): void {
    this.#isLong = false;
    this.#started = new Set();
    for (const [client, sockets] of this.#stopped) {
      if (this.#started.size >= atOnce) break;
      this.#stopped.delete(client);
      const [socket] = sockets as Iterable<ReadSocket> as [ReadSocket];
      sockets.delete(socket);
      if (sockets.size > 0) this.#stopped.set(client, sockets);
      this.#start(socket);
    }
    if (this.#stopped.size > 0) setImmediate(() => this.#readNext());
  }

  #start(socket: ReadSocket): void {
    this.#started.add(socket);
    // Node may have stopped it for reasons of its own meanwhile, and starts it again.
    if (socket._handle?.reading) socket._handle.readStart();
  }
}

/** What Node keeps of a connection, for which it has no public name. */
interface ReadSocket extends Socket {
  readonly _handle: { readonly reading: boolean; readStart(): void; readStop(): void } | null;
}

const longMs = 8;
const atOnce = 4;
