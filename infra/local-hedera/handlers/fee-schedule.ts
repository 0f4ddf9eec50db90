import type { proto } from "@hiero-ledger/proto";
import { accountId, toBigint, toInt64, tokenId, tokenNumber } from "../hapi/ids.ts";
import { ensure } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account, CustomFee } from "../state/entities.ts";

/** Reads a fee schedule; throws the status a node gives for what is wrong with it. */
export function customFeesFromProto(handling: Handling, fees: proto.ICustomFee[], self: Self): CustomFee[] {
  ensure(fees.length <= customFeesMax, "CUSTOM_FEES_LIST_TOO_LONG");
  return fees.map(({ feeCollectorAccountId, allCollectorsAreExempt, fixedFee, fractionalFee: fraction }) => {
    const collector = handling.account(feeCollectorAccountId, "INVALID_CUSTOM_FEE_COLLECTOR");
    const shared = { collector: collector.number, allCollectorsAreExempt: allCollectorsAreExempt ?? false };
    if (fixedFee) {
      const amount = toBigint(fixedFee.amount);
      ensure(amount > 0n, "CUSTOM_FEE_MUST_BE_POSITIVE");
      return { kind: "fixed", amount, denomination: denominationOf(handling, fixedFee, collector, self), ...shared };
    }
    ensure(!!fraction?.fractionalAmount, "CUSTOM_FEE_NOT_FULLY_SPECIFIED");
    ensure(!self.unique, "CUSTOM_FRACTIONAL_FEE_ONLY_ALLOWED_FOR_FUNGIBLE_COMMON");
    const numerator = toBigint(fraction.fractionalAmount.numerator);
    const denominator = toBigint(fraction.fractionalAmount.denominator);
    ensure(denominator !== 0n, "FRACTION_DIVIDES_BY_ZERO");
    ensure(numerator > 0n && denominator > 0n, "CUSTOM_FEE_MUST_BE_POSITIVE");
    const [minimum, maximum] = [toBigint(fraction.minimumAmount), toBigint(fraction.maximumAmount)];
    ensure(maximum === 0n || maximum >= minimum, "FRACTIONAL_FEE_MAX_AMOUNT_LESS_THAN_MIN_AMOUNT");
    const netOfTransfers = fraction.netOfTransfers ?? false;
    return { kind: "fractional", numerator, denominator, minimum, maximum, netOfTransfers, ...shared };
  });
}

export function customFeeToProto(fee: CustomFee): proto.ICustomFee {
  return {
    feeCollectorAccountId: accountId(fee.collector),
    allCollectorsAreExempt: fee.allCollectorsAreExempt,
    ...(fee.kind === "fixed"
      ? {
          fixedFee: {
            amount: toInt64(fee.amount),
            denominatingTokenId: fee.denomination === null ? null : tokenId(fee.denomination),
          },
        }
      : {
          fractionalFee: {
            fractionalAmount: { numerator: toInt64(fee.numerator), denominator: toInt64(fee.denominator) },
            minimumAmount: toInt64(fee.minimum),
            maximumAmount: toInt64(fee.maximum),
            netOfTransfers: fee.netOfTransfers,
          },
        }),
  };
}

/** `0.0.0` in a token being created means the token itself. */
const denominationOf = (handling: Handling, fee: proto.IFixedFee, collector: Account, self: Self): number | null => {
  if (!fee.denominatingTokenId) return null;
  const denomination = tokenNumber(fee.denominatingTokenId) ?? self.number;
  if (denomination === self.number) {
    ensure(!self.unique, "CUSTOM_FEE_DENOMINATION_MUST_BE_FUNGIBLE_COMMON");
    return denomination;
  }
  const token = handling.state.tokens.get(denomination);
  ensure(token !== undefined, "INVALID_TOKEN_ID_IN_CUSTOM_FEES");
  ensure(!token.unique, "CUSTOM_FEE_DENOMINATION_MUST_BE_FUNGIBLE_COMMON");
  ensure(collector.relations.has(denomination), "TOKEN_NOT_ASSOCIATED_TO_FEE_COLLECTOR");
  return denomination;
};

const customFeesMax = 10;

type Self = { number: number; unique: boolean };
