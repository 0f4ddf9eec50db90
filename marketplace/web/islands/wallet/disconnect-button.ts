import { el } from "../dom/elements.ts";

/** A button that ends the wallet's connection to this site, and tells the wallet. */
export function disconnectButton(disconnect: () => Promise<void>): HTMLElement {
  const button = el("button", { type: "button", class: "btn btn-sm btn-ghost push" }, "Disconnect");
  button.addEventListener("click", () => {
    button.setAttribute("aria-busy", "true");
    // Where the wallet cannot be told, this site forgets the connection all the same.
    void disconnect().catch(() => undefined);
  });
  return button;
}
