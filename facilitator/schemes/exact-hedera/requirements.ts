import { configured, type PaymentRequest, type Rule, refuse } from "../scheme.ts";
import type { HederaConfig } from "./config.ts";

/** The request, before the transaction is looked at. */
export interface RequirementsDraft {
  readonly request: PaymentRequest;
  readonly config: HederaConfig;
  readonly extra: Readonly<Record<string, unknown>>;
}

export function invalid(reason: string, message: string) {
  return refuse(`invalid_exact_hedera_payload_${reason}`, message);
}

export function isFeePayer(config: HederaConfig, account: unknown): boolean {
  return config.feePayers.some(({ accountId }) => accountId === account);
}

/** Another transfer method is refused, never taken for a plain transfer. */
const methodIsCryptoTransfer: Rule<RequirementsDraft> = ({ request, extra }) => {
  const methods = [extra.assetTransferMethod, request.accepted.extra?.assetTransferMethod];
  if (methods.every((method) => method === undefined || method === null || method === "cryptoTransfer")) return;
  return refuse(
    "invalid_exact_hedera_unsupported_asset_transfer_method",
    "The only asset transfer method supported is cryptoTransfer.",
  );
};

/** H1 */
const schemeIsExact: Rule<RequirementsDraft> = ({ request: { version, accepted, requirements } }) => {
  const agreed = version === 1 && accepted.scheme === undefined ? "exact" : accepted.scheme;
  if (agreed === "exact" && requirements.scheme === "exact") return;
  return refuse("unsupported_scheme", "The scheme of payment and requirements must be exact.");
};

/** H2 */
const networksAgree: Rule<RequirementsDraft> = ({ request: { version, accepted, network }, config }) => {
  const agreed = version === 1 && accepted.network === undefined ? network : accepted.network;
  if (agreed === network && network === config.network) return;
  return refuse("network_mismatch", `The payment is for ${agreed}, the requirements for ${network}.`);
};

/** H3: the payer accepted what the resource server asks for. v1 payments say only part of it. */
const acceptedIsRequired: Rule<RequirementsDraft> = ({ request: { version, accepted, requirements }, extra }) => {
  const differs = (given: unknown, required: unknown) => given !== required && (version === 2 || given !== undefined);
  const differing = [
    differs(accepted.asset, requirements.asset) ? ["asset"] : [],
    differs(accepted.amount, requirements.amount) ? ["amount"] : [],
    differs(accepted.payTo, requirements.payTo) ? ["payTo"] : [],
    differs(accepted.maxTimeoutSeconds, requirements.maxTimeoutSeconds) ? ["maxTimeoutSeconds"] : [],
    differs(accepted.extra?.feePayer, extra.feePayer) ? ["extra.feePayer"] : [],
  ].flat();
  if (differing.length === 0) return;
  return refuse(
    "accepted_payment_requirements_mismatch",
    `accepted differs from paymentRequirements in ${differing.join(", ")}.`,
  );
};

/** H4 */
const assetIsAllowed = configured<RequirementsDraft>(({ request: { requirements }, config }) => {
  if (config.assets.includes(requirements.asset)) return;
  return refuse("invalid_asset", `The assets settled on ${config.network} are ${config.assets.join(", ")}.`);
});

/** H5 */
const payToIsAnAccount: Rule<RequirementsDraft> = ({ request: { requirements } }) => {
  if (plainId.test(requirements.payTo) || alias.test(requirements.payTo)) return;
  return invalid("pay_to", "payTo must be an account on Hedera of the form 0.0.n.");
};

/** H21, before anything is decoded: paying to an alias may create an account at the fee payer's cost. */
const payToIsNoAlias: Rule<RequirementsDraft> = ({ request: { requirements } }) => {
  if (plainId.test(requirements.payTo)) return;
  return invalid("pay_to_alias_not_allowed", "payTo must be an account on Hedera of the form 0.0.n, not an alias.");
};

/** H6, G20 */
const amountIsPositive: Rule<RequirementsDraft> = ({ request: { requirements } }) => {
  if (/^[1-9]\d{0,18}$/.test(requirements.amount) && BigInt(requirements.amount) < 2n ** 63n) return;
  return refuse("invalid_amount", "The amount must be a positive whole number of base units without leading zeros.");
};

const amountIsWorthItsFee = configured<RequirementsDraft>(({ request: { requirements }, config }) => {
  if (BigInt(requirements.amount) >= config.amountMin) return;
  return refuse(
    "amount_below_minimum",
    `The smallest amount settled on ${config.network} is ${config.amountMin} base units.`,
  );
});

/** H7 */
const feePayerIsNamed: Rule<RequirementsDraft> = ({ extra }) => {
  if (typeof extra.feePayer === "string" && extra.feePayer !== "") return;
  return invalid("missing_fee_payer", "paymentRequirements.extra.feePayer is required.");
};

/** H8 */
const feePayerIsOurs = configured<RequirementsDraft>(({ extra, config }) => {
  if (isFeePayer(config, extra.feePayer)) return;
  const ours = config.feePayers.map(({ accountId }) => accountId).join(", ");
  return refuse("fee_payer_not_managed_by_facilitator", `The fee payers on ${config.network} are ${ours}.`);
});

const plainId = /^0\.0\.[1-9]\d{0,18}$/;
const alias = /^(0\.0\.|0x)?([0-9a-fA-F]{40}|[0-9a-fA-F]{64,96})$/;

/** The rules about the terms of a payment, in the order of scheme_exact_hedera (H1–H8; H21 beside H5). */
export const requirementsRules: ReadonlyArray<Rule<RequirementsDraft>> = [
  methodIsCryptoTransfer,
  schemeIsExact,
  networksAgree,
  acceptedIsRequired,
  assetIsAllowed,
  payToIsAnAccount,
  payToIsNoAlias,
  amountIsPositive,
  amountIsWorthItsFee,
  feePayerIsNamed,
  feePayerIsOurs,
];
