import { type Wallet, watchWallets } from "../wallet/providers.ts";
import { byId, callout, el, hash } from "./dom.ts";
import { holdingOf } from "./holding.ts";
import { usdc } from "./payment-card.ts";
import { canSignFor } from "./sign.ts";

/** Which wallet pays on which network; the page shows both once a wallet has announced itself. */
export class WalletPanel {
  readonly #wallets: Wallet[] = [];
  readonly #form: HTMLFormElement;

  constructor(form: HTMLFormElement) {
    this.#form = form;
    const choice = byId("wallet-choice")?.querySelector("select");
    choice?.addEventListener("change", () => void this.refresh());
    for (const radio of form.querySelectorAll("input[name=network]")) {
      radio.addEventListener("change", () => void this.refresh());
    }
    watchWallets((wallet) => {
      this.#wallets.push(wallet);
      this.#showWallets();
      void this.refresh();
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

  /** Shows what the chosen wallet can do on the chosen network. */
  async refresh(): Promise<void> {
    const { network, wallet } = this;
    for (const payee of this.#form.querySelectorAll<HTMLElement>("[data-payee]")) {
      payee.hidden = payee.dataset.payee !== network;
    }
    const can = wallet !== undefined && (await canSignFor(wallet.provider, network));
    const button = this.#form.querySelector<HTMLButtonElement>("[data-run=wallet]");
    const cannot = byId("wallet-cannot");
    if (button) button.disabled = !can;
    if (cannot) cannot.hidden = can;
    await this.#tellHolding();
  }

  /** What the wallet has on the chosen network, and how it gets what is missing. */
  async #tellHolding(): Promise<void> {
    const { network, wallet } = this;
    const place = byId("wallet-holds");
    const short = byId("wallet-short");
    const { asset = "", faucet } = this.#chosen()?.dataset ?? {};
    const holding = wallet && (await holdingOf(wallet.provider, network, asset));
    // Another may have been chosen meanwhile.
    if (!place || !short || network !== this.network || wallet !== this.wallet) return;
    place.hidden = holding === undefined;
    short.replaceChildren();
    if (!holding) return;
    const { account, units } = holding;
    place.replaceChildren(
      el("span", {}, "From ", hash(account, null)),
      units === undefined ? "" : el("span", {}, `${usdc(String(units))} USDC`),
    );
    if (units !== undefined && units < this.#priceUnits()) short.append(shortOf(units, faucet));
  }

  #chosen(): HTMLElement | null {
    return this.#form.querySelector("input[name=network]:checked");
  }

  /** What the button says that pressing it costs, base units. */
  #priceUnits(): bigint {
    const said = this.#form.querySelector("[data-run=wallet] .btn-price")?.textContent ?? "";
    const dollars = Number.parseFloat(said.replaceAll(",", ""));
    return Number.isFinite(dollars) ? BigInt(Math.round(dollars * 1_000_000)) : 0n;
  }
}

function shortOf(units: bigint, faucet: string | undefined): HTMLElement {
  const link = el("a", { class: "link", href: faucet, rel: "noreferrer" }, "a faucet");
  const how = faucet ? el("span", {}, " Get test USDC from ", link, ".") : " Send USDC to it on this network.";
  const title =
    units === 0n ? "This wallet has no USDC on this network" : "This wallet has too little USDC on this network";
  return callout("warn", title, el("p", {}, "The network’s own coin is not needed.", how));
}
