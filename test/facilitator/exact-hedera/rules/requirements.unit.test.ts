import { describe, test } from "vitest";
import { secondFeePayer } from "../payloads.ts";
import { type Case, expectRefused, hex20 } from "./cases.ts";

const extraOf = (extra: object | undefined) => ({ requirements: { extra } });

describe("requirements that break only one rule are refused with that rule's reason", () => {
  test.each<Case>([
    {
      name: "H1 the requirements' scheme",
      change: { requirements: { scheme: "upto" }, accepted: { scheme: "exact" } },
      reason: "unsupported_scheme",
    },
    { name: "H1 the accepted scheme", change: { accepted: { scheme: "upto" } }, reason: "unsupported_scheme" },
    {
      name: "H1 no accepted scheme in version 2",
      change: { accepted: { scheme: undefined } },
      reason: "unsupported_scheme",
    },
    {
      name: "H2 the accepted network",
      change: { accepted: { network: "hedera:mainnet" } },
      reason: "network_mismatch",
    },
    { name: "H3 asset", change: { accepted: { asset: "0.0.1" } }, reason: "accepted_payment_requirements_mismatch" },
    { name: "H3 amount", change: { accepted: { amount: "49999" } }, reason: "accepted_payment_requirements_mismatch" },
    { name: "H3 payTo", change: { accepted: { payTo: "0.0.889" } }, reason: "accepted_payment_requirements_mismatch" },
    {
      name: "H3 maxTimeoutSeconds",
      change: { accepted: { maxTimeoutSeconds: 60 } },
      reason: "accepted_payment_requirements_mismatch",
    },
    {
      name: "H3 feePayer",
      change: { accepted: { extra: { feePayer: secondFeePayer } } },
      reason: "accepted_payment_requirements_mismatch",
    },
    {
      name: "H3 extra absent",
      change: { accepted: { extra: undefined } },
      reason: "accepted_payment_requirements_mismatch",
    },
    {
      name: "H3 amount absent",
      change: { accepted: { amount: undefined } },
      reason: "accepted_payment_requirements_mismatch",
    },
    { name: "H4 asset not well formed", change: { requirements: { asset: "usdc" } }, reason: "invalid_asset" },
    { name: "H4 asset not allowed", change: { requirements: { asset: "0.0.429275" } }, reason: "invalid_asset" },
    { name: "H4 HBAR unless configured", change: { requirements: { asset: "0.0.0" } }, reason: "invalid_asset" },
    { name: "H5 payTo", change: { requirements: { payTo: "nobody" } }, reason: "…pay_to" },
    { name: "H5 payTo of another shard", change: { requirements: { payTo: "0.1.888" } }, reason: "…pay_to" },
    { name: "H5 payTo zero", change: { requirements: { payTo: "0.0.0" } }, reason: "…pay_to" },
    ...["0", "-1", "01", "1e3", "0x10", "1.0", "", " 1", "9223372036854775808", "10000000000000000000"].map(
      (given) => ({
        name: `H6 G20 amount ${JSON.stringify(given)}`,
        change: { requirements: { amount: given } },
        reason: "invalid_amount",
      }),
    ),
    { name: "amount below the minimum", change: { requirements: { amount: "999" } }, reason: "amount_below_minimum" },
    { name: "H7 no extra", change: extraOf(undefined), reason: "…missing_fee_payer" },
    { name: "H7 no fee payer", change: extraOf({}), reason: "…missing_fee_payer" },
    { name: "H7 fee payer no text", change: extraOf({ feePayer: 9999 }), reason: "…missing_fee_payer" },
    {
      name: "H8 somebody else's fee payer",
      change: extraOf({ feePayer: "0.0.5555" }),
      reason: "fee_payer_not_managed_by_facilitator",
    },
    {
      name: "H21 payTo an EVM address",
      change: { requirements: { payTo: `0x${hex20}` } },
      reason: "…pay_to_alias_not_allowed",
    },
    {
      name: "H21 payTo a long alias",
      change: { requirements: { payTo: `0.0.${hex20}` } },
      reason: "…pay_to_alias_not_allowed",
    },
    {
      name: "an unknown transfer method",
      change: extraOf({ feePayer: "0.0.9999", assetTransferMethod: "transferExecutor" }),
      reason: "invalid_exact_hedera_unsupported_asset_transfer_method",
    },
  ])("$name: refused as $reason", expectRefused);
});
