import { el } from "../dom/elements.ts";

/** Ends what connects a wallet to this site; the wallet hears of it, too. */
export function disconnectButton(disconnect: () => Promise<void>): HTMLElement {
  const button = el("button", { type: "button", class: "btn btn-sm btn-ghost push" }, "Disconnect");
  button.addEventListener("click", () => {
    button.setAttribute("aria-busy", "true");
    // What could not be told to the wallet is forgotten here all the same.
    void disconnect().catch(() => undefined);
  });
  return button;
}
