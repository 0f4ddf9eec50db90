import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What happens to an answer on its way back: passed on, never passed on, or the connection cut at its first byte. */
export type AnswerFate = "pass" | "stall" | "cut";

/** A TCP proxy before a service, which loses answers as told. What is sent always arrives. */
export async function startCutProxy(upstream: string): Promise<CutProxy> {
  const { hostname, port } = new URL(upstream);
  const open = new Set<Socket>();
  let fateOf: (bytes: Buffer) => AnswerFate = () => "pass";
  const cut = () => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    for (const socket of [client, service]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        service.destroy();
        open.delete(socket);
      });
    }
    client.pipe(service);
    service.on("data", (bytes) => {
      const fate = fateOf(bytes);
      if (fate === "cut") client.destroy();
      else if (fate === "pass") client.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    behave: (rule) => {
      fateOf = rule;
    },
    stop: async () => {
      cut();
      server.close();
    },
  };
}

export interface CutProxy {
  readonly url: string;
  /** Cuts every connection that is open. */
  cut(): void;
  /** Asked about each piece of an answer. */
  behave(rule: (bytes: Buffer) => AnswerFate): void;
  stop(): Promise<void>;
}
