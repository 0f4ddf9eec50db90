import type { Server } from "node:http";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { clientOf } from "./client-address.ts";

/**
 * Bounds what a turn of the event loop spends on reading. Node reads up to 64 KB of each connection in every turn, and where a body
 * comes in small chunks parsing these takes milliseconds. Once that has taken long, no other connection is read in this turn; in
 * the turns after it a few are, one of each caller after another: first those whose requests have not come in many chunks, which
 * are read quickly. The callers behind a trusted proxy cannot be told apart before they are read, so each of its connections counts
 * as one.
 */
export class ReadingTurns {
  readonly #isProxy: (address: string) => boolean;
  readonly #sockets = new Set<ReadSocket>();
  /** Those whose present request comes in many chunks. */
  readonly #slow = new WeakSet<Socket>();
  /** Those that are not read meanwhile. */
  readonly #stopped = { quick: new Queue(), slow: new Queue() };
  /** Those whose turn it is. */
  #started = new Set<ReadSocket>();
  #lookedAt: number | undefined;
  #isLong = false;

  constructor(isProxy: (address: string) => boolean) {
    this.#isProxy = isProxy;
  }

  watch(server: Server): void {
    server.on("connection", (socket: ReadSocket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("request", ({ socket }) => this.#slow.delete(socket));
  }

  /** To be called now and then while what was read of a connection is parsed, of a request that comes in many chunks. */
  look(socket: Socket): void {
    this.#slow.add(socket);
    if (this.#lookedAt === undefined) {
      this.#lookedAt = performance.now();
      setImmediate(() => {
        this.#lookedAt = undefined;
      });
    }
    if (this.#isLong || performance.now() - this.#lookedAt < longMs) return;
    this.#isLong = true;
    const isUnderWay = this.#isAnyStopped;
    for (const other of this.#sockets) if (other !== socket && !this.#started.has(other)) this.#stop(other);
    if (!isUnderWay) setImmediate(() => this.#readNext());
  }

  get #isAnyStopped(): boolean {
    return this.#stopped.quick.size + this.#stopped.slow.size > 0;
  }

  #stop(socket: ReadSocket): void {
    if (!socket._handle?.reading) return;
    socket._handle.readStop();
    const address = socket.remoteAddress ?? "";
    const queue = this.#slow.has(socket) ? this.#stopped.slow : this.#stopped.quick;
    queue.add(this.#isProxy(address) ? socket : clientOf(address), socket);
  }

  #readNext(): void {
    this.#isLong = false;
    this.#started = new Set();
    const { quick, slow } = this.#stopped;
    const next = quick.size > 0 ? quick.take(atOnce) : slow.take(slowAtOnce);
    for (const socket of next) this.#start(socket);
    if (this.#isAnyStopped) setImmediate(() => this.#readNext());
  }

  #start(socket: ReadSocket): void {
    this.#started.add(socket);
    // Node may have stopped it for reasons of its own meanwhile, and starts it again.
    if (socket._handle?.reading) socket._handle.readStart();
  }
}

/** Connections by caller, in the order of the callers' turns. */
class Queue {
  readonly #byCaller = new Map<unknown, Set<ReadSocket>>();

  /** How many callers have connections here. */
  get size(): number {
    return this.#byCaller.size;
  }

  add(caller: unknown, socket: ReadSocket): void {
    const before = this.#byCaller.get(caller);
    if (before) before.add(socket);
    else this.#byCaller.set(caller, new Set([socket]));
  }

  /** One of each of the next callers, who come last then. */
  take(count: number): ReadSocket[] {
    return [...this.#byCaller].slice(0, count).map(([caller, sockets]) => {
      this.#byCaller.delete(caller);
      const [socket] = sockets as Iterable<ReadSocket> as [ReadSocket];
      sockets.delete(socket);
      if (sockets.size > 0) this.#byCaller.set(caller, sockets);
      return socket;
    });
  }
}

/** What Node keeps of a connection, for which it has no public name. */
interface ReadSocket extends Socket {
  readonly _handle: { readonly reading: boolean; readStart(): void; readStop(): void } | null;
}

const longMs = 8;
const atOnce = 4;
const slowAtOnce = 2;
