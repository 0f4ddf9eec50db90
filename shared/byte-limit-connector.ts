import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { buildConnector } from "undici";

const connectTimeoutMs = 3_000;
const answerBytesMax = 67_108_864;

/**
 * A connector whose connections end when one answer takes more bytes than any answer may, headers, early hints and the
 * chunks' own extensions included: what is no part of the body is counted nowhere else.
 */
export function byteLimitConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, timeout: connectTimeoutMs });
  return (target, done) =>
    connect(target, (...[error, socket]) => {
      if (!socket) return done(error as Error, null);
      answerFrom.set(socket, 0);
      const counting = setInterval(() => {
        if (socket.bytesRead - answerFrom.get(socket)! > answerBytesMax) socket.destroy(new Error("sent too much"));
      }, 50);
      socket.once("close", () => clearInterval(counting));
      done(null, socket);
    });
}

/** The bytes that a connection had brought when its present request was sent. */
const answerFrom = new WeakMap<Socket, number>();
subscribe("undici:client:sendHeaders", (sent) => {
  const { socket } = sent as { socket: Socket };
  if (answerFrom.has(socket)) answerFrom.set(socket, socket.bytesRead);
});
