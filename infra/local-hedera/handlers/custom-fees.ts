import { accountId } from "../hapi/ids.ts";
import { ensure } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account, CustomFee, Token } from "../state/entities.ts";
import { changeTokenBalance } from "./relations.ts";
import type { Leg, TokenList } from "./transfer.ts";

/**
 * The fees a token's own schedule adds to one transfer of it. A fractional fee that is not net of transfers is taken
 * out of what the receivers get, so their legs shrink here: the transfer succeeds and the payee is short.
 */
export function assessCustomFees({ token, legs, nfts }: TokenList): FeePayment[] {
  if (token.customFees.length === 0) return [];
  const senders: Leg[] = legs.filter(({ amount }) => amount < 0n);
  const payers = new Set([...senders.map(({ account }) => account), ...nfts.map(({ from }) => from)]);
  return token.customFees.flatMap((fee) => {
    if (fee.kind === "fixed") {
      return [...payers]
        .filter((payer) => !isExempt(token, fee, payer))
        .map((payer) => ({
          token: fee.denomination,
          amount: fee.amount,
          collector: fee.collector,
          payer,
          taken: false,
        }));
    }
    return senders
      .filter(({ account }) => !isExempt(token, fee, account))
      .map(({ account, amount }) => fractionalFee(token, fee, account, -amount, legs));
  });
}

/** Moves one assessed fee to its collector. */
export function payCustomFee(handling: Handling, { token: number, amount, collector, payer, taken }: FeePayment): void {
  if (amount === 0n) return;
  const tooLittle = "INSUFFICIENT_SENDER_ACCOUNT_BALANCE_FOR_CUSTOM_FEE";
  const receiver = handling.account(accountId(collector), "INVALID_CUSTOM_FEE_COLLECTOR");
  if (number === null) {
    handling.changeHbar(payer, -amount, tooLittle);
    handling.changeHbar(receiver, amount);
  } else {
    const token = handling.token(number);
    for (const [account, change] of [
      [payer, -amount],
      [receiver, amount],
    ] as const) {
      if (taken && account === payer) continue;
      changeTokenBalance(handling, token, account, change, tooLittle);
      handling.noteTokenMove({ token: number, account: account.number, amount: change, approved: false });
    }
  }
  handling.outcome.assessedFees ??= [];
  handling.outcome.assessedFees.push({ token: number, amount, collector, payers: [payer.number] });
}

const isExempt = (token: Token, fee: CustomFee, { number }: Account): boolean =>
  number === token.treasury ||
  number === fee.collector ||
  (fee.allCollectorsAreExempt && token.customFees.some(({ collector }) => collector === number));

const fractionalFee = (token: Token, fee: FractionalFee, payer: Account, sent: bigint, legs: Leg[]): FeePayment => {
  const amount = within(fee, (sent * fee.numerator) / fee.denominator);
  if (!fee.netOfTransfers) takeFromReceivers(legs, amount);
  return { token: token.number, amount, collector: fee.collector, payer, taken: !fee.netOfTransfers };
};

const within = ({ minimum, maximum }: FractionalFee, share: bigint): bigint => {
  if (share < minimum) return minimum;
  return maximum > 0n && share > maximum ? maximum : share;
};

/** Proportionally, what rounding leaves coming out of the last. */
const takeFromReceivers = (legs: Leg[], amount: bigint): void => {
  const receivers = legs.filter((leg) => leg.amount > 0n);
  const received = receivers.reduce((sum, leg) => sum + leg.amount, 0n);
  ensure(received >= amount, "INSUFFICIENT_SENDER_ACCOUNT_BALANCE_FOR_CUSTOM_FEE");
  let left = amount;
  for (const [index, leg] of receivers.entries()) {
    const part = index === receivers.length - 1 ? left : (amount * leg.amount) / received;
    leg.amount -= part;
    left -= part;
  }
};

type FractionalFee = Extract<CustomFee, { kind: "fractional" }>;

/** `taken`: already out of the receivers' legs, so only the collector's side is left to move. */
type FeePayment = { token: number | null; amount: bigint; collector: number; payer: Account; taken: boolean };
