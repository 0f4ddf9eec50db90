import type { PaymentProgress } from "../../../answers/payment-progress.ts";
import { badge, callout, el, hash } from "../dom/elements.ts";
import type { KeptPayment } from "./kept.ts";
import { usdc } from "./money.ts";
import { clockUtc, type RailEnd, railOf } from "./rail.ts";

/** How a payment goes: its state, its amount, the rail of its stops, and what its payer is to know. */
export class PaymentCard {
  readonly #place: () => HTMLElement | undefined;
  readonly #settlesFirst: boolean;
  #card: HTMLElement | undefined;

  constructor(place: () => HTMLElement | undefined, settlesFirst: boolean) {
    this.#place = place;
    this.#settlesFirst = settlesFirst;
  }

  /** `told`: its progress as it was last told. */
  show(kept: Partial<KeptPayment>, told?: PaymentProgress, end?: RailEnd): void {
    const progress = told && withEnd(told, kept);
    const [tone, word] = end
      ? (["bad", end.at === "run" ? "run failed" : "refused"] as const)
      : wordOf(progress?.state ?? "signing", kept);
    const { transaction = null, explorer = null } = progress ?? {};
    const head = [
      badge(tone, word, tone === "info"),
      kept.amount === undefined ? undefined : small(`${usdc(kept.amount)} USDC`),
      transaction === null ? undefined : el("span", { class: "push small" }, hash(transaction, explorer)),
    ];
    const body = el(
      "div",
      { class: "card-body" },
      railOf(kept, progress, { settlesFirst: this.#settlesFirst, work: "Ran" }, end),
    );
    const made = card("Payment", head, body, { id: "payment" });
    const foot = end ? undefined : footOf(progress, kept);
    if (foot) made.append(el("div", { class: "card-foot" }, foot));
    if (progress?.state === "unknown") body.prepend(unknownSaid(progress));
    if (this.#card?.isConnected) this.#card.replaceWith(made);
    else this.#place()?.prepend(made);
    this.#card = made;
  }

  remove(): void {
    this.#card?.remove();
    this.#card = undefined;
  }
}

export function card(
  title: string,
  head: ReadonlyArray<HTMLElement | undefined>,
  body: HTMLElement,
  attributes = {},
): HTMLElement {
  const id = `${title.toLowerCase()}-title`;
  const top = el("div", { class: "card-head rail-head" }, el("h2", { id }, title), ...head);
  return el("section", { class: "card", "aria-labelledby": id, "aria-live": "polite", ...attributes }, top, body);
}

export const small = (text: string) => el("span", { class: "small faint num" }, text);

/** The tone and the word of a payment's state. */
export function wordOf(state: string, { signedAt }: Partial<KeptPayment>): readonly [string, string] {
  switch (state) {
    case "settled":
      return ["ok", "settled"];
    case "failed":
      return ["bad", "failed"];
    case "unknown":
      return ["maybe", "unknown"];
    case "signing":
    case "unseen":
      return ["info", signedAt ? "signed" : "waiting for your wallet"];
    default:
      return ["info", state];
  }
}

function footOf(progress: PaymentProgress | undefined, { signedAt }: Partial<KeptPayment>): string | undefined {
  if (!signedAt || progress?.state === "settled" || progress?.state === "failed") return undefined;
  return "You may reload this page, and keep its tab: the same payment fetches the result, and nothing is paid twice.";
}

/** The browser that signed it knows until when it can land, where the service does not say. */
export function withEnd(progress: PaymentProgress, { endsAt }: Partial<KeptPayment>): PaymentProgress {
  if (progress.can_land_until !== null || endsAt === undefined) return progress;
  return { ...progress, can_land_until: new Date(endsAt).toISOString() };
}

export function unknownSaid({ can_land_until: until }: PaymentProgress): HTMLElement {
  const by = until === null ? "" : ` It can still land until ${clockUtc(until)}.`;
  return callout("maybe", "The end of this payment was not seen yet", `${by} Do not pay again.`);
}
