/** A wallet in the browser, as EIP-6963 has it announce itself. */
export interface InjectedWallet {
  readonly id: string;
  readonly name: string;
  readonly request: (call: { readonly method: string; readonly params?: readonly unknown[] }) => Promise<unknown>;
}

interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string };
  readonly provider: { readonly request: InjectedWallet["request"] };
}

/** Calls `found` for each wallet, now and when one comes later. */
export function watchWallets(found: (wallet: InjectedWallet) => void): void {
  const known = new Set<string>();
  addEventListener("eip6963:announceProvider", (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    if (known.has(info.uuid)) return;
    known.add(info.uuid);
    found({ id: info.uuid, name: info.name.slice(0, 60), request: (call) => provider.request(call) });
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
}

/** The account that the person lets this site see; throws what the wallet says when they do not. */
export async function accountOf({ request }: InjectedWallet): Promise<string> {
  const accounts = (await request({ method: "eth_requestAccounts" })) as readonly string[];
  const [account] = accounts;
  if (!account) throw new Error("The wallet showed no account.");
  return account;
}

/** The chain that the wallet is on, as CAIP-2 names it. */
export async function networkOf({ request }: InjectedWallet): Promise<string> {
  return `eip155:${Number(await request({ method: "eth_chainId" }))}`;
}

/** The wallet's signature of a text (personal_sign). */
export async function signText({ request }: InjectedWallet, account: string, text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return (await request({ method: "personal_sign", params: [`0x${hex}`, account] })) as string;
}
