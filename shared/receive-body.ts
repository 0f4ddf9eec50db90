import type { IncomingMessage } from "node:http";
import { ApiError } from "./errors.ts";

/** No byte for so long, and the body is given up. How long all of it may take is the server's `requestTimeout`. */
const idleSeconds = 10;
/** Each chunk costs a call, so that a body in chunks of one byte costs more than one that is a thousand times as long. */
const chunksFree = 1_000;
const chunkBytesMin = 64;

/**
 * Hands over a body chunk by chunk; where `take` answers a promise, nothing is read until it resolves. What `take` throws
 * ends the reading. Throws ApiError: 413 beyond `bytesMax`, 408 when nothing comes any more, 400 when it is cut off.
 */
export function receiveBody(
  request: IncomingMessage,
  bytesMax: number,
  take: (chunk: Buffer) => Promise<void> | undefined,
): Promise<void> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    let received = 0;
    let chunks = 0;
    const waiting: Waiting = { seconds: 0, giveUp: () => refuse(tooSlow()) };
    let ended = false;
    const end = (settle: () => void) => {
      ended = true;
      waitedFor.delete(waiting);
      request.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      settle();
    };
    const refuse = (error: unknown) => {
      request.pause();
      end(() => reject(error));
    };
    const hold = (room: Promise<void>) => {
      request.pause();
      waitedFor.delete(waiting);
      room.then(() => {
        if (ended) return;
        waitFor(waiting);
        request.resume();
      }, refuse);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      chunks += 1;
      if (received > bytesMax) return refuse(tooLarge());
      if (chunks > chunksFree && received / chunks < chunkBytesMin) return refuse(inSplinters());
      waiting.seconds = 0;
      try {
        const room = take(chunk);
        if (room) hold(room);
      } catch (error) {
        refuse(error);
      }
    };
    const onEnd = () => end(resolve);
    const onCut = () => end(() => reject(new ApiError("bad_request", "The body ended early.")));
    if (request.destroyed) return onCut();
    waitFor(waiting);
    request.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
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

function inSplinters(): ApiError {
  return new ApiError("bad_request", "The body comes in too many chunks for its length.");
}
