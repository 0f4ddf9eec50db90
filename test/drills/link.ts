import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

/** A way to a port of this machine on which nothing arrives any more once it is frozen. */
export class Link {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  static async to(port: number): Promise<Link> {
    const sockets = new Set<Socket>();
    const server = createServer((near) => {
      const far = createConnection(port, "127.0.0.1");
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.setNoDelay(true);
        socket.on("error", () => {});
        socket.once("close", () => {
          sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      far.pipe(near);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Link((server.address() as AddressInfo).port, server, sockets);
  }

  private constructor(port: number, server: Server, sockets: Set<Socket>) {
    this.port = port;
    this.#server = server;
    this.#sockets = sockets;
  }

  /** Connections stay, and whatever is sent on them is lost. */
  freeze(): void {
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.on("data", () => {});
    }
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
