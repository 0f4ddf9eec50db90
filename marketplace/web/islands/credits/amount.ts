import { byId } from "../dom/elements.ts";
import { creditsOf, usdcOf } from "../payment/money.ts";

/** How many credits are asked for: one of the usual amounts, or what is typed. */
export class Amount {
  readonly #form: HTMLFormElement;

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
    const { credits } = this;
    if (!Number.isInteger(credits) || credits < 1) return;
    // What is typed counts, so nothing else looks chosen.
    if (this.#own.value !== "" && this.#usual) this.#usual.checked = false;
    byId("buy-said")?.replaceChildren(`${creditsOf(credits)} for ${usdcOf(credits)}`);
    this.#form.querySelector("[data-run=wallet] .btn-price")?.replaceChildren(usdcOf(credits));
  }
}
