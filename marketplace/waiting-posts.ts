/**
 * The posts at this copy of the service that wait for an equal post: of one payment, or of one named request. A waiting post costs its
 * sender nothing, so equal posts look at the record together, and their number is limited.
 */
export class WaitingPosts<Id, Found> {
  readonly #nameOf: (id: Id) => string;
  readonly #find: (id: Id) => Promise<Found | undefined>;
  readonly #waiting = new Map<string, Waiting<Found>>();

  constructor(nameOf: (id: Id) => string, find: (id: Id) => Promise<Found | undefined>) {
    this.#nameOf = nameOf;
    this.#find = find;
  }

  /** A place for one more post, to be left again; undefined when so many equal ones wait. */
  enter(id: Id, postsMax: number): WaitingPost<Found> | undefined {
    const name = this.#nameOf(id);
    const waiting = this.#waiting.get(name) ?? { posts: 0, look: undefined };
    if (waiting.posts >= postsMax) return undefined;
    this.#waiting.set(name, waiting);
    waiting.posts += 1;
    return {
      look: (pauseMs) => {
        waiting.look ??= this.#lookAfter(pauseMs, id, waiting);
        return waiting.look;
      },
      leave: () => {
        waiting.posts -= 1;
        if (waiting.posts === 0) this.#waiting.delete(name);
      },
    };
  }

  /** The look is shared until it begins: what it finds is never older than the question. */
  async #lookAfter(pauseMs: number, id: Id, waiting: Waiting<Found>): Promise<Found | undefined> {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    waiting.look = undefined;
    return this.#find(id);
  }
}

export interface WaitingPost<Found> {
  /** The record as it is after `pauseMs`, or after the pause of a post that began to wait earlier. */
  look(pauseMs: number): Promise<Found | undefined>;
  /** Once. */
  leave(): void;
}

interface Waiting<Found> {
  posts: number;
  look: Promise<Found | undefined> | undefined;
}
