import type { PaidCallId } from "../payment-payload.ts";
import type { PaidCall } from "./paid-call.ts";

/**
 * The posts at this copy of the service that wait for another post of the same payment. A waiting post costs its sender
 * nothing, so posts of one payment look at the record together, and the number of posts is limited.
 */
export class WaitingPosts {
  readonly #find: (id: PaidCallId) => Promise<PaidCall | undefined>;
  readonly #payments = new Map<string, Waiting>();

  constructor(find: (id: PaidCallId) => Promise<PaidCall | undefined>) {
    this.#find = find;
  }

  /** A place for one more post, to be left again; undefined when too many of this payment wait. */
  enter(id: PaidCallId, { isHolder }: { isHolder: boolean }): WaitingPost | undefined {
    const name = `${id.network} ${id.key}`;
    const waiting = this.#payments.get(name) ?? { posts: 0, look: undefined };
    if (waiting.posts >= (isHolder ? postsMax : strangersMax)) return undefined;
    this.#payments.set(name, waiting);
    waiting.posts += 1;
    return {
      look: (pauseMs) => {
        waiting.look ??= this.#lookAfter(pauseMs, id, waiting);
        return waiting.look;
      },
      leave: () => {
        waiting.posts -= 1;
        if (waiting.posts === 0) this.#payments.delete(name);
      },
    };
  }

  /** The look is shared until it begins: what it finds is never older than the question. */
  async #lookAfter(pauseMs: number, id: PaidCallId, waiting: Waiting): Promise<PaidCall | undefined> {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    waiting.look = undefined;
    return this.#find(id);
  }
}

interface WaitingPost {
  /** The call as it is after `pauseMs`, or after the pause of a post that began to wait earlier. */
  look(pauseMs: number): Promise<PaidCall | undefined>;
  /** Once. */
  leave(): void;
}

interface Waiting {
  posts: number;
  look: Promise<PaidCall | undefined> | undefined;
}

/** Posts that may wait for one payment, whose buyer may post it again while it is under way. */
const postsMax = 64;
/** Presenters who have not shown that the payment is theirs leave the other places to its buyer. */
const strangersMax = 32;
