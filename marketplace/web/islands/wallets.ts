import { byId, el } from "./dom/elements.ts";
import { chosenValue } from "./dom/fields.ts";
import { connectHedera } from "./payment/sign-hedera.ts";
import { OtherAccountError, signTextAs } from "./payment/sign-text.ts";
import { disconnectButton } from "./wallet/disconnect-button.ts";
import { accountOf, networkOf, refusalOf, type Wallet, watchWallets } from "./wallet/providers.ts";

/** Adding a payout wallet: a wallet in this browser fills in its account and signs the text. */
const addForm = byId<HTMLFormElement>("wallet-add");
const signForm = byId<HTMLFormElement>("wallet-sign");

watchWallets((wallet) => {
  const { name, networks } = wallet;
  if (addForm) offer("take-from", `Take it from ${name}`, "take-said", () => fillIn(addForm, wallet));
  if (signForm && (networks?.includes(signForm.dataset.network ?? "") ?? true)) offerToSign(signForm, wallet);
  if (wallet.disconnect) offerToDisconnect(wallet, wallet.disconnect);
});

/** The wallet is the shorter way, so what is pasted is no longer the first thing to do. */
function offerToSign(form: HTMLFormElement, wallet: Wallet): void {
  offer("sign-with", `Sign in ${wallet.name}`, "sign-said", () => sign(form, wallet));
  form.querySelector(".btn-primary:not([type=button])")?.classList.remove("btn-primary");
}

/** While it is connected. */
function offerToDisconnect({ provider }: Wallet, disconnect: () => Promise<void>): void {
  const show = async () => {
    const accounts = await provider.request({ method: "hedera_accounts" });
    byId("disconnect-wallet")?.remove();
    if ((accounts as readonly string[]).length === 0) return;
    const button = disconnectButton(disconnect);
    button.id = "disconnect-wallet";
    byId("take-from")?.append(button);
  };
  document.addEventListener("wallet-changed", () => void show());
  void show();
}

function offer(placeId: string, text: string, saidId: string, act: () => Promise<void>): void {
  const place = byId(placeId);
  const said = byId(saidId);
  if (!place || !said) return;
  const isSigning = placeId === "sign-with";
  const button = el("button", { type: "button", class: isSigning ? "btn btn-sm btn-primary" : "btn btn-sm" }, text);
  button.addEventListener("click", async () => {
    if (button.ariaBusy === "true") return;
    button.setAttribute("aria-busy", "true");
    said.textContent = isSigning ? "Look at your wallet: it asks for your signature, which costs nothing." : "";
    try {
      await act();
      said.textContent = "";
    } catch (error) {
      said.textContent = refusalOf(error);
    }
    button.removeAttribute("aria-busy");
  });
  place.append(button);
  place.hidden = false;
}

/** The wallet's account on the chosen network. */
async function fillIn(form: HTMLFormElement, wallet: Wallet): Promise<void> {
  const { provider } = wallet;
  const address = form.elements.namedItem("address") as HTMLInputElement;
  const network = chosenValue(form, "network");
  if (wallet.networks && !network.startsWith("hedera:"))
    throw new Error("This wallet is for Hedera: choose its network.");
  if (network.startsWith("hedera:")) {
    const [account] = await connectHedera(wallet, network);
    if (account === undefined) throw new Error("This wallet shows no account on Hedera. Type it in.");
    address.value = account;
    return;
  }
  address.value = await accountOf(provider);
  const current = await networkOf(provider);
  const radio = form.querySelector<HTMLInputElement>(`input[name=network][value="${CSS.escape(current)}"]`);
  if (radio && !network) radio.checked = true;
}

/** Has the wallet sign the text, and posts the form with it. */
async function sign(form: HTMLFormElement, wallet: Wallet): Promise<void> {
  const { network = "", address = "" } = form.dataset;
  const message = byId("sign-text")?.textContent ?? "";
  const signature = form.elements.namedItem("signature") as HTMLInputElement;
  signature.value = await signTextAs(wallet, network, address, message).catch((error: unknown) => {
    if (!(error instanceof OtherAccountError)) throw error;
    const shown = `The wallet shows ${error.message || "no account"}.`;
    throw new Error(`${shown} Choose the account ${address} in it, or add that one instead.`);
  });
  form.requestSubmit();
}
