import type { proto } from "@hiero-ledger/proto";
import { type Key, keyFromProto } from "../crypto/keys.ts";
import { accountNumber, toBigint, tokenNumber } from "../hapi/ids.ts";
import { ensure, type StatusName } from "../hapi/refusal.ts";
import type { Handling } from "../pipeline/handling.ts";
import type { Account, Relation, Token, TokenKeyName, TokenKeys } from "../state/entities.ts";
import { autoRenewSeconds } from "../state/state.ts";
import { customFeesFromProto } from "./fee-schedule.ts";
import { addRelation, changeTokenBalance } from "./relations.ts";

export function createToken(handling: Handling): void {
  const body = handling.transaction.body.tokenCreation!;
  const treasury = handling.account(body.treasury, "INVALID_TREASURY_ACCOUNT_FOR_TOKEN");
  const token = newToken(handling, body, treasury);
  checkNewToken(token, body);
  handling.requireAccount(treasury);
  if (token.keys.admin) handling.requireKey(token.keys.admin);
  if (token.autoRenewAccount !== null) handling.requireAccount(handling.state.accounts.get(token.autoRenewAccount)!);
  token.customFees = customFeesFromProto(handling, body.customFees ?? [], token);
  handling.journal.put(handling.state.tokens, token.number, token);
  addRelation(handling, token, treasury, { kycGranted: true, frozen: false });
  for (const fee of token.customFees) {
    if (fee.kind === "fixed" && fee.denomination !== token.number) continue;
    const collector = handling.state.accounts.get(fee.collector)!;
    handling.requireAccount(collector);
    if (!collector.relations.has(token.number))
      addRelation(handling, token, collector, { kycGranted: true, frozen: false });
  }
  if (token.initialSupply > 0n) issue(handling, token, treasury, token.initialSupply);
  handling.outcome.created = { kind: "token", number: token.number };
  handling.outcome.entity = token.number;
}

export function mint(handling: Handling): void {
  const body = handling.transaction.body.tokenMint!;
  const token = handling.token(body.token);
  requireTokenKey(handling, token, "supply", "TOKEN_HAS_NO_SUPPLY_KEY");
  const metadata = body.metadata ?? [];
  const amount = token.unique ? BigInt(metadata.length) : toBigint(body.amount);
  ensure(token.unique || metadata.length === 0, "INVALID_TOKEN_MINT_AMOUNT");
  ensure(!token.unique || metadata.length > 0, "INVALID_TOKEN_MINT_METADATA");
  const treasury = handling.state.accounts.get(token.treasury)!;
  issue(handling, token, treasury, amount);
  if (token.unique) handling.outcome.serials = metadata.map((bytes) => mintNft(handling, token, bytes));
  handling.outcome.totalSupply = token.totalSupply;
  handling.outcome.entity = token.number;
}

export function associate(handling: Handling): void {
  const body = handling.transaction.body.tokenAssociate!;
  const account = handling.account(body.account);
  handling.requireAccount(account);
  for (const id of body.tokens ?? []) {
    const token = handling.token(id);
    ensure(!account.relations.has(token.number), "TOKEN_ALREADY_ASSOCIATED_TO_ACCOUNT");
    addRelation(handling, token, account);
  }
  handling.outcome.entity = account.number;
}

export function dissociate(handling: Handling): void {
  const body = handling.transaction.body.tokenDissociate!;
  const account = handling.account(body.account);
  handling.requireAccount(account);
  for (const id of body.tokens ?? []) {
    const relation = account.relations.get(tokenNumber(id) ?? 0);
    ensure(relation !== undefined, "TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
    ensure(handling.state.tokens.get(relation.token)?.treasury !== account.number, "ACCOUNT_IS_TREASURY");
    ensure(!relation.frozen, "ACCOUNT_FROZEN_FOR_TOKEN");
    ensure(relation.balance === 0n, "TRANSACTION_REQUIRES_ZERO_TOKEN_BALANCES");
    handling.journal.remove(account.relations, relation.token);
    if (relation.automatic) handling.journal.set(account, "autoAssociationsUsed", account.autoAssociationsUsed - 1);
  }
  handling.outcome.entity = account.number;
}

export function freeze(handling: Handling): void {
  changeRelation(handling, handling.transaction.body.tokenFreeze!, "freeze", (relation) =>
    handling.journal.set(relation, "frozen", true),
  );
}

export function unfreeze(handling: Handling): void {
  changeRelation(handling, handling.transaction.body.tokenUnfreeze!, "freeze", (relation) =>
    handling.journal.set(relation, "frozen", false),
  );
}

export function grantKyc(handling: Handling): void {
  changeRelation(handling, handling.transaction.body.tokenGrantKyc!, "kyc", (relation) =>
    handling.journal.set(relation, "kycGranted", true),
  );
}

export function revokeKyc(handling: Handling): void {
  changeRelation(handling, handling.transaction.body.tokenRevokeKyc!, "kyc", (relation) =>
    handling.journal.set(relation, "kycGranted", false),
  );
}

export function pause(handling: Handling): void {
  setPaused(handling, handling.transaction.body.tokenPause!, true);
}

export function unpause(handling: Handling): void {
  setPaused(handling, handling.transaction.body.tokenUnpause!, false);
}

export function updateFees(handling: Handling): void {
  const body = handling.transaction.body.tokenFeeScheduleUpdate!;
  const token = handling.token(body.tokenId);
  requireTokenKey(handling, token, "feeSchedule", "TOKEN_HAS_NO_FEE_SCHEDULE_KEY");
  handling.journal.set(token, "customFees", customFeesFromProto(handling, body.customFees ?? [], token));
  handling.journal.set(token, "modifiedAt", handling.consensusAt);
  handling.outcome.entity = token.number;
}

const newToken = (handling: Handling, body: proto.ITokenCreateTransactionBody, treasury: Account): Token => {
  const autoRenewAccount = body.autoRenewAccount
    ? handling.account(body.autoRenewAccount, "INVALID_AUTORENEW_ACCOUNT").number
    : null;
  return {
    number: handling.state.newNumber(handling.journal),
    name: body.name ?? "",
    symbol: body.symbol ?? "",
    memo: body.memo ?? "",
    unique: body.tokenType === 1,
    decimals: body.decimals ?? 0,
    initialSupply: toBigint(body.initialSupply),
    totalSupply: 0n,
    maxSupply: toBigint(body.maxSupply),
    treasury: treasury.number,
    keys: keysOf(body),
    freezeDefault: body.freezeDefault ?? false,
    paused: false,
    deleted: false,
    customFees: [],
    autoRenewAccount,
    autoRenewSeconds: Number(toBigint(body.autoRenewPeriod?.seconds)) || autoRenewSeconds,
    metadata: Buffer.from(body.metadata ?? []),
    createdAt: handling.consensusAt,
    modifiedAt: handling.consensusAt,
    lastSerial: 0,
    nfts: new Map(),
  };
};

const checkNewToken = (token: Token, body: proto.ITokenCreateTransactionBody): void => {
  ensure(token.name !== "", "MISSING_TOKEN_NAME");
  ensure(token.symbol !== "", "MISSING_TOKEN_SYMBOL");
  ensure(Buffer.byteLength(token.name) <= 100, "TOKEN_NAME_TOO_LONG");
  ensure(Buffer.byteLength(token.symbol) <= 100, "TOKEN_SYMBOL_TOO_LONG");
  ensure(token.decimals >= 0 && (!token.unique || token.decimals === 0), "INVALID_TOKEN_DECIMALS");
  ensure(token.initialSupply >= 0n && (!token.unique || token.initialSupply === 0n), "INVALID_TOKEN_INITIAL_SUPPLY");
  ensure(body.supplyType === 1 ? token.maxSupply > 0n : token.maxSupply === 0n, "INVALID_TOKEN_MAX_SUPPLY");
  ensure(token.maxSupply === 0n || token.initialSupply <= token.maxSupply, "INVALID_TOKEN_INITIAL_SUPPLY");
  ensure(!token.unique || !!token.keys.supply, "TOKEN_HAS_NO_SUPPLY_KEY");
  ensure(!token.freezeDefault || !!token.keys.freeze, "TOKEN_HAS_NO_FREEZE_KEY");
};

const keysOf = (body: proto.ITokenCreateTransactionBody): TokenKeys => {
  const keys: TokenKeys = {};
  for (const [name, field, invalid] of tokenKeyFields) {
    if (!body[field]) continue;
    const key: Key | undefined = keyFromProto(body[field]);
    ensure(key !== undefined, invalid);
    keys[name] = key;
  }
  return keys;
};

/** New units to the treasury. */
const issue = (handling: Handling, token: Token, treasury: Account, amount: bigint): void => {
  const total = token.totalSupply + amount;
  ensure(token.maxSupply === 0n || total <= token.maxSupply, "TOKEN_MAX_SUPPLY_REACHED");
  ensure(total <= unitsMax, "INVALID_TOKEN_MINT_AMOUNT");
  changeTokenBalance(handling, token, treasury, amount);
  handling.journal.set(token, "totalSupply", total);
  if (!token.unique) {
    handling.noteTokenMove({ token: token.number, account: treasury.number, amount, approved: false });
  }
};

const mintNft = (handling: Handling, token: Token, metadata: Uint8Array): number => {
  const serial = token.lastSerial + 1;
  handling.journal.set(token, "lastSerial", serial);
  handling.journal.put(token.nfts, serial, {
    serial,
    owner: token.treasury,
    spender: null,
    metadata: Buffer.from(metadata),
    createdAt: handling.consensusAt,
  });
  handling.outcome.nfts ??= [];
  handling.outcome.nfts.push({ token: token.number, serial, from: 0, to: token.treasury, approved: false });
  return serial;
};

const changeRelation = (
  handling: Handling,
  body: { token?: proto.ITokenID | null; account?: proto.IAccountID | null },
  keyName: "freeze" | "kyc",
  change: (relation: Relation) => void,
): void => {
  const token = handling.token(body.token);
  requireTokenKey(handling, token, keyName, keyName === "freeze" ? "TOKEN_HAS_NO_FREEZE_KEY" : "TOKEN_HAS_NO_KYC_KEY");
  const relation = handling.account(body.account).relations.get(token.number);
  ensure(relation !== undefined, "TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
  change(relation);
  handling.outcome.entity = accountNumber(body.account) ?? token.number;
};

const setPaused = (handling: Handling, body: { token?: proto.ITokenID | null }, paused: boolean): void => {
  const token = handling.token(body.token, { evenPaused: true });
  requireTokenKey(handling, token, "pause", "TOKEN_HAS_NO_PAUSE_KEY");
  handling.journal.set(token, "paused", paused);
  handling.outcome.entity = token.number;
};

const requireTokenKey = (handling: Handling, token: Token, name: TokenKeyName, missing: StatusName): void => {
  ensure(token.keys[name] !== undefined, missing);
  handling.requireKey(token.keys[name]);
};

const tokenKeyFields = [
  ["admin", "adminKey", "INVALID_ADMIN_KEY"],
  ["kyc", "kycKey", "INVALID_KYC_KEY"],
  ["freeze", "freezeKey", "INVALID_FREEZE_KEY"],
  ["wipe", "wipeKey", "INVALID_WIPE_KEY"],
  ["supply", "supplyKey", "INVALID_SUPPLY_KEY"],
  ["feeSchedule", "feeScheduleKey", "INVALID_CUSTOM_FEE_SCHEDULE_KEY"],
  ["pause", "pauseKey", "INVALID_PAUSE_KEY"],
  ["metadata", "metadataKey", "INVALID_METADATA_KEY"],
] as const;

const unitsMax = 2n ** 63n - 1n;
