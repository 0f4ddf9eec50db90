import type { JsonObject } from "../../../shared/json.ts";

/**
 * The HBAR rows of a mirror's record without staking rewards, which the network pays to accounts that a transaction touches, in the
 * same rows (HIP-406). One row an account where there are any; else the rows as they are.
 */
export function transfersWithoutRewards({ transfers, staking_reward_transfers: rewards }: JsonObject): unknown {
  if (!Array.isArray(transfers) || !Array.isArray(rewards) || rewards.length === 0) return transfers;
  const rows = new Map<unknown, JsonObject>();
  const add = (account: unknown, amount: number, isApproval: boolean) => {
    const before = rows.get(account);
    rows.set(account, {
      account,
      amount: Number(before?.amount ?? 0) + amount,
      is_approval: before?.is_approval === true || isApproval,
    });
  };
  for (const { account, amount, is_approval } of transfers) add(account, Number(amount), is_approval === true);
  for (const { account, amount } of rewards) {
    add(account, -Number(amount), false);
    add(rewardAccount, Number(amount), false);
  }
  return [...rows.values()].filter(({ amount }) => amount !== 0);
}

const rewardAccount = "0.0.800";
