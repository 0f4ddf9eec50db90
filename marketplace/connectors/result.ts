export type OutputKind = "text" | "image" | "json" | "receipt";

export type Output =
  | ({ readonly kind: "text"; readonly text: string } & StandIn)
  | ({ readonly images: readonly string[] } & StandIn)
  | ({ readonly kind: "json"; readonly data: object } & StandIn)
  | { readonly kind: "receipt"; readonly status: string; readonly transactionId: string };

/** A mock model made it, in development: it must not pass for a model's. */
export interface StandIn {
  readonly stand_in?: true;
}

export interface Result {
  readonly output: Output;
  readonly receipt?: object;
}

/** A run that did not work. `message` is for the buyer to read; `detail` is for the log and holds no recipe or secret. */
export class ConnectorError extends Error {
  override readonly name: string = "ConnectorError";
  readonly detail: Readonly<Record<string, unknown>>;
  readonly remedy: Remedy;

  constructor(message: string, detail: Record<string, unknown> = {}, remedy: Remedy = "again") {
    super(message);
    this.detail = detail;
    this.remedy = remedy;
  }
}

/** For an input that no call can be made of. */
export const unfitInput = (message: string) => new ConnectorError(message, {}, "input");
export const unsendableInput = () => unfitInput("The input holds characters that cannot be sent.");

/**
 * What may help a buyer who has paid already. `again`: the same call at once; `later`: the same call after the creator or
 * the platform has mended something; `input`: another input, as the message says.
 */
export type Remedy = "again" | "later" | "input";

/** For a run that found its agent's or its creator's share of requests in use for too long. */
export const busyText = "This agent has too many calls under way; try again shortly.";

/** For a run that its time limit ended. */
export const overtimeText = "The agent took too long.";

/** The run's side effect may have happened. The run is neither charged nor refunded until the chain shows the outcome. */
export class OutcomeUnknownError extends Error {
  override readonly name = "OutcomeUnknownError";
  readonly transactionId: string;

  constructor(transactionId: string) {
    super("It is not known yet whether the transaction was executed.");
    this.transactionId = transactionId;
  }
}

/** JSON output is always an object: a list or a single value becomes its `value`. */
export function jsonOutput(data: unknown): Output {
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  return { kind: "json", data: isObject ? data : { value: data } };
}
