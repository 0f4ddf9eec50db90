import { type Credits, credits } from "../../shared/units.ts";

/**
 * The one call of a model that a run may make, and whether it has to be paid for. A call that the model answered is borne
 * by the agent's creator, whatever the answer is good for; so is one whose answer was lost, which the model's provider
 * charges alike. Nobody bears a call that was refused or certainly never arrived.
 */
export class ModelCharge {
  readonly credits: Credits;
  #sent = false;
  #refused = false;

  constructor(cost: Credits) {
    this.credits = cost;
  }

  /** Nothing to pay for: a model that costs nothing, or a run that calls none. */
  static free(): ModelCharge {
    return new ModelCharge(credits(0n));
  }

  /** Before the call goes out. Throws for a second one, which nobody has paid for. */
  send(): void {
    if (this.#sent) throw new Error("a run calls its model once");
    this.#sent = true;
  }

  refused(): void {
    this.#refused = true;
  }

  get borne(): boolean {
    return this.#sent && !this.#refused;
  }
}

/** Whose call of a model it is: a run's of an agent, or the platform's own for what it sells itself. */
export type ModelCaller = ModelCharge | "platform";
