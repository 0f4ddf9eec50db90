import { randomBytes } from "node:crypto";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { type Chains, requireProof } from "../accounts/wallet-proof.ts";
import type { AccountId } from "../ids.ts";

/*
 * The `sign-in-with-x` extension of x402 version 2 (CAIP-122; its text is EIP-4361's), by which the presenter of a payment
 * shows the wallet that made it. What is signed names the payment and the input of the call, so that it is good for
 * nothing else. Hedera, which the extension does not know, is added: the same text, signed as wallets are proved here.
 */

export const signInHeader = "SIGN-IN-WITH-X";
export const signInExtension = "sign-in-with-x";

/** How a presenter whose answer carries the challenge shows the wallet. */
export const howToShowWallet =
  "sign what `extensions.sign-in-with-x` says with the wallet that paid, and post it in the SIGN-IN-WITH-X header (to a tool, in " +
  '`_meta["x402/sign-in-with-x"]`) beside the same payment.';

/** What a wallet is asked to sign for. */
export interface SignInRequest {
  /** Full address of the route. */
  readonly url: string;
  /** CAIP-2. */
  readonly network: string;
  readonly paymentKey: string;
  /** SHA-256 of the body that is posted. */
  readonly bodyDigest: Buffer;
  /** The account that the call is for, if any. */
  readonly accountId?: AccountId | undefined;
}

/** The extension as a 402 declares it: `info` with one of `supportedChains` is what is to be signed, once and soon. */
export function signInChallenge(asked: SignInRequest): object {
  const now = Date.now();
  const { network } = asked;
  const info = {
    domain: new URL(asked.url).host,
    uri: asked.url,
    version: "1",
    statement,
    nonce: randomBytes(16).toString("hex"),
    issuedAt: new Date(now).toISOString(),
    expirationTime: new Date(now + goodForMs).toISOString(),
    resources: resourcesOf(asked),
  };
  return { info, supportedChains: [{ chainId: network, type: typeOn(network) }], schema };
}

/**
 * Takes `shown` (the header's text, or what it decodes to) as showing that `payer` itself presents the payment, once. A sentence when
 * it shows nothing. Throws ApiError 503 when a contract wallet or a Hedera account would have to be asked and does not answer.
 */
export async function refusalOfSignIn(
  { db, tools }: { readonly db: Database; readonly tools: Chains },
  shown: unknown,
  asked: SignInRequest,
  payer: string,
): Promise<string | undefined> {
  const parsed = signInShape.safeParse(typeof shown === "string" ? decode(shown) : shown);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${signInHeader}: ${issue?.path.join(".") || "it"} ${issue?.message ?? "cannot be read"}`;
  }
  const signed = parsed.data;
  const wrong = problemOf(signed, asked, payer);
  if (wrong) return `${signInHeader}: ${wrong}`;
  const { network } = asked;
  try {
    await requireProof(tools, { network, address: payer }, textOf(signed), signed.signature);
  } catch (error) {
    if (error instanceof ApiError && error.code === "invalid_value") return `${signInHeader}: ${error.message}`;
    throw error;
  }
  const { rowCount } = await db.query({
    name: "show wallet",
    text: `insert into wallets_shown (network, address, nonce, expires_at) values ($1, $2, $3, $4) on conflict do nothing`,
    values: [network, payer.toLowerCase(), signed.nonce, new Date(Date.parse(signed.issuedAt) + 2 * goodForMs)],
  });
  return rowCount === 1 ? undefined : `${signInHeader}: this nonce was used before; sign the one of this answer.`;
}

function problemOf(signed: SignedIn, asked: SignInRequest, payer: string): string | undefined {
  const isEvm = asked.network.startsWith("eip155:");
  const same = isEvm ? signed.address.toLowerCase() === payer.toLowerCase() : signed.address === payer;
  const now = Date.now();
  const issuedAt = Date.parse(signed.issuedAt);
  const ends = Date.parse(signed.expirationTime ?? signed.issuedAt);
  const lacking = resourcesOf(asked).find((resource) => !signed.resources.includes(resource));
  if (signed.domain !== new URL(asked.url).host) return "domain is not this service's.";
  if (signed.uri !== asked.url) return `uri must be ${asked.url}.`;
  if (signed.chainId !== asked.network) return `chainId must be the payment's, ${asked.network}.`;
  if (signed.type !== typeOn(asked.network)) return `type must be ${typeOn(asked.network)}.`;
  if (!same) return "address is not the payer's.";
  if (lacking) return `resources must name ${lacking}.`;
  if (!(issuedAt > now - goodForMs && issuedAt < now + clockSkewMs)) return "issuedAt is not of these minutes.";
  if (signed.expirationTime !== undefined && !(ends > now && ends <= issuedAt + goodForMs)) {
    return `expirationTime must be to come, and within ${goodForMs / 60_000} minutes of issuedAt.`;
  }
  if (signed.notBefore !== undefined && !(Date.parse(signed.notBefore) <= now)) return "notBefore is still to come.";
  return undefined;
}

function resourcesOf({ network, paymentKey, bodyDigest, accountId }: SignInRequest): readonly string[] {
  return [
    `urn:x402:payment:${network}:${paymentKey}`,
    `urn:x402:input:sha256:${bodyDigest.toString("hex")}`,
    ...(accountId === undefined ? [] : [`urn:x402:account:${accountId}`]),
  ];
}

/** The text of EIP-4361. */
function textOf(signed: SignedIn): string {
  const [namespace, reference] = signed.chainId.split(":");
  const optional = (label: string, value: string | undefined) => (value === undefined ? [] : [`${label}: ${value}`]);
  return [
    `${signed.domain} wants you to sign in with your ${namespace === "eip155" ? "Ethereum" : "Hedera"} account:`,
    signed.address,
    "",
    ...(signed.statement === undefined ? [] : [signed.statement]),
    "",
    `URI: ${signed.uri}`,
    `Version: ${signed.version}`,
    `Chain ID: ${reference}`,
    `Nonce: ${signed.nonce}`,
    `Issued At: ${signed.issuedAt}`,
    ...optional("Expiration Time", signed.expirationTime),
    ...optional("Not Before", signed.notBefore),
    ...optional("Request ID", signed.requestId),
    "Resources:",
    ...signed.resources.map((resource) => `- ${resource}`),
  ].join("\n");
}

/** A line of the text: with line ends in it, what was signed as one thing could be shown as another. */
const line = z
  .string()
  .max(512)
  .regex(/^[\x20-\x7e]*$/, "must be one line of plain text");
const time = z
  .string()
  .max(40)
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/, "must be a time as RFC 3339 writes it");

const signInShape = z.object({
  domain: line,
  address: z.string().regex(/^(0x[0-9a-fA-F]{40}|0\.0\.\d{1,19})$/, "must be a wallet's address"),
  statement: line.optional(),
  uri: line,
  version: z.literal("1"),
  chainId: line,
  type: line,
  nonce: z.string().regex(/^[0-9A-Za-z]{8,96}$/, "must be 8 to 96 letters and digits"),
  issuedAt: time,
  expirationTime: time.optional(),
  notBefore: time.optional(),
  requestId: line.optional(),
  resources: z
    .array(
      z
        .string()
        .max(512)
        .regex(/^[\x21-\x7e]+$/, "must be a list of URIs"),
    )
    .max(8),
  signature: z.string().max(8_194),
});

type SignedIn = z.infer<typeof signInShape>;

function decode(text: string): unknown {
  if (text.length > headerLengthMax) return undefined;
  try {
    return JSON.parse(Buffer.from(text, "base64").toString("utf8"));
  } catch {
    return undefined;
  }
}

const schema = z.toJSONSchema(signInShape, { io: "input" });
const typeOn = (network: string) => (network.startsWith("eip155:") ? "eip191" : "hedera");
const statement = "Show that this payment is yours, for this call alone. Signing costs nothing and moves nothing.";
const goodForMs = 600_000;
const clockSkewMs = 60_000;
const headerLengthMax = 16_384;
