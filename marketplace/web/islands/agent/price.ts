import { byId } from "../dom/elements.ts";
import { creditsOf, usdcOf } from "../payment/money.ts";

/** The price that the page shows. What costs more is asked about first, never charged. */
export class Price {
  readonly #form: HTMLFormElement;

  constructor(form: HTMLFormElement) {
    this.#form = form;
  }

  get credits(): number {
    return Number(this.#form.dataset.price);
  }

  /** Whether the buyer agrees to another price than was shown; the page then shows that. */
  async agreedTo(credits: number): Promise<boolean> {
    if (credits <= this.credits) return true;
    const dialog = byId<HTMLDialogElement>("price-rose");
    const said = byId("price-rose-said");
    if (!dialog || !said) return false;
    said.textContent = `The price rose from ${this.credits} to ${creditsOf(credits)} = ${usdcOf(credits)}`;
    const agrees = await answerOf(dialog);
    if (agrees) this.show(credits);
    return agrees;
  }

  show(credits: number): void {
    this.#form.dataset.price = String(credits);
    const asked = this.#form.elements.namedItem("max_credits");
    if (asked instanceof HTMLInputElement) asked.value = String(credits);
    byId("bar-price")?.replaceChildren(`${creditsOf(credits)} = ${usdcOf(credits)}`);
    for (const button of this.#form.querySelectorAll<HTMLElement>("[data-run]")) {
      const cost = button.querySelector(".btn-price");
      if (cost) cost.textContent = button.dataset.run === "wallet" ? usdcOf(credits) : creditsOf(credits);
    }
  }
}

function answerOf(dialog: HTMLDialogElement): Promise<boolean> {
  return new Promise((resolve) => {
    let agrees = false;
    const yes = dialog.querySelector<HTMLElement>("[data-answer=yes]");
    const agree = () => {
      agrees = true;
      dialog.close();
    };
    yes?.addEventListener("click", agree);
    dialog.addEventListener(
      "close",
      () => {
        yes?.removeEventListener("click", agree);
        resolve(agrees);
      },
      { once: true },
    );
    dialog.showModal();
    yes?.focus();
  });
}
