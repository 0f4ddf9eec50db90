import { z } from "zod";
import { ApiError } from "../shared/errors.ts";
import { toCaip2 } from "../shared/networks.ts";
import type { Context } from "./context.ts";
import { type Explorers, explorerUrl } from "./explorer.ts";
import { type Read, text } from "./query.ts";

export const paymentQuery = {
  network: text(100, "CAIP-2 id, for a transaction id that exists on several networks; otherwise the newest is meant."),
};

export const paymentShape = z
  .object({
    state: z
      .enum(["claimed", "broadcast", "unknown", "settled", "failed"])
      .describe("claimed, broadcast and unknown end by themselves as settled or failed; unknown is no failure."),
    network: z.string(),
    transaction: z.string(),
    payer: z.string(),
    pay_to: z.string(),
    asset: z.string(),
    amount_atomic: z.string().describe("Whole base units of the asset."),
    resource_url: z.string().nullable(),
    error_reason: z.string().nullable(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().describe("From then on the payment can no longer land."),
    finished_at: z.iso.datetime().nullable(),
    explorer: z.string().nullable().describe("Where people look it up; null on a network without a public explorer."),
  })
  .meta({ id: "Payment" });
type PaymentState = z.infer<typeof paymentShape>;

/**
 * GET /payments/{transaction}: what became of one payment, by EVM hash or Hedera transaction id (`0.0.5@1.000000002`
 * or `0.0.5-1-000000002`). Throws ApiError 404 for whatever is not a payment this daemon has claimed.
 */
export async function payment(
  { db, config }: Pick<Context, "db"> & { readonly config: Explorers },
  given: string,
  { network }: Read<typeof paymentQuery>,
): Promise<PaymentState> {
  const transaction = normalise(given);
  // A claimed payment has no transaction yet; on Hedera its key is the id the payer gave it.
  const { rows } = await db.query({
    name: "payment-by-transaction",
    text: `
      select * from payments
       where (transaction_id = $1 or (network = any($2) and payment_key = $1)) and network = coalesce($3, network)
       order by created_at desc, id desc limit 1`,
    values: [transaction, hederaNetworks, network === undefined ? null : toCaip2(network)],
  });
  const row = rows[0];
  if (!row) throw new ApiError("not_found", `No payment is known with transaction ${transaction}.`);
  return {
    state: row.state,
    network: row.network,
    transaction,
    payer: row.payer,
    pay_to: row.pay_to,
    asset: row.asset,
    amount_atomic: row.amount_atomic.toString(),
    resource_url: row.resource_url,
    error_reason: row.error_reason,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    explorer: row.transaction_id === null ? null : explorerUrl(config, row.network, transaction),
  };
}

const hederaNetworks = ["hedera:mainnet", "hedera:testnet", "hedera:previewnet"];

function normalise(given: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(given)) return given.toLowerCase();
  const hedera = /^(0\.0\.\d{1,19})(?:@(\d{1,19})\.|-(\d{1,19})-)(\d{1,9})$/.exec(given);
  if (hedera) return `${hedera[1]}@${hedera[2] ?? hedera[3]}.${hedera[4]?.padStart(9, "0")}`;
  throw new ApiError("not_found", "A payment is found by its EVM transaction hash or its Hedera transaction id.");
}
