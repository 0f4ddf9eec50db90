import type { Socket } from "node:net";

/**
 * Reads no more of a connection, and leaves it open a moment after its last answer: closing it with bytes unread is a
 * reset, which can overtake that answer. To be called before the answer, which says `Connection: close`.
 */
export function closeWithoutReading(socket: Socket): void {
  socket.pause();
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}

/** The time that nginx waits (`lingering_timeout`): a client that is busy, or far away, reads the answer first. */
const lingerMs = 5_000;
