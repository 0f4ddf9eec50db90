import type { Transaction } from "@hashgraph/sdk";
import type { Ground } from "./ground.ts";
import { hbar } from "./receiver.ts";

type Sdk = typeof import("@hashgraph/sdk");

/** Moves an amount out of the creator's allowance (HIP-336) to the operator, straight to the receiver. */
export function spend({ wallet }: Ground, asset: string, to: string, amount: bigint): (sdk: Sdk) => Transaction {
  return (sdk) => {
    const { AccountId, Hbar, HbarUnit, Long, TokenId, TransferTransaction } = sdk;
    const [from, receiver] = [AccountId.fromString(wallet), AccountId.fromString(to)];
    const units = Long.fromString(amount.toString());
    const transaction = new TransferTransaction();
    return asset === hbar
      ? transaction
          .addApprovedHbarTransfer(from, Hbar.from(units.negate(), HbarUnit.Tinybar))
          .addHbarTransfer(receiver, Hbar.from(units, HbarUnit.Tinybar))
      : transaction
          .addApprovedTokenTransfer(TokenId.fromString(asset), from, units.negate())
          .addTokenTransfer(TokenId.fromString(asset), receiver, units);
  };
}

/** What is missing for the creator's wallet to give `amount` of an asset through the operator. */
export async function allowanceProblems(
  { hedera, operator, wallet }: Ground,
  asset: string,
  amount: bigint,
): Promise<string[]> {
  const { mirror } = hedera;
  if (asset !== hbar) {
    const token = await mirror.token(asset);
    if (!token || token.deleted) return [`"settings.asset": there is no token ${asset}.`];
    if (token.type !== "FUNGIBLE_COMMON") return [`"settings.asset": ${asset} is a collection of NFTs.`];
    if (token.pause_status === "PAUSED") return [`"settings.asset": ${asset} is paused.`];
    const { fixed_fees: fixed = [], fractional_fees: fractional = [] } = token.custom_fees;
    if (fixed.length + fractional.length > 0) return [`"settings.asset": ${asset} has custom fees.`];
  }
  const allowance = await mirror.allowance(wallet, operator.accountId, asset === hbar ? undefined : asset);
  if (allowance >= amount) return [];
  return [
    `The wallet ${wallet} allows the marketplace's account ${operator.accountId} ${allowance} base units of ` +
      `${asset}; ${amount} are needed. Approve an allowance (HIP-336) first.`,
  ];
}
