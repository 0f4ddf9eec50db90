import { type Credits, credits } from "../credits/amount.ts";

/**
 * The one call of a model that a run may make, and whether it has to be paid for. The agent's creator bears a call that
 * the model answered, useful or not, and one whose answer was lost, since the model's provider charges for both. A call
 * that was refused, or that certainly never arrived, costs nothing.
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

  /** To be called before the call is sent. Throws for a second one, for which no credits are claimed. */
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

/** The calls of models for a drawing that the platform sells; the platform bears all of their cost. */
export class PlatformCharge extends ModelCharge {
  #answered = 0;
  readonly #end: (() => void) | undefined;

  /** `end` is called once, when the drawing is over. */
  constructor(end?: () => void) {
    super(credits(0n));
    this.#end = end;
  }

  end(): void {
    this.#end?.();
  }

  override send(): void {
    this.#answered += 1;
  }

  override refused(): void {
    this.#answered -= 1;
  }

  override get borne(): boolean {
    return this.#answered > 0;
  }
}
