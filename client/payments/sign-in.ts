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
 * The challenge in an answer that says that a payment was used already, or that what was signed for it does not hold; undefined where there
 * is none, or none of the service at `origin` for a payment, in lines of plain text: any other text could mean something else elsewhere.
 */
export function challengeIn(
  { error, extensions }: Readonly<Record<string, unknown>>,
  origin: string,
): SignInChallenge | undefined {
  if (!/^(already_settled|invalid_wallet_proof):/.test(String(error))) return undefined;
  const challenge = (extensions as { "sign-in-with-x"?: SignInChallenge } | undefined)?.["sign-in-with-x"];
  try {
    return challenge && isFor(challenge, new URL(origin).host) ? challenge : undefined;
  } catch {
    return undefined;
  }
}

function isFor({ info, supportedChains }: SignInChallenge, host: string): boolean {
  const { resources, ...lines } = info;
  const said = [...Object.values(lines), ...resources, supportedChains[0]?.chainId];
  return (
    lines.domain === host &&
    new URL(lines.uri).host === host &&
    resources.every((resource) => resource.startsWith("urn:x402:")) &&
    said.every((line) => typeof line === "string" && /^[ -~]*$/.test(line))
  );
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

/** Has the wallet that paid sign, if it is one of these: the header's value. Throws what the wallet does. */
export async function showWallet(
  challenge: SignInChallenge,
  { network, payer }: Pick<SignedPayment, "network" | "payer">,
  { evm, hedera }: Wallets,
): Promise<string | undefined> {
  if (challenge.supportedChains[0]?.chainId !== network) return undefined;
  const message = signInText(challenge, payer);
  if (network.startsWith("eip155:")) {
    if (evm?.address.toLowerCase() !== payer.toLowerCase() || !evm.signMessage) return undefined;
    return signInHeader(challenge, payer, await evm.signMessage({ message }));
  }
  if (hedera?.accountId !== payer) return undefined;
  return signInHeader(challenge, payer, toHex(await hedera.key.sign(framed(message))));
}

/** As `hedera_signMessage` frames a text (HIP-820): a transaction is signed without a frame, so what is in one is none. */
function framed(message: string): Uint8Array {
  return new TextEncoder().encode(`\x19Hedera Signed Message:\n${message.length}${message}`);
}
