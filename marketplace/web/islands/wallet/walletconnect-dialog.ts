import { qrCode } from "./qr-code.ts";

/** The person closed the dialog before the wallet answered. */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  override readonly message = "You stopped waiting for the wallet. What it signs now is not used.";
}

const byId = (name: string) => document.getElementById(`walletconnect-${name}`) as HTMLElement;

/** What a person has to do with a wallet that is not in this browser. */
export class WalletDialog {
  readonly #dialog = byId("dialog") as HTMLDialogElement;

  /** Open while the work goes on. A person who closes it ends the waiting; `stopped` tells the work that it is over. */
  async around<T>(work: (stopped: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const closed = new Promise<never>((_resolve, reject) => {
      const onClose = () => {
        // A browser tells of a closing later than it closes: while the dialog is open, that was the work before.
        if (this.#dialog.open) return;
        over.abort();
        reject(new StoppedError());
      };
      this.#dialog.addEventListener("close", onClose, { signal: over.signal });
    });
    this.#dialog.showModal();
    try {
      return await Promise.race([work(over.signal), closed]);
    } finally {
      over.abort();
      this.#dialog.close();
    }
  }

  tell(title: string, said: string): void {
    byId("title").textContent = title;
    byId("said").textContent = said;
    for (const name of ["code", "open", "copy", "again"]) byId(name).hidden = true;
  }

  /** A link that a wallet takes: by its camera, by pasting, or on the same device. */
  showLink(link: string): void {
    byId("code").replaceChildren(qrCode(link));
    byId("code").hidden = false;
    const copy = byId("copy");
    copy.hidden = false;
    copy.onclick = () => void copyLink(link);
    this.offerToOpen("Open a wallet app", link);
  }

  /** For devices that have wallets as apps. */
  offerToOpen(text: string, link: string): void {
    const open = byId("open") as HTMLAnchorElement;
    open.textContent = text;
    open.href = link;
    open.hidden = !matchMedia("(pointer: coarse)").matches;
  }

  /** Until the person wants to try again. */
  again(title: string, said: string): Promise<void> {
    this.tell(title, said);
    const button = byId("again");
    button.hidden = false;
    button.focus();
    return new Promise((resolve) => {
      button.onclick = () => resolve();
    });
  }
}

async function copyLink(link: string): Promise<void> {
  const said = byId("said");
  await navigator.clipboard.writeText(link).then(
    () => {
      said.textContent = "The link is copied. Paste it where your wallet connects to sites.";
    },
    () => {
      said.textContent = `The browser does not let this page copy. The link: ${link}`;
    },
  );
}
