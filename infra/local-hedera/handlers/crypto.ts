import type { proto } from "@hiero-ledger/proto";
import { keyFromProto } from "../crypto/keys.ts";
import { toBigint, toNanos } from "../hapi/ids.ts";
import { ensure } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account, Allowance } from "../state/entities.ts";
import { allowanceKey, newAccount } from "../state/state.ts";
import { evmAddressOfAlias, signerOfAlias } from "./alias.ts";

export function createAccount(handling: Handling): void {
  const body = handling.transaction.body.cryptoCreateAccount!;
  const key = keyFromProto(body.key);
  ensure(!!body.key, "KEY_REQUIRED");
  ensure(key !== undefined, "BAD_ENCODING");
  checkMemo(body.memo);
  const autoAssociationsMax = checkAutoAssociations(body.maxAutomaticTokenAssociations ?? 0);
  const alias = body.alias?.length ? Buffer.from(body.alias) : null;
  if (alias) {
    ensure(handling.state.accountByAlias(alias) === undefined, "ALIAS_ALREADY_ASSIGNED");
    handling.requireKey(signerOfAlias(alias, key, handling.signatures));
  }
  if (body.receiverSigRequired) handling.requireKey(key);
  const account = newAccount({
    number: handling.state.newNumber(handling.journal),
    createdAt: handling.consensusAt,
    key,
    memo: body.memo ?? "",
    alias,
    evmAddress: alias && evmAddressOfAlias(alias),
    receiverSignatureRequired: body.receiverSigRequired ?? false,
    autoAssociationsMax,
    ...renewal(body.autoRenewPeriod),
  });
  handling.state.addAccount(handling.journal, account);
  const initial = toBigint(body.initialBalance);
  ensure(initial >= 0n, "INVALID_INITIAL_BALANCE");
  handling.changeHbar(handling.payer, -initial, "INSUFFICIENT_PAYER_BALANCE");
  handling.changeHbar(account, initial);
  handling.outcome.created = { kind: "account", number: account.number };
  handling.outcome.entity = account.number;
}

export function updateAccount(handling: Handling): void {
  const body = handling.transaction.body.cryptoUpdateAccount!;
  const account = handling.account(body.accountIDToUpdate);
  const { journal } = handling;
  handling.requireAccount(account);
  if (body.key) {
    const key = keyFromProto(body.key);
    ensure(key !== undefined, "BAD_ENCODING");
    handling.requireKey(key);
    journal.set(account, "key", key);
  }
  const memo = body.memo?.value;
  if (memo !== undefined && memo !== null) journal.set(account, "memo", checkMemo(memo));
  const receiverSignature = body.receiverSigRequiredWrapper?.value ?? (body.receiverSigRequired || undefined);
  if (receiverSignature !== undefined) journal.set(account, "receiverSignatureRequired", receiverSignature);
  const max = body.maxAutomaticTokenAssociations?.value;
  if (max !== undefined && max !== null) {
    ensure(max === -1 || max >= account.autoAssociationsUsed, "EXISTING_AUTOMATIC_ASSOCIATIONS_EXCEED_GIVEN_LIMIT");
    journal.set(account, "autoAssociationsMax", checkAutoAssociations(max));
  }
  if (body.autoRenewPeriod) journal.set(account, "autoRenewSeconds", renewal(body.autoRenewPeriod).autoRenewSeconds!);
  ensure(
    toNanos(body.expirationTime) === 0n || toNanos(body.expirationTime) > account.createdAt,
    "INVALID_EXPIRATION_TIME",
  );
  handling.outcome.entity = account.number;
}

/** What HBAR is left goes to another account; an account that still holds tokens stays. */
export function deleteAccount(handling: Handling): void {
  const body = handling.transaction.body.cryptoDelete!;
  const account = handling.account(body.deleteAccountID);
  const heir = handling.account(body.transferAccountID);
  ensure(account !== heir, "TRANSFER_ACCOUNT_SAME_AS_DELETE_ACCOUNT");
  handling.requireAccount(account);
  if (heir.receiverSignatureRequired) handling.requireAccount(heir);
  const isTreasury = [...account.relations.keys()].some(
    (token) => handling.state.tokens.get(token)?.treasury === account.number,
  );
  ensure(!isTreasury, "ACCOUNT_IS_TREASURY");
  ensure(
    [...account.relations.values()].every(({ balance }) => balance === 0n),
    "TRANSACTION_REQUIRES_ZERO_TOKEN_BALANCES",
  );
  const left = account.balance;
  handling.changeHbar(account, -left);
  handling.changeHbar(heir, left);
  handling.journal.set(account, "deleted", true);
  handling.outcome.entity = account.number;
}

export function approveAllowances(handling: Handling): void {
  const body = handling.transaction.body.cryptoApproveAllowance!;
  for (const { owner, spender, amount } of body.cryptoAllowances ?? []) {
    const [from, to] = parties(handling, owner, spender);
    setAllowance(handling, from.hbarAllowances, to.number, toBigint(amount));
  }
  for (const { owner, spender, tokenId, amount } of body.tokenAllowances ?? []) {
    const [from, to] = parties(handling, owner, spender);
    const token = handling.token(tokenId);
    ensure(!token.unique, "NFT_IN_FUNGIBLE_TOKEN_ALLOWANCES");
    ensure(from.relations.has(token.number), "TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
    ensure(token.maxSupply === 0n || toBigint(amount) <= token.maxSupply, "AMOUNT_EXCEEDS_TOKEN_MAX_SUPPLY");
    setAllowance(handling, from.tokenAllowances, allowanceKey(token.number, to.number), toBigint(amount));
  }
  for (const allowance of body.nftAllowances ?? []) approveNfts(handling, allowance);
}

const approveNfts = (handling: Handling, allowance: proto.INftAllowance): void => {
  const { journal } = handling;
  const [owner, spender] = parties(handling, allowance.owner, allowance.spender);
  const token = handling.token(allowance.tokenId);
  ensure(token.unique, "FUNGIBLE_TOKEN_IN_NFT_ALLOWANCES");
  ensure(owner.relations.has(token.number), "TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
  const operator = allowanceKey(token.number, spender.number);
  if (allowance.approvedForAll?.value === true) journal.put(owner.nftOperators, operator, true);
  if (allowance.approvedForAll?.value === false) journal.remove(owner.nftOperators, operator);
  for (const serial of allowance.serialNumbers ?? []) {
    const nft = token.nfts.get(Number(toBigint(serial)));
    ensure(nft !== undefined, "INVALID_TOKEN_NFT_SERIAL_NUMBER");
    ensure(nft.owner === owner.number, "SENDER_DOES_NOT_OWN_NFT_SERIAL_NO");
    journal.set(nft, "spender", spender.number);
  }
};

/** Owner (the payer unless named, and signed) and spender of an allowance. */
const parties = (
  handling: Handling,
  owner: proto.IAccountID | null | undefined,
  spender: proto.IAccountID | null | undefined,
): [Account, Account] => {
  const from = owner ? handling.account(owner, "INVALID_ALLOWANCE_OWNER_ID") : handling.payer;
  const to = handling.account(spender, "INVALID_ALLOWANCE_SPENDER_ID");
  ensure(from !== to, "SPENDER_ACCOUNT_SAME_AS_OWNER");
  handling.requireAccount(from);
  return [from, to];
};

const setAllowance = <K>(handling: Handling, allowances: Map<K, Allowance>, key: K, amount: bigint): void => {
  const { journal, consensusAt } = handling;
  if (amount === 0n) journal.remove(allowances, key);
  else journal.put(allowances, key, { granted: amount, left: amount, grantedAt: consensusAt });
};

const checkMemo = (memo: string | null | undefined): string => {
  ensure(Buffer.byteLength(memo ?? "") <= 100, "MEMO_TOO_LONG");
  return memo ?? "";
};

const checkAutoAssociations = (max: number): number => {
  ensure(max >= -1, "INVALID_MAX_AUTO_ASSOCIATIONS");
  ensure(max <= autoAssociationsMax, "REQUESTED_NUM_AUTOMATIC_ASSOCIATIONS_EXCEEDS_ASSOCIATION_LIMIT");
  return max;
};

const renewal = (period: proto.IDuration | null | undefined): { autoRenewSeconds?: number } => {
  if (!period) return {};
  const seconds = Number(toBigint(period.seconds));
  ensure(seconds >= 2_592_000 && seconds <= 8_000_001, "AUTORENEW_DURATION_NOT_IN_RANGE");
  return { autoRenewSeconds: seconds };
};

const autoAssociationsMax = 5_000;
