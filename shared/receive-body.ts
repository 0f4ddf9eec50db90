import { smallBodyBytes } from "./body-budget.ts";
import { type CountedRequest, tooManyChunks } from "./coalescing-request.ts";
import { ApiError } from "./errors.ts";
import { endTurn } from "./turns.ts";

/** No byte for so long, and the body is given up. How long all of it may take is the server's `requestTimeout`. */
const idleSeconds = 10;

/**
 * Hands over a body chunk by chunk; where `take` answers a promise, nothing is read until it resolves. What `take` throws
 * ends the reading, as does `giveUp` with an error at any time. Throws ApiError: 413 beyond `bytesMax`, 408 when nothing comes any
 * more, 400 when it is cut off.
 */
export function receiveBody(
  request: CountedRequest,
  bytesMax: number,
  take: (chunk: Buffer, giveUp: (error: unknown) => void) => Promise<void> | undefined,
): Promise<void> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    let received = 0;
    const waiting: Waiting = { seconds: 0, giveUp: () => refuse(tooSlow()) };
    let ended = false;
    let isHeld = false;
    let isWhole = false;
    const end = (settle: () => void) => {
      ended = true;
      waitedFor.delete(waiting);
      request
        .off("data", onData)
        .off("end", onEnd)
        .off("error", onCut)
        .off("close", onCut)
        .off(tooManyChunks, onTooMany);
      settle();
    };
    const refuse = (error: unknown) => {
      if (ended) return;
      request.pause();
      end(() => reject(error));
    };
    const hold = (room: Promise<void>) => {
      isHeld = true;
      endTurn(request);
      request.pause();
      waitedFor.delete(waiting);
      room.then(() => {
        isHeld = false;
        if (ended) return;
        if (isWhole) return end(resolve);
        waitFor(waiting);
        request.resume();
      }, refuse);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > bytesMax) return refuse(tooLarge());
      if (received > smallBodyBytes) endTurn(request);
      waiting.seconds = 0;
      try {
        const room = take(chunk, refuse) ?? (received > chunk.length ? roomInThisTurn(chunk.length) : undefined);
        if (room) hold(room);
      } catch (error) {
        refuse(error);
      }
    };
    // A body that was here before it was read ends with its last piece, paused or not.
    const onEnd = () => {
      isWhole = true;
      if (!isHeld) end(resolve);
    };
    const onCut = () => {
      if (!isWhole) end(() => reject(new ApiError("bad_request", "The body ended early.")));
    };
    const onTooMany = () => refuse(inTooManyChunks());
    if (request.hasTooManyChunks) return onTooMany();
    if (request.destroyed) return onCut();
    waitFor(waiting);
    request.on(tooManyChunks, onTooMany).on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
  });
}

/** What large bodies may bring in one turn of the event loop together, beside the first chunk of each. */
const turnBytesMax = 131_072;
/** The most that Node reads at once from a connection. */
const chunkBytesMax = 65_536;
let turnBytes = 0;
let isTurnAhead = false;
/** Bodies whose next chunk comes in a later turn, in the order they were read in. */
const inLaterTurns: Array<() => void> = [];

/**
 * Undefined while there is room, else when this body's next turn comes. By itself Node reads up to 2 MB of each connection
 * before it looks at anything else, so that sixteen bodies at once kept all others waiting for a tenth of a second; and
 * a chunk of each in every turn would be a megabyte as well.
 */
function roomInThisTurn(bytes: number): Promise<void> | undefined {
  turnBytes += bytes;
  awaitTurn();
  return turnBytes >= turnBytesMax ? new Promise((resolve) => inLaterTurns.push(resolve)) : undefined;
}

function awaitTurn(): void {
  if (isTurnAhead) return;
  isTurnAhead = true;
  setImmediate(() => {
    isTurnAhead = false;
    turnBytes = 0;
    for (const resume of inLaterTurns.splice(0, turnBytesMax / chunkBytesMax)) resume();
    if (inLaterTurns.length > 0) awaitTurn();
  });
}

interface Waiting {
  /** Since its last byte. */
  seconds: number;
  readonly giveUp: () => void;
}

/** Bodies that are waited for. One clock looks at all of them: almost every body is here before it strikes. */
const waitedFor = new Set<Waiting>();
let clock: NodeJS.Timeout | undefined;

function waitFor(waiting: Waiting): void {
  waiting.seconds = 0;
  waitedFor.add(waiting);
  if (clock) return;
  clock = setInterval(() => {
    for (const one of waitedFor) {
      one.seconds += 1;
      if (one.seconds > idleSeconds) one.giveUp();
    }
  }, 1_000).unref();
}

function tooLarge(): ApiError {
  return new ApiError("too_large", "The body is too large.");
}

function tooSlow(): ApiError {
  return new ApiError("too_slow", `Nothing more of the body came for ${idleSeconds} seconds.`);
}

function inTooManyChunks(): ApiError {
  return new ApiError("bad_request", "The body comes in too many chunks for its length.");
}
