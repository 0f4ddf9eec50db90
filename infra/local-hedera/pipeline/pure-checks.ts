import type { proto } from "@hiero-ledger/proto";
import type { ParsedTransaction } from "../hapi/codec.ts";
import { accountNumber, toBigint, tokenNumber, topicNumber } from "../hapi/ids.ts";
import { ensure } from "../hapi/refusal.ts";

/** Checks that need no state: they run before the payer is looked at, and cost nothing. */
export function checkPurely({ kind, body }: ParsedTransaction): void {
  if (kind === "cryptoTransfer") checkTransfer(body.cryptoTransfer!);
  if (kind === "tokenAssociate") checkAssociate(body.tokenAssociate!);
  if (kind === "tokenMint") checkMint(body.tokenMint!);
  if (kind === "cryptoApproveAllowance") checkAllowances(body.cryptoApproveAllowance!);
  if (kind === "consensusSubmitMessage") {
    const { topicID, message } = body.consensusSubmitMessage!;
    ensure(topicNumber(topicID) !== undefined, "INVALID_TOPIC_ID");
    ensure(!!message?.length, "INVALID_TOPIC_MESSAGE");
  }
}

const checkTransfer = ({ transfers, tokenTransfers }: proto.ICryptoTransferTransactionBody): void => {
  const hbarLegs = transfers?.accountAmounts ?? [];
  ensure(checkLegs(hbarLegs) === 0n, "INVALID_ACCOUNT_AMOUNTS");
  const seen = new Set<number>();
  for (const list of tokenTransfers ?? []) {
    const token = tokenNumber(list.token);
    ensure(token !== undefined, "INVALID_TOKEN_ID");
    ensure(!seen.has(token), "TOKEN_ID_REPEATED_IN_TOKEN_LIST");
    seen.add(token);
    const legs = list.transfers ?? [];
    ensure(legs.length > 0 || !!list.nftTransfers?.length, "EMPTY_TOKEN_TRANSFER_ACCOUNT_AMOUNTS");
    ensure(checkLegs(legs) === 0n, "TRANSFERS_NOT_ZERO_SUM_FOR_TOKEN");
    for (const { senderAccountID, receiverAccountID, serialNumber } of list.nftTransfers ?? []) {
      ensure(!!senderAccountID && !!receiverAccountID, "INVALID_TRANSFER_ACCOUNT_ID");
      ensure(toBigint(serialNumber) > 0n, "INVALID_TOKEN_NFT_SERIAL_NUMBER");
    }
  }
};

/** Returns the sum of the legs. */
const checkLegs = (legs: proto.IAccountAmount[]): bigint => {
  const seen = new Set<string>();
  let sum = 0n;
  for (const { accountID, amount, isApproval } of legs) {
    ensure(!!accountID, "INVALID_TRANSFER_ACCOUNT_ID");
    const name = `${accountNumber(accountID) ?? Buffer.from(accountID.alias ?? []).toString("hex")}/${isApproval ?? false}`;
    ensure(!seen.has(name), "ACCOUNT_REPEATED_IN_ACCOUNT_AMOUNTS");
    seen.add(name);
    sum += toBigint(amount);
  }
  return sum;
};

const checkAssociate = ({ account, tokens }: proto.ITokenAssociateTransactionBody): void => {
  ensure(accountNumber(account) !== undefined, "INVALID_ACCOUNT_ID");
  const numbers = (tokens ?? []).map(tokenNumber);
  ensure(new Set(numbers).size === numbers.length, "TOKEN_ID_REPEATED_IN_TOKEN_LIST");
};

const checkMint = ({ token, amount, metadata }: proto.ITokenMintTransactionBody): void => {
  ensure(tokenNumber(token) !== undefined, "INVALID_TOKEN_ID");
  const units = toBigint(amount);
  ensure(units >= 0n && (units === 0n || !metadata?.length), "INVALID_TOKEN_MINT_AMOUNT");
  ensure((metadata?.length ?? 0) <= nftBatchMax, "BATCH_SIZE_LIMIT_EXCEEDED");
  ensure(
    (metadata ?? []).every((bytes) => bytes.length <= nftMetadataBytesMax),
    "METADATA_TOO_LONG",
  );
};

const checkAllowances = (body: proto.ICryptoApproveAllowanceTransactionBody): void => {
  const hbar = body.cryptoAllowances ?? [];
  const tokens = body.tokenAllowances ?? [];
  ensure(hbar.length + tokens.length + (body.nftAllowances?.length ?? 0) > 0, "EMPTY_ALLOWANCES");
  ensure(
    [...hbar, ...tokens].every(({ amount }) => toBigint(amount) >= 0n),
    "NEGATIVE_ALLOWANCE_AMOUNT",
  );
};

const nftBatchMax = 10;
const nftMetadataBytesMax = 100;
