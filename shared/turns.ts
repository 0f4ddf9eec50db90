import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { Request, RequestHandler, Response } from "express";
import { clientOf } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import { onceClosed } from "./response-closed.ts";

/**
 * Has requests begin in turns, one of each caller after another, so many at a time: however many one caller sends at once,
 * another's waits for those that were begun, and for one of each caller. A turn ends with the answer, or when its request
 * waits for something else while the process has nothing to do.
 */
class Turns {
  readonly #atOnce: number;
  /** By caller, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #underWay = new Set<Turn>();
  #clock: NodeJS.Timeout | undefined;
  /** When the first request in this turn of the event loop was taken. */
  #loopTurnAt: number | undefined;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  take(client: string, request: Waiting): void {
    const before = this.#waiting.get(client);
    if (this.#waiting.size === 0 && this.#mayBegin()) this.#begin(request);
    else if (before) before.push(request);
    else this.#waiting.set(client, [request]);
  }

  /** Whether there is room, and this turn of the event loop was not spent on requests already: what is quick is done at once. */
  #mayBegin(): boolean {
    if (this.#underWay.size >= this.#atOnce) return false;
    if (this.#loopTurnAt === undefined) {
      this.#loopTurnAt = performance.now();
      setImmediate(() => {
        this.#loopTurnAt = undefined;
        this.#beginNext();
      });
    }
    return performance.now() - this.#loopTurnAt < loopTurnMs;
  }

  #begin({ response, begin }: Waiting): void {
    const turn: Turn = {};
    this.#underWay.add(turn);
    this.#clock ??= setInterval(() => this.#endThoseThatWait(), lookedAtMs).unref();
    const end = () => this.#end(turn);
    response.once("close", end);
    begin(end);
  }

  #end(turn: Turn): void {
    // Later, so that what takes no turns is done between them.
    if (this.#underWay.delete(turn) && this.#waiting.size > 0) setImmediate(() => this.#beginNext());
  }

  /** One clock looks at all of them: almost every request is answered before it strikes. */
  #endThoseThatWait(): void {
    const { idle } = performance.eventLoopUtilization();
    const now = performance.now();
    for (const turn of this.#underWay) {
      turn.seen ??= { idle, at: now };
      if (idle - turn.seen.idle >= idleMsMin || now - turn.seen.at >= longestMs) this.#end(turn);
    }
    if (this.#underWay.size > 0) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }

  #beginNext(): void {
    for (const [client, requests] of this.#waiting) {
      if (!this.#mayBegin()) return;
      this.#waiting.delete(client);
      // With those whose connections were cut meanwhile nothing is to be done.
      const next = requests.findIndex(({ response }) => !response.destroyed);
      const [request, ...after] = next < 0 ? [] : requests.slice(next);
      if (after.length > 0) this.#waiting.set(client, after);
      if (request) this.#begin(request);
    }
  }
}

interface Turn {
  /** When the clock saw it first, and how long the process had had nothing to do by then. */
  seen?: { readonly idle: number; readonly at: number };
}

interface Waiting {
  readonly response: ServerResponse;
  /** `end` ends its turn before its answer does. */
  readonly begin: (end: () => void) => void;
}

/** So much of a turn of the event loop may be spent before the next request waits for another turn. */
const loopTurnMs = 10;
/** How often those under way are looked at. */
const lookedAtMs = 10;
/** When the process had nothing to do for so long since it was begun, it waits for something else. */
const idleMsMin = 12;
/** However busy the process is. */
const longestMs = 1_000;

const turnEnd = Symbol("turnEnd");

type WithTurn = IncomingMessage & { [turnEnd]?: () => void };

/** A service's requests, by `clientOf` of their callers' addresses. */
export class RequestTurns {
  readonly #turns = new Turns(requestsAtOnce);

  take(address: string, response: ServerResponse, begin: () => void): void {
    // A turn's listener is one more than a page's and a tool's answer have; Node would warn each time.
    response.setMaxListeners(20);
    this.#turns.take(clientOf(address), {
      response,
      begin: (end) => {
        (response.req as WithTurn)[turnEnd] = end;
        begin();
      },
    });
  }
}

/** Ends the request's turn among all: what it does from now on has an order of its own. */
export function endTurn(request: IncomingMessage): void {
  (request as WithTurn)[turnEnd]?.();
}

/** Pages take several times as long as other requests, and have turns of their own. */
export function pagesInTurns(): RequestHandler {
  const turns = new Turns(pagesAtOnce);
  return (request, response, next) => {
    endTurn(request);
    turns.take(clientOf(request.ip ?? ""), { response, begin: () => next() });
  };
}

/**
 * Waits for a turn of those whose bodies have so many parts that parsing and checking one takes milliseconds. Throws ApiError 400 when
 * its caller is gone by then.
 */
export function turnOfManyParts(request: Request, response: Response): Promise<void> {
  endTurn(request);
  return new Promise((resolve, reject) => {
    onceClosed(response, () => reject(new ApiError("bad_request", "The request was given up.")));
    if (response.destroyed) return;
    manyParts.take(clientOf(request.ip ?? ""), { response, begin: () => resolve() });
  });
}

/** Enough to wait for a database or a chain beside each other, few enough for who comes next. */
const requestsAtOnce = 48;
const pagesAtOnce = 8;
/** These begin in one turn of the event loop. */
const manyParts = new Turns(2);
