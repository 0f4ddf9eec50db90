import { autoCreationPrice } from "../fees/schedule.ts";
import { ensure, type StatusName } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account, Relation, Token } from "../state/entities.ts";

/** Moves units of a fungible token, or the count of NFTs owned, in or out of an account. */
export function changeTokenBalance(
  handling: Handling,
  token: Token,
  account: Account,
  amount: bigint,
  tooLittle: StatusName = "INSUFFICIENT_TOKEN_BALANCE",
): void {
  const relation = usableRelation(handling, token, account, amount > 0n);
  ensure(relation.balance + amount >= 0n, tooLittle);
  handling.journal.set(relation, "balance", relation.balance + amount);
}

/** The relation, neither frozen nor without KYC; made on the spot for a credit if the account has a free slot. */
const usableRelation = (handling: Handling, token: Token, account: Account, isCredit: boolean): Relation => {
  const existing = account.relations.get(token.number);
  ensure(existing !== undefined || isCredit, "TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
  const relation = existing ?? autoAssociate(handling, token, account);
  ensure(!relation.frozen, "ACCOUNT_FROZEN_FOR_TOKEN");
  ensure(relation.kycGranted || !token.keys.kyc, "ACCOUNT_KYC_NOT_GRANTED_FOR_TOKEN");
  return relation;
};

const autoAssociate = (handling: Handling, token: Token, account: Account): Relation => {
  const { autoAssociationsMax: max, autoAssociationsUsed: used } = account;
  ensure(max !== 0, "TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
  ensure(max === -1 || used < max, "NO_REMAINING_AUTOMATIC_ASSOCIATIONS");
  handling.journal.set(account, "autoAssociationsUsed", used + 1);
  handling.outcome.autoAssociations ??= [];
  handling.outcome.autoAssociations.push([token.number, account.number]);
  handling.chargeExtra(autoCreationPrice);
  return addRelation(handling, token, account, { automatic: true });
};

export function addRelation(
  handling: Pick<Handling, "journal" | "consensusAt">,
  token: Token,
  account: Account,
  fields: Partial<Relation> = {},
): Relation {
  const relation: Relation = {
    token: token.number,
    balance: 0n,
    frozen: token.freezeDefault,
    kycGranted: !token.keys.kyc,
    automatic: false,
    createdAt: handling.consensusAt,
    ...fields,
  };
  handling.journal.put(account.relations, token.number, relation);
  return relation;
}
