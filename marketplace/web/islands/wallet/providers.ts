import { toHex } from "../../../../client/hex.ts";
import { walletConnect } from "./walletconnect.ts";

interface Asked {
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** What a wallet in the browser does for a page (EIP-1193). */
export interface Provider {
  request(asked: Asked): Promise<unknown>;
  on?(event: string, listener: () => void): unknown;
}

/** A wallet that announced itself (EIP-6963). Its icon is a data: address, which the page's policy does not show. */
export interface Wallet {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider;
  /** Set for a wallet that shows its accounts when it is asked to connect (`hedera_requestAccounts`): the networks where it can have some. */
  readonly networks?: readonly string[];
  /** Set for a wallet that stays connected until it is told otherwise. */
  readonly disconnect?: () => Promise<void>;
}

/** Calls `found` for each wallet, now and when one comes later. What a wallet announces is not trusted to be whole. */
export function watchWallets(found: (wallet: Wallet) => void): void {
  const known = new Set<string>();
  addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail ?? {};
    if (!info || typeof provider?.request !== "function" || known.has(String(info.uuid))) return;
    known.add(String(info.uuid));
    followChanges(provider);
    // One that throws, or answers at once, is a promise all the same.
    const request = async (asked: Asked) => provider.request(asked);
    found({ id: String(info.uuid), name: String(info.name).slice(0, 40), provider: { request } });
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
  const outside = walletConnect();
  if (outside) found(outside);
}

/** Tells the page, by the event `wallet-changed`, of another account or network that is chosen in the wallet. */
function followChanges(provider: Provider): void {
  const tell = () => document.dispatchEvent(new Event("wallet-changed"));
  try {
    provider.on?.("accountsChanged", tell);
    provider.on?.("chainChanged", tell);
  } catch {
    // Then the page learns of them when it asks the wallet next.
  }
}

interface Announcement {
  readonly info?: { readonly uuid: unknown; readonly name: unknown };
  readonly provider?: Provider;
}

/** The account that the person lets this site see; throws what the wallet says when they do not. */
export async function accountOf(provider: Provider): Promise<string> {
  const accounts = (await provider.request({ method: "eth_requestAccounts" })) as readonly string[] | null;
  const account = accounts?.[0];
  if (!account) throw new Error("The wallet showed no account.");
  return account;
}

/** The chain that the wallet is on, as CAIP-2 names it. */
export async function networkOf(provider: Provider): Promise<string> {
  return `eip155:${Number(await provider.request({ method: "eth_chainId" }))}`;
}

/** The wallet's signature of a text (personal_sign). */
export async function signText(provider: Provider, account: string, text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return (await provider.request({ method: "personal_sign", params: [`0x${toHex(bytes)}`, account] })) as string;
}

/** The meanings of wallets' codes, and what to do (EIP-1193, EIP-3085, EIP-1474). */
const refusals: ReadonlyMap<unknown, string> = new Map([
  [4001, "You declined in the wallet."],
  [4100, "The wallet does not let this page use that account. Allow it in the wallet, then try again."],
  [4900, "The wallet is disconnected. Unlock it, then try again."],
  [4901, "The wallet is not connected to this network. Switch to it in the wallet, then try again."],
  [4902, "The wallet does not know this network. Add it in the wallet, then try again."],
  [-32002, "The wallet still waits for your answer to an earlier question. Open it and answer that first."],
]);

/** What a wallet says when it refuses; wallets throw objects of their own. */
export function refusalOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const known = refusals.get(code);
  if (known) return known;
  return typeof message === "string" && message !== "" ? message.slice(0, 300) : "The wallet did not sign.";
}
