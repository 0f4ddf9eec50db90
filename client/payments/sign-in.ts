import { toHex } from "../hex.ts";
import { encodeHeader } from "./quote.ts";
import type { SignedPayment } from "./signed-payment.ts";
import type { Wallets } from "./wallets.ts";

/** What the payer's wallet signs to have a delivered result once more (x402's `sign-in-with-x`): the text of CAIP-122, good for one post. */
export interface SignInChallenge {
  readonly info: {
    readonly domain: string;
    readonly uri: string;
    readonly version: string;
    readonly statement: string;
    readonly nonce: string;
    readonly issuedAt: string;
    readonly expirationTime: string;
    readonly resources: readonly string[];
  };
  readonly supportedChains: ReadonlyArray<{ readonly chainId: string; readonly type: string }>;
}

/**
 * The challenge in the answer to a payment that was used already; undefined where there is none, or none of the service at `origin` for a
 * payment: such a text could sign its payer in elsewhere.
 */
export function challengeIn(
  { error, extensions }: Readonly<Record<string, unknown>>,
  origin: string,
): SignInChallenge | undefined {
  if (!String(error).startsWith("already_settled:")) return undefined;
  const challenge = (extensions as { "sign-in-with-x"?: SignInChallenge } | undefined)?.["sign-in-with-x"];
  const { host } = new URL(origin);
  const isOwn =
    challenge?.info.domain === host &&
    new URL(challenge.info.uri).host === host &&
    challenge.info.resources.every((resource) => resource.startsWith("urn:x402:"));
  return isOwn ? challenge : undefined;
}

/** What the account at this address signs. */
export function signInText({ info, supportedChains }: SignInChallenge, address: string): string {
  const [namespace, reference] = String(supportedChains[0]?.chainId).split(":");
  return [
    `${info.domain} wants you to sign in with your ${namespace === "eip155" ? "Ethereum" : "Hedera"} account:`,
    `${address}\n`,
    `${info.statement}\n`,
    `URI: ${info.uri}`,
    `Version: ${info.version}`,
    `Chain ID: ${reference}`,
    `Nonce: ${info.nonce}`,
    `Issued At: ${info.issuedAt}`,
    `Expiration Time: ${info.expirationTime}`,
    "Resources:",
    ...info.resources.map((resource) => `- ${resource}`),
  ].join("\n");
}

/** The value of the SIGN-IN-WITH-X header. */
export function signInHeader({ info, supportedChains }: SignInChallenge, address: string, signature: string): string {
  return encodeHeader({ ...info, ...supportedChains[0], address, signature });
}

/** Has the wallet that paid sign, if it is one of these: the header's value. */
export async function showWallet(
  challenge: SignInChallenge,
  { network, payer }: Pick<SignedPayment, "network" | "payer">,
  { evm, hedera }: Wallets,
): Promise<string | undefined> {
  const message = signInText(challenge, payer);
  if (network.startsWith("eip155:")) {
    if (evm?.address.toLowerCase() !== payer.toLowerCase() || !evm.signMessage) return undefined;
    return signInHeader(challenge, payer, await evm.signMessage({ message }));
  }
  if (hedera?.accountId !== payer) return undefined;
  return signInHeader(challenge, payer, toHex(await hedera.key.sign(new TextEncoder().encode(message))));
}
