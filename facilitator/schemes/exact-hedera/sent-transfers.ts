import type { JsonObject } from "../../../shared/json.ts";
import type { SentSettlement } from "../scheme.ts";
import type { HederaConfig } from "./config.ts";
import { expiryOf, hbar } from "./payload.ts";
import { transfersWithoutRewards } from "./staking-rewards.ts";

/**
 * The settlement that a mirror's record proves: a transfer that `feePayer` paid for, which moved one of our assets from one
 * account to one other, and else only the fee. Undefined for everything else, and for what could be read in two ways.
 */
export function readSettlement(
  record: JsonObject,
  feePayer: string,
  { assets, feePayers }: Pick<HederaConfig, "assets" | "feePayers">,
): SentSettlement | undefined {
  const [, account, seconds, nanos] = /^(0\.0\.\d+)-(\d+)-(\d{9})$/.exec(String(record.transaction_id)) ?? [];
  const isOurs = account === feePayer && record.nonce === 0 && record.scheduled === false;
  if (!isOurs || record.result !== "SUCCESS" || record.name !== "CRYPTOTRANSFER") return undefined;
  const moved = moneyMoved(record, feePayer);
  if (!moved || !assets.includes(moved.asset)) return undefined;
  if (feePayers.some(({ accountId }) => accountId === moved.payer || accountId === moved.payTo)) return undefined;
  const durationSeconds = Number(record.valid_duration_seconds);
  const landedAtMs = Number(record.consensus_timestamp) * 1_000;
  if (!Number.isInteger(durationSeconds) || !Number.isFinite(landedAtMs)) return undefined;
  const validStartMs = Number(seconds) * 1_000 + Number(nanos) / 1_000_000;
  const transaction = `${account}@${seconds}.${nanos}`;
  return {
    ...moved,
    key: transaction,
    expiresAt: expiryOf(validStartMs, durationSeconds),
    feePayer,
    nonce: undefined,
    transaction,
    landedAt: new Date(landedAtMs),
  };
}

type Moved = Pick<SentSettlement, "asset" | "payer" | "payTo" | "amount">;

function moneyMoved(record: JsonObject, feePayer: string): Moved | undefined {
  const inHbar = rowsOf(transfersWithoutRewards(record));
  const inTokens = rowsOf(record.token_transfers);
  const fee = record.charged_tx_fee;
  const nfts = record.nft_transfers;
  if (!inHbar || !inTokens || !isWhole(fee) || (Array.isArray(nfts) && nfts.length > 0)) return undefined;
  const ofOthers = inHbar.filter((row) => row.account !== feePayer);
  const paidByUs = inHbar.filter((row) => row.account === feePayer).reduce((sum, row) => sum + row.amount, 0);
  if (paidByUs !== -fee) return undefined;
  if (inTokens.length > 0) {
    if (ofOthers.some(({ amount }) => amount < 0)) return undefined;
    const [asset] = new Set(inTokens.map((row) => row.asset));
    return asset !== undefined && inTokens.every((row) => row.asset === asset) ? between(inTokens, asset) : undefined;
  }
  return amongFees(ofOthers, fee);
}

/** HBAR also moves as fees to the node and the network: only an account that gets exactly what the payer gave can be the payee. */
function amongFees(rows: readonly Row[], fee: number): Moved | undefined {
  const gave = rows.filter(({ amount }) => amount < 0);
  const [payer] = gave;
  if (gave.length !== 1 || !payer) return undefined;
  const got = rows.filter(({ amount }) => amount === -payer.amount);
  const rest = rows.filter(({ amount }) => amount > 0).reduce((sum, { amount }) => sum + amount, 0) + payer.amount;
  const [payee] = got;
  return got.length === 1 && payee && rest === fee ? between([payer, payee], hbar) : undefined;
}

function between(rows: readonly Row[], asset: string): Moved | undefined {
  const [payer, payee] = rows.toSorted((one, other) => one.amount - other.amount);
  if (rows.length !== 2 || !payer || !payee || payer.amount !== -payee.amount || payee.amount <= 0) return undefined;
  if (rows.some(({ isApproval }) => isApproval) || payer.account === payee.account) return undefined;
  return { asset, payer: payer.account, payTo: payee.account, amount: BigInt(payee.amount) };
}

interface Row {
  readonly asset: string;
  readonly account: string;
  readonly amount: number;
  readonly isApproval: boolean;
}

/** Undefined where an amount is none, or has lost digits on its way. */
function rowsOf(list: unknown): readonly Row[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const rows = (list as readonly JsonObject[]).map(({ token_id, account, amount, is_approval }) => ({
    asset: String(token_id ?? hbar),
    account: String(account),
    amount: amount as number,
    isApproval: is_approval === true,
  }));
  return rows.every(({ amount }) => Number.isSafeInteger(amount)) ? rows : undefined;
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);
