import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { badge, byId, callout, el } from "../dom/elements.ts";
import { replaceFocused } from "../dom/focus.ts";
import { card, PaymentCard, small } from "../payment/card.ts";
import type { KeptPayment } from "../payment/kept.ts";
import type { RailEnd } from "../payment/rail.ts";
import { keepAnswer } from "./last-answer.ts";
import { type Answer, resultView } from "./result.ts";

/** The right-hand side of the page: how the payment goes, and what came of the run. */
export class Outcome {
  readonly #place = byId("outcome") as HTMLElement;
  readonly #agent: string;
  readonly #payment: PaymentCard;
  /** The last result, in case the next press brings none. */
  #last: Answer | undefined;

  constructor(agent: string, settlesFirst: boolean) {
    this.#agent = agent;
    this.#payment = new PaymentCard(() => this.#place, settlesFirst);
  }

  /** Shows placeholders where the result will be. */
  wait(said = "shown as soon as it is there"): void {
    const lines = ["skel skel-title", "skel skel-2", "skel", "skel skel-3"].map((name) => el("div", { class: name }));
    const body = el(
      "div",
      { class: "card-body stack", "aria-hidden": "true" },
      el("div", { class: "skel skel-block" }),
      ...lines,
    );
    this.#result(card("Result", [badge("info", "running", true), small(said)], body, { "aria-busy": "true" }));
  }

  payment(kept: Partial<KeptPayment>, told?: PaymentProgress, end?: RailEnd): void {
    this.#payment.show(kept, told, end);
  }

  noPayment(): void {
    this.#payment.remove();
  }

  /** Shows the run's result, its cost, and where these can be looked up. */
  show(answer: Answer): void {
    this.#last = answer;
    keepAnswer(this.#agent, answer);
    this.#result(resultView(answer));
  }

  /** Shows of a run without a result why, whether money moved, and what to do next; below it the result before, if there is one. */
  tell(tone: "bad" | "warn" | "maybe" | "info", title: string, said: string, ...more: readonly HTMLElement[]): void {
    const body = el("div", { class: "card-body stack" }, callout(tone, title, said), ...more);
    this.#result(card("Result", [], body));
    if (!this.#last) return;
    const earlier = resultView(this.#last, "Earlier result");
    earlier.id = "earlier";
    byId("result")?.after(earlier);
  }

  #result(made: HTMLElement): void {
    made.id = "result";
    byId("earlier")?.remove();
    const old = document.getElementById("result");
    if (old) replaceFocused(old, made);
    else this.#place.append(made);
  }
}
