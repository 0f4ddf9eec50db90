import { byId } from "../dom/elements.ts";
import { creditsOf, usdcOf } from "../payment/money.ts";

/** How many credits are asked for: one of the usual amounts, or what is typed. */
export class Amount {
  readonly #form: HTMLFormElement;
  /** Which of the usual amounts was chosen last: it counts again when what was typed is taken out. */
  #usualBefore: HTMLInputElement | null = null;

  constructor(form: HTMLFormElement) {
    this.#form = form;
    form.addEventListener("input", (event) => {
      if (event.target instanceof HTMLInputElement && event.target.name === "amount") this.#own.value = "";
      this.#show();
    });
    this.#show();
  }

  get credits(): number {
    return Number(this.#own.value || this.#usual?.value || 0);
  }

  get #own(): HTMLInputElement {
    return this.#form.elements.namedItem("credits") as HTMLInputElement;
  }

  get #usual(): HTMLInputElement | null {
    return this.#form.querySelector<HTMLInputElement>("input[name=amount]:checked");
  }

  #show(): void {
    this.#usualBefore = this.#usual ?? this.#usualBefore;
    // The typed amount counts, so no other choice may look chosen.
    if (this.#usualBefore) this.#usualBefore.checked = this.#own.value === "";
    const { credits } = this;
    const isWhole = Number.isInteger(credits) && credits >= 1;
    byId("buy-said")?.replaceChildren(
      isWhole ? `${creditsOf(credits)} for ${usdcOf(credits)}` : "Whole credits, one at least",
    );
    this.#form.querySelector("[data-run=wallet] .btn-price")?.replaceChildren(isWhole ? usdcOf(credits) : "–");
  }
}
