import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Closes connections whose clients have taken nothing of an answer for `seconds`: what was to be sent would be kept for as
 * long as they like. Node's own timeout of a socket knows how far a write has come, but would count the time in which an
 * answer is made as well; so it is set only while something waits to be sent.
 */
export function endUnreadAnswers(server: Server, seconds: number): void {
  const timeoutMs = seconds * 1_000;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const clock = setInterval(() => {
    for (const socket of sockets) {
      const isWatched = socket.timeout === timeoutMs;
      if (socket.writableLength > 0 && !isWatched) socket.setTimeout(timeoutMs);
      if (socket.writableLength === 0 && isWatched) socket.setTimeout(0);
    }
  }, timeoutMs / 6).unref();
  server.once("close", () => clearInterval(clock));
}
