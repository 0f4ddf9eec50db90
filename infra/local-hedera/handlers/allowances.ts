import { ensure } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account, Allowance, Nft, Token } from "../state/entities.ts";
import type { Journal } from "../state/journal.ts";
import { allowanceKey } from "../state/state.ts";

/** The spender of an approved transfer is always the payer of the transaction. */
export function spendHbarAllowance({ journal, transaction }: Handling, owner: Account, amount: bigint): void {
  spend(journal, owner.hbarAllowances, transaction.payer, amount);
}

export function spendTokenAllowance(handling: Handling, owner: Account, token: Token, amount: bigint): void {
  spend(handling.journal, owner.tokenAllowances, allowanceKey(token.number, handling.transaction.payer), amount);
}

export function spendNftAllowance({ transaction }: Handling, owner: Account, token: Token, nft: Nft): void {
  const isOperator = owner.nftOperators.has(allowanceKey(token.number, transaction.payer));
  ensure(isOperator || nft.spender === transaction.payer, "SPENDER_DOES_NOT_HAVE_ALLOWANCE");
}

const spend = <K>(journal: Journal, allowances: Map<K, Allowance>, key: K, amount: bigint): void => {
  const allowance = allowances.get(key);
  ensure(allowance !== undefined, "SPENDER_DOES_NOT_HAVE_ALLOWANCE");
  ensure(allowance.left >= amount, "AMOUNT_EXCEEDS_ALLOWANCE");
  if (allowance.left === amount) journal.remove(allowances, key);
  else journal.put(allowances, key, { ...allowance, left: allowance.left - amount });
};
