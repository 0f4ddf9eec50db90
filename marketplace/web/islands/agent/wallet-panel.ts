import { type Wallet, watchWallets } from "../wallet/providers.ts";
import { byId, el } from "./dom.ts";
import { canSignFor } from "./sign.ts";

/** Which wallet pays on which network; the page shows both once a wallet has announced itself. */
export class WalletPanel {
  readonly #wallets: Wallet[] = [];
  readonly #form: HTMLFormElement;

  constructor(form: HTMLFormElement) {
    this.#form = form;
    const choice = byId("wallet-choice")?.querySelector("select");
    choice?.addEventListener("change", () => void this.#refresh());
    for (const radio of form.querySelectorAll("input[name=network]")) {
      radio.addEventListener("change", () => void this.#refresh());
    }
    watchWallets((wallet) => {
      this.#wallets.push(wallet);
      this.#showWallets();
      void this.#refresh();
    });
  }

  get wallet(): Wallet | undefined {
    const id = byId("wallet-choice")?.querySelector("select")?.value;
    return this.#wallets.find((wallet) => wallet.id === id) ?? this.#wallets[0];
  }

  get network(): string {
    return String(new FormData(this.#form).get("network") ?? "");
  }

  #showWallets(): void {
    const choice = byId("wallet-choice");
    const select = choice?.querySelector("select");
    const name = byId("wallet-name");
    const found = byId("wallet-found");
    const none = byId("wallet-none");
    if (!choice || !select || !name || !found || !none) return;
    const chosen = this.wallet?.id;
    select.replaceChildren(...this.#wallets.map(({ id, name: text }) => el("option", { value: id }, text)));
    if (chosen) select.value = chosen;
    choice.hidden = this.#wallets.length < 2;
    name.textContent = this.#wallets.length === 1 ? (this.#wallets[0]?.name ?? "") : "";
    found.hidden = false;
    none.hidden = true;
  }

  async #refresh(): Promise<void> {
    const { network, wallet } = this;
    for (const payee of this.#form.querySelectorAll<HTMLElement>("[data-payee]")) {
      payee.hidden = payee.dataset.payee !== network;
    }
    const can = wallet !== undefined && (await canSignFor(wallet.provider, network));
    const button = this.#form.querySelector<HTMLButtonElement>("[data-run=wallet]");
    const cannot = byId("wallet-cannot");
    if (button) button.disabled = !can;
    if (cannot) cannot.hidden = can;
  }
}
