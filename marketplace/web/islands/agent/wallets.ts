/** What a wallet in the browser does for a page (EIP-1193). */
export interface Provider {
  request(asked: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** A wallet that announced itself (EIP-6963). Its icon is a data: address, which the page's policy does not show. */
export interface Wallet {
  readonly name: string;
  readonly id: string;
  readonly provider: Provider;
}

/** Calls `found` with all wallets so far, whenever one announces itself. */
export function discoverWallets(found: (wallets: readonly Wallet[]) => void): void {
  const wallets = new Map<string, Wallet>();
  addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail ?? {};
    if (!info || typeof provider?.request !== "function") return;
    wallets.set(String(info.uuid), { id: String(info.uuid), name: String(info.name).slice(0, 40), provider });
    found([...wallets.values()]);
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
}

interface Announcement {
  readonly info?: { readonly uuid: unknown; readonly name: unknown };
  readonly provider?: Provider;
}

/** What a wallet says when it refuses; a person's own "no" is no failure. */
export function refusalOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === 4001) return "You declined in the wallet.";
  return typeof message === "string" && message !== "" ? message.slice(0, 300) : "The wallet did not sign.";
}
