import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { badge, callout, el, hash } from "../dom/elements.ts";
import { focusOn } from "../dom/focus.ts";
import { unknownSaid, withEnd, wordOf } from "../payment/card.ts";
import type { KeptPayment } from "../payment/kept.ts";
import { usdc } from "../payment/money.ts";
import { clockUtc, type RailEnd, railOf } from "../payment/rail.ts";
import type { PaymentView } from "../payment/view.ts";

/** How the purchase goes, beside the form. */
export class PurchaseView implements PaymentView {
  readonly #place: HTMLElement;
  #askAgain: (kept: KeptPayment) => void = () => {};
  #last: PaymentProgress | undefined;

  constructor(place: HTMLElement) {
    this.#place = place;
  }

  onAskAgain(ask: (kept: KeptPayment) => void): void {
    this.#askAgain = ask;
  }

  payment(kept: Partial<KeptPayment>, told?: PaymentProgress, end?: RailEnd): void {
    this.#last = told;
    this.show(kept, told, end);
  }

  /** The progress that was shown last. */
  get last(): PaymentProgress | undefined {
    return this.#last;
  }

  noPayment(): void {
    this.#last = undefined;
    this.#place.replaceChildren();
  }

  /** The rail shows what is waited for. */
  wait(): void {}

  /** The rail, with the payment as it was last told, and what is to be known of it. */
  show(kept: Partial<KeptPayment>, told?: PaymentProgress, end?: RailEnd, ...said: readonly HTMLElement[]): void {
    const progress = told && withEnd(told, kept);
    const [tone, word] = end ? (["bad", "refused"] as const) : stateOf(progress, kept);
    const head = el(
      "div",
      { class: "rail-head" },
      el("h3", {}, "Purchase"),
      badge(tone, word, tone === "info"),
      kept.amount !== undefined && el("span", { class: "push small faint num" }, `${usdc(kept.amount)} USDC`),
    );
    const rail = railOf(kept, progress, { settlesFirst: true, work: "Credited" }, end);
    rail.firstElementChild?.setAttribute("class", "rail");
    const { transaction = null, explorer = null } = progress ?? {};
    const link = transaction !== null && el("p", { class: "small" }, "Transaction ", hash(transaction, explorer));
    const notes = said.length > 0 ? said : [noteOf(progress, kept, end)];
    const hadFocus = this.#place.contains(document.activeElement);
    this.#place.replaceChildren(head, rail, ...[link, ...notes].filter((one) => one !== false && one !== undefined));
    if (hadFocus) focusOn(this.#place);
  }

  /** For a payment whose end is not known: the person can ask about it again, and never pays again. */
  offerToAsk(kept: KeptPayment, told: PaymentProgress | undefined, title: string, said: string): void {
    const button = el("button", { type: "button", class: "btn" }, "Ask again");
    button.addEventListener("click", () => this.#askAgain(kept), { once: true });
    this.show(kept, told, undefined, callout("maybe", title, said), button);
  }

  /** Nothing was signed, or nothing moved. */
  tell(title: string, said: string): void {
    this.#place.replaceChildren(el("h3", {}, "Purchase"), callout("warn", title, said));
  }
}

function stateOf(progress: PaymentProgress | undefined, kept: Partial<KeptPayment>): readonly [string, string] {
  if (progress?.state === "settled" && progress.ran) return ["ok", "credited"];
  if (progress?.state === "settled") return ["info", "crediting"];
  return wordOf(progress?.state ?? "signing", kept);
}

function noteOf(
  progress: PaymentProgress | undefined,
  { signedAt }: Partial<KeptPayment>,
  end: RailEnd | undefined,
): HTMLElement | undefined {
  if (end || progress?.state === "failed") return undefined;
  if (progress?.state === "unknown") return unknownSaid(progress);
  if (!signedAt) return callout("info", "Confirm the payment in your wallet", "Signing moves nothing by itself.");
  const until = progress?.can_land_until;
  const by = until ? ` It can land until ${clockUtc(until)}.` : "";
  return callout(
    "info",
    "You may reload this page",
    `The purchase goes on and is credited once, however often you ask.${by}`,
  );
}
