import { entityText, nanosPerSecond, timestampText } from "../hapi/ids.ts";
import type { Account, Allowance } from "../state/entities.ts";
import { shownEvmAddress } from "../state/state.ts";
import { invalidParameter, keyJson } from "./json.ts";
import { limitOf, numberFilter, orderOf, pageOfAccounts } from "./params.ts";
import type { MirrorView } from "./view.ts";

export function getAccount(view: MirrorView, [id]: string[]): object {
  return { ...accountJson(view, view.accountAt(id!)), transactions: [], links: noMore };
}

export function getAccounts(view: MirrorView, _parts: string[], query: URLSearchParams): object {
  const publicKey = publicKeyOf(query);
  const hasKey = ({ key }: Account) => publicKey === undefined || (key?.kind !== "list" && key?.hex === publicKey);
  const { page, next } = pageOfAccounts(view, query, "/api/v1/accounts", (account) =>
    hasKey(account) ? accountJson(view, account) : undefined,
  );
  const rest = publicKey === undefined ? "" : `&account.publickey=${publicKey}`;
  return { accounts: page, links: { next: next && next + rest } };
}

/** Raw, as hex. */
function publicKeyOf(query: URLSearchParams): string | undefined {
  const text = query.get("account.publickey");
  if (text === null) return undefined;
  const [, hex] = /^(?:0x)?([0-9a-f]{64}|[0-9a-f]{66})$/i.exec(text) ?? invalidParameter("account.publickey");
  return hex!.toLowerCase();
}

function accountJson(view: MirrorView, account: Account): object {
  return {
    account: entityText(account.number),
    alias: account.alias && base32(account.alias),
    auto_renew_period: account.autoRenewSeconds,
    balance: { balance: account.balance, timestamp: view.now(), tokens: tokenBalances(view, account) },
    created_timestamp: timestampText(account.createdAt),
    decline_reward: false,
    deleted: account.deleted,
    ethereum_nonce: 0,
    evm_address: shownEvmAddress(account),
    expiry_timestamp: timestampText(account.createdAt + BigInt(account.autoRenewSeconds) * nanosPerSecond),
    key: keyJson(account.key),
    max_automatic_token_associations: account.autoAssociationsMax,
    memo: account.memo,
    pending_reward: 0,
    receiver_sig_required: account.receiverSignatureRequired,
    staked_account_id: null,
    staked_node_id: null,
    stake_period_start: null,
  };
}

export function getAccountTokens(view: MirrorView, [id]: string[], query: URLSearchParams): object {
  const account = view.accountAt(id!);
  const wanted = numberFilter(query, "token.id");
  const order = orderOf(query, "asc");
  const limit = limitOf(query);
  const relations = view.relations(account).filter(({ token }) => wanted(token));
  relations.sort((a, b) => (order === "asc" ? a.token - b.token : b.token - a.token));
  const page = relations.slice(0, limit);
  const rest = `limit=${limit}&order=${order}&token.id=${order === "asc" ? "gt" : "lt"}`;
  const next = `/api/v1/accounts/${entityText(account.number)}/tokens?${rest}:${entityText(page.at(-1)?.token ?? 0)}`;
  return {
    tokens: page.map(({ token: number, balance, automatic, createdAt, frozen, kycGranted }) => {
      const { decimals, keys } = view.chain.state.tokens.get(number)!;
      return {
        automatic_association: automatic,
        balance,
        created_timestamp: timestampText(createdAt),
        decimals,
        freeze_status: !keys.freeze ? "NOT_APPLICABLE" : frozen ? "FROZEN" : "UNFROZEN",
        kyc_status: !keys.kyc ? "NOT_APPLICABLE" : kycGranted ? "GRANTED" : "REVOKED",
        token_id: entityText(number),
      };
    }),
    links: { next: relations.length > limit ? next : null },
  };
}

export function getTokenAllowances(view: MirrorView, [id]: string[], query: URLSearchParams): object {
  const account = view.accountAt(id!);
  const [token, spender] = [numberFilter(query, "token.id"), numberFilter(query, "spender.id")];
  const allowances = [...account.tokenAllowances]
    .map(([key, allowance]) => ({ key: key.split("/").map(Number) as [number, number], allowance }))
    .filter(({ key, allowance }) => view.shows(allowance.grantedAt) && token(key[0]) && spender(key[1]))
    .map(({ key, allowance }) => ({ ...allowanceJson(account, key[1], allowance), token_id: entityText(key[0]) }));
  return { allowances: allowances.slice(0, limitOf(query)), links: noMore };
}

export function getHbarAllowances(view: MirrorView, [id]: string[], query: URLSearchParams): object {
  const account = view.accountAt(id!);
  const spender = numberFilter(query, "spender.id");
  const allowances = [...account.hbarAllowances]
    .filter(([number, { grantedAt }]) => view.shows(grantedAt) && spender(number))
    .map(([number, allowance]) => allowanceJson(account, number, allowance));
  return { allowances: allowances.slice(0, limitOf(query)), links: noMore };
}

export function getBalances(view: MirrorView, _parts: string[], query: URLSearchParams): object {
  const { page, next } = pageOfAccounts(view, query, "/api/v1/balances", (account) => ({
    account: entityText(account.number),
    balance: account.balance,
    tokens: tokenBalances(view, account),
  }));
  return { timestamp: view.now(), balances: page, links: { next } };
}

const tokenBalances = (view: MirrorView, account: Account) =>
  view.relations(account).map(({ token, balance }) => ({ token_id: entityText(token), balance }));

const allowanceJson = (owner: Account, spender: number, { granted, left, grantedAt }: Allowance) => ({
  amount: left,
  amount_granted: granted,
  owner: entityText(owner.number),
  spender: entityText(spender),
  timestamp: { from: timestampText(grantedAt), to: null },
});

/** RFC 4648 without padding: how the mirror prints an alias. */
const base32 = (bytes: Buffer): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
};

const noMore = { next: null };
