import type { ModelBuyer } from "./model-claims.ts";

/** How many calls of models each buyer has under way in this process that are not paid for yet. */
export class CallsUnderWay {
  readonly #byCaller = new Map<string, number>();

  /** Of the buyer, or of all callers from the same address, whichever are more. */
  of(buyer: ModelBuyer): number {
    return Math.max(...callersOf(buyer).map((caller) => this.#byCaller.get(caller) ?? 0));
  }

  /** Counts one more; the function answered ends it. */
  begin(buyer: ModelBuyer): () => void {
    const callers = callersOf(buyer);
    for (const caller of callers) this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + 1);
    return () => {
      for (const caller of callers) {
        const left = this.#byCaller.get(caller)! - 1;
        if (left === 0) this.#byCaller.delete(caller);
        else this.#byCaller.set(caller, left);
      }
    };
  }
}

const callersOf = ({ id, address }: ModelBuyer) => (address === undefined || address === id ? [id] : [id, address]);
