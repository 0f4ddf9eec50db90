import { entityText, nanosPerSecond, parseEntityText, timestampText } from "../hapi/ids.ts";
import type { CustomFee, Nft, Token } from "../state/entities.ts";
import { invalidParameter, keyJson, notFound } from "./json.ts";
import { limitOf, numberFilter, pageOfAccounts } from "./params.ts";
import type { MirrorView } from "./view.ts";

/** Quantities of a token are strings here, though numbers elsewhere: so it is in the mirror's own schema. */
export function getToken(view: MirrorView, [id]: string[]): object {
  const token = tokenAt(view, id!);
  const { admin, kyc, freeze, wipe, supply, feeSchedule, pause, metadata } = token.keys;
  return {
    admin_key: keyJson(admin),
    auto_renew_account: token.autoRenewAccount === null ? null : entityText(token.autoRenewAccount),
    auto_renew_period: token.autoRenewSeconds,
    created_timestamp: timestampText(token.createdAt),
    custom_fees: customFeesJson(token),
    decimals: String(token.decimals),
    deleted: token.deleted,
    expiry_timestamp: token.createdAt + BigInt(token.autoRenewSeconds) * nanosPerSecond,
    fee_schedule_key: keyJson(feeSchedule),
    freeze_default: token.freezeDefault,
    freeze_key: keyJson(freeze),
    initial_supply: String(token.initialSupply),
    kyc_key: keyJson(kyc),
    max_supply: String(token.maxSupply),
    memo: token.memo,
    metadata: token.metadata.toString("base64"),
    metadata_key: keyJson(metadata),
    modified_timestamp: timestampText(token.modifiedAt),
    name: token.name,
    pause_key: keyJson(pause),
    pause_status: !pause ? "NOT_APPLICABLE" : token.paused ? "PAUSED" : "UNPAUSED",
    supply_key: keyJson(supply),
    supply_type: token.maxSupply > 0n ? "FINITE" : "INFINITE",
    symbol: token.symbol,
    token_id: entityText(token.number),
    total_supply: String(token.totalSupply),
    treasury_account_id: entityText(token.treasury),
    type: token.unique ? "NON_FUNGIBLE_UNIQUE" : "FUNGIBLE_COMMON",
    wipe_key: keyJson(wipe),
  };
}

export function getTokenBalances(view: MirrorView, [id]: string[], query: URLSearchParams): object {
  const { number: token, decimals } = tokenAt(view, id!);
  const { page, next } = pageOfAccounts(view, query, `/api/v1/tokens/${entityText(token)}/balances`, (account) => {
    const relation = view.relation(account, token);
    return relation && { account: entityText(account.number), balance: relation.balance, decimals };
  });
  return { timestamp: view.now(), balances: page, links: { next } };
}

export function getNfts(view: MirrorView, [id]: string[], query: URLSearchParams): object {
  const token = tokenAt(view, id!);
  const [serial, owner] = [numberFilter(query, "serialnumber"), numberFilter(query, "account.id")];
  const nfts = [...token.nfts.values()]
    .filter((nft) => view.shows(nft.createdAt) && serial(nft.serial) && owner(view.seen(nft).owner))
    .sort((a, b) => b.serial - a.serial);
  return { nfts: nfts.slice(0, limitOf(query)).map((nft) => nftJson(view, token, nft)), links: { next: null } };
}

export function getNft(view: MirrorView, [id, serial]: string[]): object {
  const token = tokenAt(view, id!);
  const nft = token.nfts.get(Number(serial));
  return nft && view.shows(nft.createdAt) ? nftJson(view, token, nft) : notFound();
}

const tokenAt = (view: MirrorView, text: string): Token =>
  view.token(parseEntityText(text) ?? invalidParameter("token.id")) ?? notFound();

const nftJson = (view: MirrorView, token: Token, nft: Nft) => {
  const { serial, owner, spender, metadata, createdAt } = view.seen(nft);
  return {
    account_id: entityText(owner),
    created_timestamp: timestampText(createdAt),
    delegating_spender: null,
    deleted: false,
    metadata: metadata.toString("base64"),
    modified_timestamp: timestampText(createdAt),
    serial_number: serial,
    spender: spender === null ? null : entityText(spender),
    token_id: entityText(token.number),
  };
};

const customFeesJson = ({ customFees, modifiedAt, number, unique }: Token) => {
  const fixed = customFees.filter((fee) => fee.kind === "fixed");
  const fractional = customFees.filter((fee) => fee.kind === "fractional");
  return {
    created_timestamp: timestampText(modifiedAt),
    fixed_fees: fixed.map((fee) => ({
      ...collectorJson(fee),
      amount: fee.amount,
      denominating_token_id: fee.denomination === null ? null : entityText(fee.denomination),
    })),
    ...(unique
      ? { royalty_fees: [] }
      : {
          fractional_fees: fractional.map((fee) => ({
            ...collectorJson(fee),
            amount: { numerator: fee.numerator, denominator: fee.denominator },
            denominating_token_id: entityText(number),
            minimum: fee.minimum,
            maximum: fee.maximum === 0n ? null : fee.maximum,
            net_of_transfers: fee.netOfTransfers,
          })),
        }),
  };
};

const collectorJson = ({ collector, allCollectorsAreExempt }: CustomFee) => ({
  all_collectors_are_exempt: allCollectorsAreExempt,
  collector_account_id: entityText(collector),
});
