import { parseTransaction } from "viem/utils";
import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import { inStates, sentStates } from "../../payment-states.ts";
import type { EvmChain } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { leastRaisedFee, raisedFee } from "./gas-prices.ts";
import type { NonceGaps } from "./nonce-gaps.ts";
import { RpcError } from "./rpc.ts";
import type { EvmSigner } from "./signer.ts";

/**
 * Maintains one address' nonces, so that none of its transactions stands still: sends again what the chain took back,
 * raises the fee of one that is stuck, under the same nonce, so that the payment still lands at most once, and fills gaps.
 */
export async function maintainNonces(signer: EvmSigner, config: EvmConfig, needs: Needs): Promise<void> {
  const mined = await needs.chain.transactionCount(signer.address, "latest");
  await restoreUnmined(signer, config, needs, mined);
  await dropUsedVacancies(signer, config, needs, mined);
  await needs.gaps.fill(mined);
  await raiseStuckFee(signer, config, needs, mined);
}

interface Needs {
  readonly chain: EvmChain;
  readonly db: Database;
  readonly log: Log;
  readonly gaps: NonceGaps;
}

/**
 * A settled payment whose nonce the chain no longer counts was taken back by a reorganisation (or was asked of a node
 * that lags, to which sending again is harmless): the same transaction is sent again and an alarm raised, of the next hundred. All of them
 * are looked at once more when what they land in is final (correct-transactions.ts).
 */
async function restoreUnmined(signer: EvmSigner, config: EvmConfig, { chain, db, log }: Needs, mined: bigint) {
  const { rows } = await db.query(
    `select transaction_id, raw_transactions from payments where ${unmined} order by nonce limit 100`,
    [config.network, signer.address, mined],
  );
  if (rows.length === 0) return;
  await db.query(
    `update payments set taken_back_at = now()
      where ${unmined} and (taken_back_at is null or taken_back_at < now() - interval '1 minute')`,
    [config.network, signer.address, mined],
  );
  for (const { transaction_id: transaction, raw_transactions: raw } of rows) {
    log.error(
      { network: config.network, transaction },
      "a settled transaction is no longer on the chain; sending it again",
    );
    for (const bytes of raw as Buffer[]) await send(chain, bytes);
  }
}

const unmined = `network = $1 and fee_payer = $2 and nonce >= $3 and state = 'settled' and not landed_by_another
        and raw_transactions is not null`;

/**
 * Only the transaction that is next in line can be stuck on its fee; those behind it are waiting for it. One of a payment that is settled
 * was taken back, or the node lags: it is stuck where it offers less than a block asks for, its tip counted in.
 */
async function raiseStuckFee(signer: EvmSigner, config: EvmConfig, { chain, db, log }: Needs, mined: bigint) {
  const { rows } = await db.query(
    `select id, raw_transactions, state = 'settled' and not landed_by_another as was_mined from payments
      where network = $1 and fee_payer = $2 and nonce = $3 and raw_transactions is not null
        and ${inStates([...sentStates, "settled"])}
        and broadcast_at < now() - make_interval(secs => $4::double precision * cardinality(raw_transactions))`,
    [config.network, signer.address, mined, config.bumpAfterMs / 1_000],
  );
  if (!rows[0]) return;
  const { id, raw_transactions: raw, was_mined: wasMined } = rows[0] as StuckPayment;
  const last = parseTransaction(`0x${(raw.at(-1) as Buffer).toString("hex")}`);
  const { baseFeePerGas } = await chain.latestBlock();
  if (wasMined && (last.maxFeePerGas ?? 0n) >= baseFeePerGas + (last.maxPriorityFeePerGas ?? 0n)) return;
  const tip = raisedFee(last.maxPriorityFeePerGas ?? 0n);
  const maxFeePerGas = min(max(raisedFee(last.maxFeePerGas ?? 0n), 2n * baseFeePerGas + tip), config.feePerGasMaxWei);
  if (maxFeePerGas < leastRaisedFee(last.maxFeePerGas ?? 0n)) {
    log.error({ network: config.network, address: signer.address, nonce: Number(mined) }, "stuck at the fee limit");
    return;
  }
  const { to, data, gas } = last;
  const fields = { chainId: config.chainId, nonce: Number(mined), to: to ?? null, data: data ?? "0x", gas: gas ?? 0n };
  const maxPriorityFeePerGas = min(tip, maxFeePerGas);
  const replacement = await signer.sign({ type: "eip1559", ...fields, maxFeePerGas, maxPriorityFeePerGas });
  const { rowCount } = await db.query(
    `update payments
        set raw_transactions = array_append(raw_transactions, $2),
            signed_transactions = array_append(signed_transactions, $4)
      where id = $1 and state not in ('claimed', 'failed') and cardinality(raw_transactions) = $3
        and fee_payer = $5 and nonce = $6`,
    [id, replacement.raw, raw.length, replacement.hash, signer.address, mined],
  );
  if (rowCount !== 1) return;
  log.warn(
    { network: config.network, transaction: replacement.hash, nonce: Number(mined) },
    "fee of a stuck transaction raised",
  );
  await send(chain, replacement.raw);
}

interface StuckPayment {
  readonly id: bigint;
  readonly raw_transactions: readonly Buffer[];
  readonly was_mined: boolean;
}

/** A vacant nonce that the chain counts was used by something else. */
async function dropUsedVacancies(signer: EvmSigner, config: EvmConfig, { db }: Needs, mined: bigint) {
  await db.query(
    `update signer_nonces set vacant = array(select n from unnest(vacant) n where n >= $3 order by n)
      where network = $1 and address = $2 and cardinality(vacant) > 0`,
    [config.network, signer.address, mined],
  );
}

/** What the node makes of it shows in the next round. */
async function send(chain: EvmChain, raw: Buffer): Promise<void> {
  await chain.send(raw).catch((error) => {
    if (!(error instanceof RpcError)) throw error;
  });
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
