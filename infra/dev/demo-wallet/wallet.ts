import type { PrivateKeyAccount } from "viem/accounts";

/*
 * A wallet for the development stack's pages: it announces itself as browser extensions do (EIP-6963), holds the stack's funded keys and
 * signs at once what a page of this origin asks for. Its keys are public: it is worth nothing anywhere else.
 *
 * Beside the methods of EVM wallets it has three of this stack alone, after HIP-820's, for there is no standard by which a
 * Hedera wallet announces itself:
 *   hedera_accounts          → ["hedera:testnet:0.0.1003"]
 *   hedera_signTransaction   [{signerAccountId, transactionBody}] → {signatureMap}, both base64 of protobuf
 *   hedera_signMessage       [{signerAccountId, message}] → {signatureMap}
 */

/** Written into the script when it is built. */
declare const demoWallet: {
  readonly evm: { readonly address: `0x${string}`; readonly privateKey: `0x${string}`; readonly chainId: number };
  /** The account by its CAIP-10 id; its ed25519 key as DER in hexadecimal. */
  readonly hedera: { readonly account: string; readonly privateKey: string };
};

/** Made for the first signature: making it as the page loads blocks a slow phone for a fifth of a second. */
function account(): Promise<PrivateKeyAccount> {
  made ??= import("./evm-account.ts").then(({ evmAccount }) => evmAccount(demoWallet.evm.privateKey));
  return made;
}

let made: Promise<PrivateKeyAccount> | undefined;

const methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
  eth_requestAccounts: () => [demoWallet.evm.address],
  eth_accounts: () => [demoWallet.evm.address],
  eth_chainId: () => `0x${demoWallet.evm.chainId.toString(16)}`,
  wallet_switchEthereumChain: ([asked]) => {
    const { chainId } = asked as { chainId: string };
    if (Number(chainId) !== demoWallet.evm.chainId)
      throw new WalletError(4902, "The demo wallet knows one chain only.");
    return null;
  },
  eth_signTypedData_v4: async ([signer, typedData]) => {
    requireOwn(signer);
    return (await account()).signTypedData(JSON.parse(String(typedData)));
  },
  personal_sign: async ([message, signer]) => {
    requireOwn(signer);
    return (await account()).signMessage({ message: { raw: message as `0x${string}` } });
  },
  hedera_accounts: () => [demoWallet.hedera.account],
  hedera_signTransaction: async ([asked]) => {
    const { signerAccountId, transactionBody } = asked as { signerAccountId: string; transactionBody: string };
    requireOwnHedera(signerAccountId);
    return { signatureMap: await signHedera(fromBase64(transactionBody)) };
  },
  hedera_signMessage: async ([asked]) => {
    const { signerAccountId, message } = asked as { signerAccountId: string; message: string };
    requireOwnHedera(signerAccountId);
    const text = `\x19Hedera Signed Message:\n${message.length}${message}`;
    return { signatureMap: await signHedera(new TextEncoder().encode(text)) };
  },
};

const provider = {
  request: async ({ method, params = [] }: { method: string; params?: readonly unknown[] }): Promise<unknown> => {
    const answer = methods[method];
    if (!answer) throw new WalletError(4200, `The demo wallet has no ${method}.`);
    return answer(params);
  },
  on: () => provider,
  removeListener: () => provider,
};

class WalletError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function requireOwn(signer: unknown): void {
  if (String(signer).toLowerCase() === demoWallet.evm.address.toLowerCase()) return;
  throw new WalletError(4100, "This is not the wallet's account.");
}

function requireOwnHedera(signer: string): void {
  if (signer !== demoWallet.hedera.account) throw new WalletError(4100, "This is not the wallet's account.");
}

/** A SignatureMap of one pair, whose prefix is the whole key: SignatureMap.1 → SignaturePair.1 and .3 (ed25519). */
async function signHedera(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const der = fromHex(demoWallet.hedera.privateKey);
  const key = await crypto.subtle.importKey("pkcs8", der, "Ed25519", true, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", key);
  const publicKey = fromBase64(x.replaceAll("-", "+").replaceAll("_", "/"));
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", key, body));
  const pair = [0x0a, publicKey.length, ...publicKey, 0x1a, signature.length, ...signature];
  return btoa(String.fromCharCode(0x0a, pair.length, ...pair));
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>')}`;
const info = Object.freeze({
  uuid: "3c9b4d2e-0f5a-4c1e-9d0b-6a2f7e81c450",
  name: "Demo wallet",
  icon,
  rdns: "localhost.demo-wallet",
});
const announce = () =>
  dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
addEventListener("eip6963:requestProvider", announce);
announce();
