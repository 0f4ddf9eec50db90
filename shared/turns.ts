import type { RequestHandler, Response } from "express";
import { clientOf } from "./client-address.ts";

/** So many are worked on at a time: enough to wait for a database beside each other, few enough for who comes next. */
const underWayMax = 16;
/** One that waits for something longer than this counts no more. */
const turnMs = 250;

/**
 * Has requests that cost some milliseconds each begin in turns, one of each caller after another: however many one caller
 * sends at once, another's waits for those that were begun, and for one of each caller. A turn ends with the answer.
 */
export function inTurns(): RequestHandler {
  const turns = new Turns();
  return (request, response, next) => turns.take(clientOf(request.ip ?? ""), { response, begin: next });
}

class Turns {
  /** By caller, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  #underWay = 0;

  take(client: string, request: Waiting): void {
    const before = this.#waiting.get(client);
    if (this.#underWay < underWayMax) this.#begin(request);
    else if (before) before.push(request);
    else this.#waiting.set(client, [request]);
  }

  #begin({ response, begin }: Waiting): void {
    this.#underWay += 1;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#underWay -= 1;
      // Later, so that what takes no turns is answered between them.
      setImmediate(() => this.#beginNext());
    };
    const timer = setTimeout(end, turnMs);
    response.once("prefinish", end).once("close", end);
    begin();
  }

  #beginNext(): void {
    for (const [client, requests] of this.#waiting) {
      if (this.#underWay >= underWayMax) return;
      this.#waiting.delete(client);
      // With those whose connections were cut meanwhile nothing is to be done.
      const next = requests.findIndex(({ response }) => !response.destroyed);
      const [request, ...after] = next < 0 ? [] : requests.slice(next);
      if (after.length > 0) this.#waiting.set(client, after);
      if (request) this.#begin(request);
    }
  }
}

interface Waiting {
  readonly response: Response;
  readonly begin: () => void;
}
