import type { Transaction } from "@hashgraph/sdk";
import type { Problem } from "../../parse.ts";
import type { ChainPool } from "../reservations.ts";
import { unitsOf } from "./mirror.ts";
import type { Preconditions } from "./preconditions.ts";
import { hbar } from "./receiver.ts";

type Sdk = typeof import("@hashgraph/sdk");

/** Moves an amount out of the creator's allowance (HIP-336) to the operator, straight to the receiver. */
export function spend({ wallet }: Preconditions, asset: string, to: string, amount: bigint): (sdk: Sdk) => Transaction {
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
  preconditions: Preconditions,
  asset: string,
  amount: bigint,
): Promise<readonly Problem[]> {
  const problems = await assetProblems(preconditions, asset);
  if (problems.length > 0) return problems;
  const { hedera, operator, wallet } = preconditions;
  const allowance = await hedera.mirror.allowance(wallet, operator.accountId, tokenOf(asset));
  if (allowance >= amount) return [];
  const message =
    `is not allowed yet: the wallet ${wallet} allows the marketplace's account ${operator.accountId} ${allowance} base units of ` +
    `${asset}; ${amount} are needed. Approve an allowance (HIP-336) first`;
  return [{ path: ["asset"], message }];
}

/** Why the asset cannot be sent by any wallet. */
export async function assetProblems({ hedera, wallet }: Preconditions, asset: string): Promise<readonly Problem[]> {
  if (asset === hbar) return [];
  const [token, holding] = await Promise.all([hedera.mirror.token(asset), hedera.mirror.holding(wallet, asset)]);
  const wrong = (message: string): Problem[] => [{ path: ["asset"], message }];
  if (!token || token.deleted) return wrong(`must be hbar or a token: there is no token ${asset}`);
  if (token.type !== "FUNGIBLE_COMMON")
    return wrong(`must be hbar or a fungible token: ${asset} is a collection of NFTs`);
  if (token.pause_status === "PAUSED") return wrong(`is paused: ${asset}`);
  const { fixed_fees: fixed = [], fractional_fees: fractional = [] } = token.custom_fees;
  if (fixed.length + fractional.length > 0) return wrong(`must be a token without custom fees: ${asset} has some`);
  if (holding?.freeze_status === "FROZEN") return wrong(`is frozen for your wallet ${wallet}: ${asset}`);
  if (holding?.kyc_status === "REVOKED") return wrong(`needs a KYC grant that your wallet ${wallet} lacks: ${asset}`);
  return [];
}

/** What the creator's wallet has left to give through the operator: of its allowance, and at all. */
export async function allowancePool({ hedera, operator, wallet }: Preconditions, asset: string): Promise<ChainPool> {
  const { mirror } = hedera;
  // First how far the mirror had come, then the figures, which can only be newer.
  const measuredAt = await mirror.reached();
  const token = tokenOf(asset);
  const [allowance, balance] = await Promise.all([
    mirror.allowance(wallet, operator.accountId, token),
    token === undefined
      ? mirror.account(wallet).then((account) => account?.balance.balance)
      : mirror.holding(wallet, token).then((holding) => holding?.balance),
  ]);
  return {
    name: `allowance ${hedera.network} ${wallet} ${asset}`,
    room: smaller(allowance, unitsOf(balance ?? 0)),
    measuredAt,
  };
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

const tokenOf = (asset: string) => (asset === hbar ? undefined : asset);
