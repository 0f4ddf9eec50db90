import { getAddress } from "viem/utils";
import { objectAt, textAt } from "../../../shared/json.ts";
import { configured, judge, type PaymentRequest, type Refusal, type Rule, refuse } from "../scheme.ts";
import type { EvmConfig } from "./config.ts";
import { type Authorization, authorizationDigest, recoverSigner } from "./eip3009.ts";
import { type Hex, isAddress } from "./hex.ts";
import { type EvmPayment, expiryOf, paymentKeyOf } from "./payload.ts";

/**
 * The rules of scheme_exact_evm (EIP-3009) that need neither clock nor chain, in the order of the reference
 * implementation, whose reason codes they answer with. Then the payment they leave.
 */
export function decodePayment(request: PaymentRequest, config: EvmConfig): EvmPayment | Refusal {
  const draft = { request, config, extra: request.requirements.extra ?? {} };
  const first = judge(requirementsRules, draft);
  if (first.refusal) return first.refusal;
  const signed = readAuthorization(request);
  if ("refused" in signed) return first.barred ?? signed;
  const { from: payer } = signed.authorization;
  const { refusal, barred } = judge(authorizationRules, { ...draft, ...signed });
  if (refusal) return first.barred ?? { ...refusal, payer };
  const payment = asPayment(request, config, signed);
  const told = first.barred ?? (barred && { ...barred, payer });
  return told ? { ...told, payment } : payment;
}

/** The rules that need the clock. Six seconds are for the transaction to be mined. */
export function checkWindow({ authorization }: EvmPayment, now: Date): Refusal | undefined {
  const nowSeconds = BigInt(Math.floor(now.getTime() / 1_000));
  if (authorization.validBefore < nowSeconds + 6n) {
    const message = `The authorization expires at ${authorization.validBefore}; it is ${nowSeconds} now.`;
    return { ...refuse("invalid_exact_evm_payload_authorization_valid_before", message), late: true };
  }
  if (authorization.validAfter > nowSeconds) {
    return refuse(
      "invalid_exact_evm_payload_authorization_valid_after",
      `The authorization begins at ${authorization.validAfter}; it is ${nowSeconds} now.`,
    );
  }
  return undefined;
}

interface Draft {
  readonly request: PaymentRequest;
  readonly config: EvmConfig;
  readonly extra: Readonly<Record<string, unknown>>;
}

interface SignedAuthorization {
  readonly authorization: Authorization;
  readonly signature: Buffer;
}

/** E0. Other transfer methods are refused, never taken for EIP-3009. */
const methodIsEip3009: Rule<Draft> = ({ request, extra }) => {
  const method = extra.assetTransferMethod ?? "eip3009";
  if (method === "eip3009" && request.payload.permit2Authorization === undefined) return undefined;
  return refuse(
    "unsupported_payload_type",
    "Only EIP-3009 authorizations are supported (assetTransferMethod eip3009).",
  );
};

/** E1 */
const acceptedSchemeIsExact: Rule<Draft> = ({ request }) => {
  const { scheme } = request.accepted;
  if (request.version === 1 && scheme === undefined) return undefined;
  return scheme === "exact" ? undefined : refuse("invalid_exact_evm_scheme", "The payment's scheme is not exact.");
};

/** E2 */
const domainIsGiven: Rule<Draft> = ({ extra }) =>
  isText(extra.name) && isText(extra.version)
    ? undefined
    : refuse(
        "invalid_exact_evm_missing_eip712_domain",
        "paymentRequirements.extra needs the token's EIP-712 name and version.",
      );

/** E3 */
const networksAgree: Rule<Draft> = ({ request }) => {
  const { network } = request.accepted;
  if (request.version === 1 && network === undefined) return undefined;
  return network === request.network
    ? undefined
    : refuse(
        "invalid_exact_evm_network_mismatch",
        `The payment is for ${network}, the requirements for ${request.network}.`,
      );
};

/** X1: the payer accepted what the resource server asks for. */
const acceptedIsRequired: Rule<Draft> = ({ request: { version, accepted, requirements }, extra }) => {
  if (version === 1) return undefined;
  const acceptedExtra = accepted.extra ?? {};
  const differing = [
    sameAddress(accepted.asset, requirements.asset) ? undefined : "asset",
    accepted.amount === requirements.amount ? undefined : "amount",
    sameAddress(accepted.payTo, requirements.payTo) ? undefined : "payTo",
    accepted.maxTimeoutSeconds === requirements.maxTimeoutSeconds ? undefined : "maxTimeoutSeconds",
    acceptedExtra.name === extra.name ? undefined : "extra.name",
    acceptedExtra.version === extra.version ? undefined : "extra.version",
    (acceptedExtra.assetTransferMethod ?? "eip3009") === "eip3009" ? undefined : "extra.assetTransferMethod",
  ].filter((name) => name !== undefined);
  if (differing.length === 0) return undefined;
  return refuse(
    "accepted_payment_requirements_mismatch",
    `accepted differs from paymentRequirements in ${differing.join(", ")}.`,
  );
};

/** X7 */
const amountIsExact: Rule<Draft> = ({ request: { requirements } }) => {
  const amount = uint256(requirements.amount);
  if (amount !== undefined && amount > 0n) return undefined;
  return refuse(
    "invalid_amount",
    "The amount must be a positive whole number of base units in decimal, without leading zeros.",
  );
};

const amountIsWorthItsFee = configured<Draft>(({ request: { requirements }, config }) => {
  if (BigInt(requirements.amount) >= config.amountMin) return undefined;
  return refuse(
    "amount_below_minimum",
    `The smallest amount settled on ${config.network} is ${config.amountMin} base units.`,
  );
});

const addressesAreAddresses: Rule<Draft> = ({ request: { requirements } }) => {
  if (!isAddress(requirements.asset)) return refuse("invalid_asset", "paymentRequirements.asset is not an address.");
  if (!isAddress(requirements.payTo)) {
    return refuse("invalid_payment_requirements", "paymentRequirements.payTo is not an address.");
  }
  return undefined;
};

const requirementsRules: ReadonlyArray<Rule<Draft>> = [
  methodIsEip3009,
  acceptedSchemeIsExact,
  domainIsGiven,
  networksAgree,
  addressesAreAddresses,
  amountIsExact,
  amountIsWorthItsFee,
  acceptedIsRequired,
];

/** E6 */
const recipientIsPayTo: Rule<Draft & SignedAuthorization> = ({ authorization, request }) =>
  sameAddress(authorization.to, request.requirements.payTo)
    ? undefined
    : refuse("invalid_exact_evm_recipient_mismatch", "The authorization pays another address than payTo.");

/** E9 */
const valueIsAmount: Rule<Draft & SignedAuthorization> = ({ authorization, request }) => {
  if (authorization.value.toString() === request.requirements.amount) return undefined;
  const code =
    request.version === 1
      ? "invalid_exact_evm_authorization_value"
      : "invalid_exact_evm_payload_authorization_value_mismatch";
  return refuse(code, `The authorization is over ${authorization.value}, required is ${request.requirements.amount}.`);
};

/** D4: money sent to oneself only burns the fee payer's gas. */
const payerIsNotPayee: Rule<Draft & SignedAuthorization> = ({ authorization }) =>
  authorization.from === authorization.to
    ? refuse("pay_to_not_allowed", "Payer and payTo are the same address.")
    : undefined;

const authorizationRules: ReadonlyArray<Rule<Draft & SignedAuthorization>> = [
  recipientIsPayTo,
  valueIsAmount,
  payerIsNotPayee,
];

/** Wrong types throw 400; texts that cannot be what they should be are refused with the code of their rule. */
function readAuthorization(request: PaymentRequest): SignedAuthorization | Refusal {
  const at = "paymentPayload.payload.authorization";
  const given = objectAt(request.payload, at);
  const text = (name: string) => textAt(given, `${at}.${name}`);
  const [from, to, nonce] = [text("from"), text("to"), text("nonce")];
  const [value, validAfter, validBefore] = [text("value"), text("validAfter"), text("validBefore")].map(uint256);
  const signature = textAt(request.payload, "paymentPayload.payload.signature");
  if (!isAddress(from)) return refuse("invalid_payload", "authorization.from is not an address: 0x and 40 hex digits.");
  if (!/^0x[0-9a-fA-F]{64}$/.test(nonce))
    return refuse("invalid_payload", "authorization.nonce is not 32 bytes of hex: 0x and 64 digits.");
  const payer = getAddress(from);
  const refusal = (code: string, what: string) => ({ ...refuse(code, what), payer });
  if (!isAddress(to)) return refusal("invalid_exact_evm_recipient_mismatch", "authorization.to is not an address.");
  const notUint256 = "is not a uint256 in plain decimal.";
  if (value === undefined) {
    const code = `invalid_exact_evm_${request.version === 1 ? "authorization_value" : "payload_authorization_value_mismatch"}`;
    return refusal(code, `authorization.value ${notUint256}`);
  }
  if (validAfter === undefined) {
    return refusal("invalid_exact_evm_payload_authorization_valid_after", `authorization.validAfter ${notUint256}`);
  }
  if (validBefore === undefined) {
    return refusal("invalid_exact_evm_payload_authorization_valid_before", `authorization.validBefore ${notUint256}`);
  }
  if (!/^0x([0-9a-fA-F]{2})+$/.test(signature) || signature.length > signatureHexMax) {
    return refusal("invalid_exact_evm_signature", "payload.signature is not hex of a sensible length.");
  }
  return {
    authorization: {
      from: payer,
      to: getAddress(to),
      value,
      validAfter,
      validBefore,
      nonce: nonce.toLowerCase() as Hex,
    },
    signature: Buffer.from(signature.slice(2), "hex"),
  };
}

/** Enough for a contract wallet of many owners; the calldata is paid by us. */
const signatureHexMax = 2 + 2 * 4_096;

function asPayment(
  { requirements }: PaymentRequest,
  config: EvmConfig,
  { authorization, signature }: SignedAuthorization,
): EvmPayment {
  const asset = getAddress(requirements.asset);
  const domain = { name: String(requirements.extra?.name), version: String(requirements.extra?.version) };
  const messageDigest = authorizationDigest(
    { ...domain, chainId: config.chainId, verifyingContract: asset },
    authorization,
  );
  return {
    key: paymentKeyOf(asset, authorization),
    payer: authorization.from,
    payTo: authorization.to,
    asset,
    amount: authorization.value,
    expiresAt: expiryOf(authorization.validBefore),
    authorization,
    signature,
    messageDigest,
    domain,
    signedByKey: recoverSigner(messageDigest, signature) === authorization.from.toLowerCase(),
  };
}

function uint256(text: string): bigint | undefined {
  if (!/^(0|[1-9]\d{0,77})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < 2n ** 256n ? value : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "" && value.length <= 256;

function sameAddress(one: unknown, other: unknown): boolean {
  return typeof one === "string" && typeof other === "string" && one.toLowerCase() === other.toLowerCase();
}
