import type { Socket } from "node:net";

/**
 * Reads no more of a connection, and leaves it open a moment after its last answer: closing it with bytes unread is a
 * reset, which can overtake that answer. To be called before the answer, which says `Connection: close`.
 */
export function closeWithoutReading(socket: Socket): void {
  socket.pause();
  socket.destroySoon = () => {
    socket.end();
    linger(socket);
  };
}

/** The time that nginx waits (`lingering_timeout`): a client that is busy, or far away, reads the answer first. */
const lingerMs = 5_000;
/** Connections that wait so at a time; one more, and the one that has waited longest is closed for it. */
const lingeringMax = 500;
const lingering = new Set<Socket>();

function linger(socket: Socket): void {
  lingering.add(socket);
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => {
    clearTimeout(timer);
    lingering.delete(socket);
  });
  const [longest] = lingering;
  if (lingering.size > lingeringMax) longest?.destroy();
}
