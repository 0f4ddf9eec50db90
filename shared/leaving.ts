import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { z } from "zod";
import type { EnvReader } from "./env.ts";
import type { Pipelining } from "./pipelining.ts";

/** How long a copy that is told to stop goes on to answer requests, until balancers have noticed. */
export function readDrainMs(env: EnvReader): number {
  const drainMs = env.integer("DRAIN_MS", 5_000, { max: 60_000 });
  if (drainMs > 0 && drainMs < 100)
    env.doubts.push(`DRAIN_MS is ${drainMs} milliseconds, less than a balancer takes to notice`);
  return drainMs;
}

/** In the answers of both services' `/readyz`. */
export const leavingShape = z
  .boolean()
  .describe("This copy was told to stop; it answers requests for a few seconds more.");

/**
 * Empties a server's connections so that no call is lost. From `begin` on every answer asks its client to come back by a new
 * connection, which a balancer gives to another copy; new ones are still taken until `close`.
 */
export class Leaving {
  readonly #server: Server;
  readonly #exchanges: Pipelining["exchanges"];
  #begun = false;

  constructor(server: Server, exchanges: Pipelining["exchanges"]) {
    this.#server = server;
    this.#exchanges = exchanges;
  }

  get begun(): boolean {
    return this.#begun;
  }

  begin(): void {
    this.#begun = true;
    for (const exchanges of this.#exchanges.values()) for (const { response } of exchanges) this.note(response);
  }

  /** To be called with each response before anything of it is written. */
  note(response: ServerResponse): void {
    if (this.#begun && !response.headersSent) response.setHeader("connection", "close");
  }

  /**
   * Takes no more connections and waits for the end of those that are there. One whose answer began before its client could be
   * asked to leave is closed when it has been idle for a while: at once, its client might just be using it again.
   */
  close(): Promise<void> {
    const idleMs = this.#begun ? 500 : 25;
    let idle = new Map<Socket, number>();
    const closeIdle = () => {
      const before = idle;
      idle = new Map();
      for (const [socket, exchanges] of this.#exchanges) {
        if (exchanges.length > 0) continue;
        if (before.get(socket) === socket.bytesRead) socket.destroy();
        else idle.set(socket, socket.bytesRead);
      }
    };
    return new Promise((resolve) => {
      const sweep = setInterval(closeIdle, idleMs);
      // http.Server's own `close` would end what is idle at once.
      NetServer.prototype.close.call(this.#server, () => {
        clearInterval(sweep);
        // Ends the timer by which Node looks for requests that are late.
        this.#server.close();
        resolve();
      });
    });
  }
}
