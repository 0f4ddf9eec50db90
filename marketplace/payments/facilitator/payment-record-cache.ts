import type { z } from "zod";
import { clientOf } from "../../../shared/client-address.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { PaidCallId } from "../payment-payload.ts";
import type { FacilitatorClient } from "./client.ts";
import { facilitatorRecordShape } from "./facilitator-record.ts";

/**
 * What the facilitator's public record says of payments, for callers who ask again and again: questions about one payment
 * within a second are one question, and no caller can have it asked more often than it answers this service. Payments of
 * calls that are known here have a budget of their own, which callers who make payments up cannot use.
 */
export class PaymentRecordCache {
  readonly #facilitator: Pick<FacilitatorClient, "paymentState">;
  /** By payment, the one asked about longest ago first. */
  readonly #asked = new Map<string, Asked>();
  readonly #ofKnown = new SecondBudget(knownQuestionsPerSecond);
  readonly #ofUnknown = new SecondBudget(unknownQuestionsPerSecond);
  /** Callers that ask about unknown payments at this moment, by address. */
  readonly #askers = new Map<string, SecondBudget>();

  constructor(facilitator: Pick<FacilitatorClient, "paymentState">) {
    this.#facilitator = facilitator;
  }

  /**
   * The record of a payment that a call was begun with. `unheard` when the facilitator gave no answer; while too much is
   * asked, its answer of a moment ago. An answer from before the call's last step (`step` names that) is asked for again.
   */
  async ofKnownCall(id: PaidCallId, step: string): Promise<Heard> {
    const known = this.#known(id);
    if (known?.step === step && isFresh(known)) return known.answer;
    if (this.#ofKnown.take()) return this.#ask(id, step);
    return known && Date.now() - known.at < lateMs ? known.answer : "unheard";
  }

  /** The record of a payment that is unknown here, for a caller at this address. Throws ApiError 429 when the caller asks too much. */
  async ofUnknownPayment(id: PaidCallId, address: string): Promise<Heard> {
    const known = this.#known(id);
    if (known && isFresh(known)) return known.answer;
    if (!this.#budgetOf(clientOf(address)).take() || !this.#ofUnknown.take()) throw askedTooOften();
    return this.#ask(id);
  }

  #known(id: PaidCallId): Asked | undefined {
    return this.#asked.get(nameOf(id));
  }

  #ask(id: PaidCallId, step?: string): Promise<Heard> {
    const name = nameOf(id);
    const answer = this.#facilitator.paymentState(id).then(readState, () => "unheard" as const);
    this.#asked.delete(name);
    this.#asked.set(name, { at: Date.now(), step, answer });
    if (this.#asked.size > askedMax) this.#asked.delete(this.#asked.keys().next().value as string);
    return answer;
  }

  #budgetOf(client: string): SecondBudget {
    const budget = this.#askers.get(client) ?? new SecondBudget(questionsPerAsker);
    this.#askers.delete(client);
    this.#askers.set(client, budget);
    if (this.#askers.size > askersMax) this.#askers.delete(this.#askers.keys().next().value as string);
    return budget;
  }
}

/** Allows `max` within any second. */
class SecondBudget {
  readonly #max: number;
  readonly #taken: number[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  take(): boolean {
    const now = Date.now();
    while (this.#taken[0] !== undefined && this.#taken[0] <= now - 1_000) this.#taken.shift();
    if (this.#taken.length >= this.#max) return false;
    this.#taken.push(now);
    return true;
  }
}

/** `none`: it has no record of it. `unheard`: it gave no answer. */
export type Heard = PaymentState | "none" | "unheard";

interface Asked {
  readonly at: number;
  readonly step: string | undefined;
  readonly answer: Promise<Heard>;
}

const nameOf = ({ network, key }: PaidCallId) => `${network} ${key}`;
const isFresh = ({ at }: Asked) => Date.now() - at < freshMs;

function askedTooOften(): ApiError {
  const message = "Payments that no call was begun with are asked about too often at the moment.";
  return new ApiError("rate_limited", message, { headers: { "retry-after": "1" } });
}

/** Another facilitator may keep no such record, or say something else there: that is no answer. */
function readState(body: unknown): Heard {
  if (body === undefined) return "none";
  const { success, data } = shape.safeParse(body);
  return success ? data : "unheard";
}

const shape = facilitatorRecordShape.pick({
  state: true,
  transaction: true,
  created_at: true,
  expires_at: true,
  finished_at: true,
  explorer: true,
});
type PaymentState = z.infer<typeof shape>;

const freshMs = 900;
const lateMs = 10_000;
const askedMax = 2_000;
const askersMax = 5_000;
/** A facilitator on main networks answers 3,000 a minute to an address unless its operator says otherwise: half of that. */
const knownQuestionsPerSecond = 18;
const unknownQuestionsPerSecond = 7;
/** A page asks once a second. */
const questionsPerAsker = 3;
