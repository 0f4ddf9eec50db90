import type { Server } from "node:http";
import type { Socket } from "node:net";

/** What may wait to be sent to all clients together before those that take little of it are not waited for. */
const usualBytesMax = 134_217_728;
/** So long they are waited for then. */
const pressedMs = 3_000;
/** Who takes so much in that time goes on, and who has no more than this to take. */
const takenMin = 16_384;
const smallBytes = 262_144;
const lookedAtMs = 1_000;

/**
 * Closes connections whose clients have taken nothing of an answer for `seconds`: what was to be sent would be kept for as
 * long as they like. Node's own timeout of a socket knows how far a write has come, but would count the time in which an
 * answer is made as well; so it is set only while something waits to be sent. While more than `bytesMax` wait altogether, as after a
 * burst of large answers that were under way together, those that take next to nothing are closed after a moment.
 */
export function endUnreadAnswers(server: Server, seconds: number, bytesMax = usualBytesMax): void {
  const timeoutMs = seconds * 1_000;
  const sockets = new Set<SendingSocket>();
  server.on("connection", (socket: SendingSocket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  let pressed = new Map<SendingSocket, Seen>();
  const clock = setInterval(
    () => {
      let waiting = 0;
      for (const socket of sockets) {
        const isWatched = socket.timeout === timeoutMs;
        if (socket.writableLength > 0 && !isWatched) socket.setTimeout(timeoutMs);
        if (socket.writableLength === 0 && isWatched) socket.setTimeout(0);
        waiting += socket.writableLength;
      }
      pressed = waiting > bytesMax ? closeIdlest(sockets, pressed) : new Map();
    },
    Math.min(lookedAtMs, timeoutMs / 6),
  ).unref();
  server.once("close", () => clearInterval(clock));
}

/** Closes those that took too little since they were looked at first; answers what is known of the others. */
function closeIdlest(
  sockets: Iterable<SendingSocket>,
  seen: ReadonlyMap<SendingSocket, Seen>,
): Map<SendingSocket, Seen> {
  const now = performance.now();
  const still = new Map<SendingSocket, Seen>();
  for (const socket of sockets) {
    if (socket.writableLength <= smallBytes) continue;
    const before = seen.get(socket);
    const taken = takenOf(socket);
    if (!before || taken - before.taken >= takenMin) still.set(socket, { taken, at: now });
    else if (now - before.at >= pressedMs) socket.destroy();
    else still.set(socket, before);
  }
  return still;
}

interface Seen {
  readonly taken: number;
  readonly at: number;
}

/** What the system has taken of all that was written: Node has no public name for what it has not. */
function takenOf({ _handle }: SendingSocket): number {
  return _handle ? _handle.bytesWritten - _handle.writeQueueSize : 0;
}

interface SendingSocket extends Socket {
  readonly _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}
