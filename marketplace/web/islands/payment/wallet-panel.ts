import { byId, callout, el, hash } from "../dom/elements.ts";
import { chosenValue } from "../dom/fields.ts";
import { disconnectButton } from "../wallet/disconnect-button.ts";
import { type Wallet, watchWallets } from "../wallet/providers.ts";
import { holdingOf } from "./holding.ts";
import { usdc } from "./money.ts";
import { canSignFor } from "./sign.ts";
import type { Purchase } from "./sign-payment.ts";

export type ChosenWallet = Pick<Purchase, "wallet" | "network" | "payee">;

/** Which wallet pays on which network; the page shows both once a wallet has announced itself. */
export class WalletPanel {
  readonly #wallets: Wallet[] = [];
  readonly #form: HTMLFormElement;
  /** What the person chose last, wallet or network: the other follows. */
  #chosen: "wallet" | "network" | undefined;
  /** Base units of the stablecoin, where the wallet told. */
  #units: bigint | undefined;

  constructor(form: HTMLFormElement) {
    this.#form = form;
    this.#select?.addEventListener("change", () => this.#choose("wallet"));
    for (const radio of form.querySelectorAll("input[name=network]")) {
      radio.addEventListener("change", () => this.#choose("network"));
    }
    // Once the button says the new price.
    form.addEventListener("input", () => void setTimeout(() => this.#tellShort()));
    document.addEventListener("wallet-changed", () => void this.refresh());
    watchWallets((wallet) => {
      this.#wallets.push(wallet);
      // A wallet in this browser comes first: there is nothing to be connected.
      this.#wallets.sort((a, b) => Number(a.networks !== undefined) - Number(b.networks !== undefined));
      this.#showWallets();
      void this.#follow().then(() => this.refresh());
    });
  }

  /** What pays where, and to whom, as the page says now; undefined where there is no wallet. */
  get chosen(): ChosenWallet | undefined {
    const { wallet, network } = this;
    return wallet && { wallet, network, payee: this.#radio?.dataset.to };
  }

  get wallet(): Wallet | undefined {
    return this.#wallets.find((wallet) => wallet.id === this.#select?.value) ?? this.#wallets[0];
  }

  /** Turns the page to this network; answers the wallet that signs there. */
  async walletFor(network: string): Promise<Wallet | undefined> {
    const radio = this.#form.querySelector<HTMLInputElement>(`input[name=network][value="${CSS.escape(network)}"]`);
    if (radio && !radio.checked) {
      radio.checked = true;
      radio.dispatchEvent(new Event("change", { bubbles: true }));
    }
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const { wallet } = this;
      if (wallet && (await canSignFor(wallet, network))) return wallet;
      // The choice of a wallet follows that of the network, and wallets are asked.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return undefined;
  }

  get #select(): HTMLSelectElement | null | undefined {
    return byId("wallet-choice")?.querySelector("select");
  }

  #choose(what: "wallet" | "network"): void {
    this.#chosen = what;
    this.#units = undefined;
    void this.#follow().then(() => this.refresh());
  }

  get network(): string {
    return chosenValue(this.#form, "network");
  }

  #showWallets(): void {
    const choice = byId("wallet-choice");
    const select = this.#select;
    const name = byId("wallet-name");
    const found = byId("wallet-found");
    const none = byId("wallet-none");
    if (!choice || !select || !name || !found || !none) return;
    const chosen = this.#chosen === "wallet" ? select.value : this.#wallets[0]?.id;
    select.replaceChildren(...this.#wallets.map(({ id, name: text }) => el("option", { value: id }, text)));
    if (chosen) select.value = chosen;
    choice.hidden = this.#wallets.length < 2;
    name.textContent = this.#wallets.length === 1 ? (this.#wallets[0]?.name ?? "") : "";
    found.hidden = false;
    none.hidden = true;
  }

  /** Where the chosen wallet does not sign for the chosen network, another wallet that does, or another network where it does. */
  async #follow(): Promise<void> {
    const { wallet, network } = this;
    const what = this.#chosen;
    // A choice made while a wallet takes its time has a call of #follow of its own.
    const isOvertaken = () => !this.#isChosen(wallet, network) || this.#chosen !== what;
    if (!wallet || (await canSignFor(wallet, network)) || isOvertaken()) return;
    if (what !== "wallet") {
      const able = await firstOf(this.#wallets, (other) => canSignFor(other, network));
      if (isOvertaken()) return;
      if (able && this.#select) this.#select.value = able.id;
      if (able || what === "network") return;
    }
    const radios = [...this.#form.querySelectorAll<HTMLInputElement>("input[name=network]")];
    const radio = await firstOf(radios, ({ value }) => canSignFor(wallet, value));
    if (radio && !isOvertaken()) radio.checked = true;
  }

  /** Shows what the chosen wallet can do on the chosen network. */
  async refresh(): Promise<void> {
    const { network, wallet } = this;
    for (const payee of this.#form.querySelectorAll<HTMLElement>("[data-payee]")) {
      payee.hidden = payee.dataset.payee !== network;
    }
    const can = wallet !== undefined && (await canSignFor(wallet, network));
    if (!this.#isChosen(wallet, network)) return;
    const button = this.#form.querySelector<HTMLButtonElement>("[data-run=wallet]");
    const cannot = byId("wallet-cannot");
    if (button) button.disabled = !can;
    if (cannot) cannot.hidden = can;
    await this.#tellHolding();
  }

  /** Another wallet or network may have been chosen while a wallet was asked. */
  #isChosen(wallet: Wallet | undefined, network: string): boolean {
    return wallet === this.wallet && network === this.network;
  }

  /** Shows what the wallet holds on the chosen network, and how it gets what is missing. */
  async #tellHolding(): Promise<void> {
    const { network, wallet } = this;
    const place = byId("wallet-holds");
    const { asset = "" } = this.#radio?.dataset ?? {};
    const holding = wallet && (await holdingOf(wallet.provider, network, asset));
    if (!place || !this.#isChosen(wallet, network)) return;
    place.hidden = holding === undefined;
    this.#units = holding?.units;
    this.#tellShort();
    if (!holding) return;
    const { account, units } = holding;
    place.replaceChildren(el("dt", {}, "From"), el("dd", {}, hash(account, null)));
    if (units !== undefined)
      place.append(el("dt", {}, "Holds"), el("dd", { class: "num" }, `${usdc(String(units))} USDC`));
    if (wallet.disconnect) place.append(el("dt", {}, "Wallet"), el("dd", {}, disconnectButton(wallet.disconnect)));
  }

  #tellShort(): void {
    const units = this.#units;
    const isShort = units !== undefined && units < this.#priceUnits();
    byId("wallet-short")?.replaceChildren(...(isShort ? [shortOf(units, this.#radio?.dataset.faucet)] : []));
  }

  get #radio(): HTMLElement | null {
    return this.#form.querySelector("input[name=network]:checked");
  }

  /** What the button says that pressing it costs, base units. */
  #priceUnits(): bigint {
    // biome-ignore lint/performance/useDomNodeTextContent: of several prices only the one that is shown is meant
    const said = this.#form.querySelector<HTMLElement>("[data-run=wallet] .btn-price")?.innerText ?? "";
    const dollars = Number.parseFloat(said.replaceAll(",", ""));
    return Number.isFinite(dollars) ? BigInt(Math.round(dollars * 1_000_000)) : 0n;
  }
}

async function firstOf<T>(all: readonly T[], is: (one: T) => Promise<boolean>): Promise<T | undefined> {
  for (const one of all) if (await is(one)) return one;
  return undefined;
}

function shortOf(units: bigint, faucet: string | undefined): HTMLElement {
  const link = el("a", { class: "link", href: faucet, rel: "noreferrer" }, "a faucet");
  const how = faucet ? el("span", {}, " Get test USDC from ", link, ".") : " Send USDC to it on this network.";
  const title =
    units === 0n ? "This wallet has no USDC on this network" : "This wallet has too little USDC on this network";
  return callout("warn", title, el("p", {}, "The network’s own coin is not needed.", how));
}
