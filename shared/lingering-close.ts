import type { Socket } from "node:net";

/**
 * Has a connection close with its last answer, and nothing more of it be parsed. What still comes is thrown away for a while:
 * closing it with bytes unread is a reset, which can overtake that answer, and many clients read no answer before they have sent all. To
 * be called before the answer, which says `Connection: close`.
 */
export function closeWithoutReading(socket: Socket): void {
  socket.pause();
  socket.destroySoon = () => {
    socket.end();
    linger(socket);
  };
}

/** The times that nginx waits (`lingering_timeout`, `lingering_time`): a client that is busy, or far away, reads the answer first. */
const idleMs = 5_000;
const lingerMs = 30_000;
/** More than any body that is taken. */
const thrownBytesMax = 33_554_432;
/** Connections that wait so at a time; one more, and the one that has waited longest is closed for it. */
const lingeringMax = 500;
const lingering = new Set<Socket>();

function linger(socket: Socket): void {
  lingering.add(socket);
  const end = () => void socket.destroy();
  const [idle, whole] = [setTimeout(end, idleMs).unref(), setTimeout(end, lingerMs).unref()];
  socket.once("close", () => {
    for (const timer of [idle, whole]) clearTimeout(timer);
    lingering.delete(socket);
    inLaterTurns.delete(socket);
  });
  const [longest] = lingering;
  if (lingering.size > lingeringMax) longest?.destroy();
  throwAway(socket, () => idle.refresh());
}

function throwAway(socket: Socket, heard: () => void): void {
  let left = thrownBytesMax;
  // Node's parser listens by it.
  socket.removeAllListeners("data");
  socket.on("data", ({ length }: Buffer) => {
    heard();
    left -= length;
    if (left < 0) return void socket.destroy();
    socket.pause();
    inLaterTurns.add(socket);
    awaitTurn();
  });
  socket.resume();
  // Node stopped it when its parser was to take no more, and has it as being read.
  const { _handle } = socket as ReadSocket;
  if (!_handle || _handle.reading) return;
  _handle.reading = true;
  _handle.readStart();
}

interface ReadSocket extends Socket {
  readonly _handle: { reading: boolean; readStart(): void } | null;
}

/** Connections of which more is thrown away in a later turn of the event loop, so that everything else comes before long. */
const inLaterTurns = new Set<Socket>();
const socketsPerTurn = 2;
let isTurnAhead = false;

function awaitTurn(): void {
  if (isTurnAhead) return;
  isTurnAhead = true;
  setImmediate(() => {
    isTurnAhead = false;
    for (const socket of [...inLaterTurns].slice(0, socketsPerTurn)) {
      inLaterTurns.delete(socket);
      socket.resume();
    }
    if (inLaterTurns.size > 0) awaitTurn();
  });
}
