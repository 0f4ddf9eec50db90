import type { proto } from "@hiero-ledger/proto";
import { autoCreationPrice } from "../fees/schedule.ts";
import { hooksOfLeg, hooksOfNftTransfer } from "../hapi/hooks.ts";
import { accountNumber, toBigint } from "../hapi/ids.ts";
import { ensure } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account, Token } from "../state/entities.ts";
import { addAccountForAlias } from "./alias.ts";
import { spendHbarAllowance, spendNftAllowance, spendTokenAllowance } from "./allowances.ts";
import { assessCustomFees, payCustomFee } from "./custom-fees.ts";
import { changeTokenBalance } from "./relations.ts";

/** CryptoTransfer: HBAR, fungible tokens and NFTs, all or nothing. */
export function transfer(handling: Handling): void {
  const body = handling.transaction.body.cryptoTransfer!;
  checkSizes(body);
  const hbar = (body.transfers?.accountAmounts ?? []).map((leg) => resolveLeg(handling, leg));
  const lists = (body.tokenTransfers ?? []).map((list) => resolveList(handling, list));
  requireSigned(handling, hbar, lists);
  for (const { account, amount, approved } of hbar) {
    if (approved && amount < 0n) spendHbarAllowance(handling, account, -amount);
    handling.changeHbar(account, amount);
  }
  const fees = lists.flatMap(assessCustomFees);
  for (const list of lists) moveTokens(handling, list);
  for (const fee of fees) payCustomFee(handling, fee);
}

const checkSizes = ({ transfers, tokenTransfers }: proto.ICryptoTransferTransactionBody): void => {
  const lists = tokenTransfers ?? [];
  const fungible = lists.reduce((count, list) => count + (list.transfers?.length ?? 0), 0);
  const unique = lists.reduce((count, list) => count + (list.nftTransfers?.length ?? 0), 0);
  ensure((transfers?.accountAmounts?.length ?? 0) <= legsMax, "TRANSFER_LIST_SIZE_LIMIT_EXCEEDED");
  ensure(fungible <= legsMax, "TOKEN_TRANSFER_LIST_SIZE_LIMIT_EXCEEDED");
  ensure(unique <= legsMax, "BATCH_SIZE_LIMIT_EXCEEDED");
};

const resolveLeg = (handling: Handling, leg: proto.IAccountAmount): Leg => {
  ensure(hooksOfLeg(leg).length === 0, "HOOK_NOT_FOUND");
  const amount = toBigint(leg.amount);
  return { account: receiver(handling, leg.accountID!, amount > 0n), amount, approved: leg.isApproval ?? false };
};

const resolveList = (handling: Handling, list: proto.ITokenTransferList): TokenList => {
  const token = handling.token(list.token);
  const legs = list.transfers ?? [];
  const moves = list.nftTransfers ?? [];
  ensure(!token.unique || legs.length === 0, "ACCOUNT_AMOUNT_TRANSFERS_ONLY_ALLOWED_FOR_FUNGIBLE_COMMON");
  ensure(token.unique || moves.length === 0, "NFT_TRANSFERS_ONLY_ALLOWED_FOR_NON_FUNGIBLE_UNIQUE");
  ensure(
    moves.every((move) => hooksOfNftTransfer(move).length === 0),
    "HOOK_NOT_FOUND",
  );
  const decimals = list.expectedDecimals?.value;
  ensure(decimals === undefined || decimals === null || decimals === token.decimals, "UNEXPECTED_TOKEN_DECIMALS");
  return {
    token,
    legs: legs.map((leg) => resolveLeg(handling, leg)),
    nfts: moves.map((move) => ({
      from: handling.account(move.senderAccountID),
      to: receiver(handling, move.receiverAccountID!, true),
      serial: Number(toBigint(move.serialNumber)),
      approved: move.isApproval ?? false,
    })),
  };
};

/** An existing account, or one made for an alias that no account has yet: only a credit makes one. */
const receiver = (handling: Handling, id: proto.IAccountID, isCredit: boolean): Account => {
  const unknownAlias = isCredit && accountNumber(id) === undefined && !handling.findAccount(id) ? id.alias : null;
  if (!unknownAlias?.length) return handling.account(id);
  handling.chargeExtra(autoCreationPrice);
  return addAccountForAlias(handling, Buffer.from(unknownAlias));
};

const requireSigned = (handling: Handling, hbar: Leg[], lists: TokenList[]): void => {
  for (const { account, amount, approved } of [...hbar, ...lists.flatMap(({ legs }) => legs)]) {
    if (amount < 0n ? !approved : account.receiverSignatureRequired) handling.requireAccount(account);
  }
  for (const { from, to, approved } of lists.flatMap(({ nfts }) => nfts)) {
    if (!approved) handling.requireAccount(from);
    if (to.receiverSignatureRequired) handling.requireAccount(to);
  }
};

const moveTokens = (handling: Handling, { token, legs, nfts }: TokenList): void => {
  for (const { account, amount, approved } of legs) {
    if (approved && amount < 0n) spendTokenAllowance(handling, account, token, -amount);
    changeTokenBalance(handling, token, account, amount);
    handling.noteTokenMove({ token: token.number, account: account.number, amount, approved });
  }
  for (const move of nfts) moveNft(handling, token, move);
};

const moveNft = (handling: Handling, token: Token, { from, to, serial, approved }: NftLeg): void => {
  const nft = token.nfts.get(serial);
  ensure(nft !== undefined, "INVALID_NFT_ID");
  ensure(nft.owner === from.number, "SENDER_DOES_NOT_OWN_NFT_SERIAL_NO");
  if (approved) spendNftAllowance(handling, from, token, nft);
  changeTokenBalance(handling, token, from, -1n);
  changeTokenBalance(handling, token, to, 1n);
  handling.journal.set(nft, "owner", to.number);
  handling.journal.set(nft, "spender", null);
  handling.outcome.nfts ??= [];
  handling.outcome.nfts.push({ token: token.number, serial, from: from.number, to: to.number, approved });
};

const legsMax = 10;

export type Leg = { account: Account; amount: bigint; approved: boolean };
export type NftLeg = { from: Account; to: Account; serial: number; approved: boolean };
export type TokenList = { token: Token; legs: Leg[]; nfts: NftLeg[] };
