import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import type { EvmChain } from "./chain.ts";
import { RpcError } from "./rpc.ts";
import { succeeded } from "./transfers.ts";

export interface CorrectionNeeds {
  readonly chain: Pick<EvmChain, "receipt">;
  readonly db: Database;
  readonly log: Log;
}

/** Payments of one address that the chain can no longer take back: their next nonces before `mined` that ended before `until`. */
export interface FinalPayments {
  readonly network: string;
  readonly address: string;
  readonly mined: bigint;
  readonly until: Date;
  readonly max: number;
}

/**
 * Records in which transaction settled payments landed where several were signed: after a reorganisation it may be another one than the
 * one that was seen and told. The payment is found by that one, too. One that did not land again is told to the operator.
 */
export async function correctTransactions({ chain, db, log }: CorrectionNeeds, final: FinalPayments): Promise<void> {
  const { network, address, mined, until, max } = final;
  const { rows } = await db.query({
    name: "replaced-transactions",
    text: replaced,
    values: [network, address, mined, until, max],
  });
  for (const { id, told, signed } of rows as Replaced[]) {
    const { landed, reverted } = await landing(chain, [told, ...signed.filter((hash) => hash !== told)]);
    if (landed === undefined && reverted) {
      log.error({ network, transaction: told }, "a settled payment was taken back and did not land again");
    } else if (landed !== undefined && landed !== told) {
      await db.query({ name: "correct-transaction", text: correct, values: [id, told, landed] });
    }
  }
}

interface Replaced {
  readonly id: bigint;
  readonly told: string;
  readonly signed: readonly string[];
}

/** Which of the transactions succeeded, and whether one was mined that did not. What a node does not know any more is none of both. */
async function landing(
  chain: Pick<EvmChain, "receipt">,
  hashes: readonly string[],
): Promise<{ landed?: string; reverted: boolean }> {
  let reverted = false;
  for (const hash of hashes) {
    const receipt = await chain.receipt(hash).catch((error: unknown) => {
      if (error instanceof RpcError) return undefined;
      throw error;
    });
    if (receipt && succeeded(receipt)) return { landed: hash, reverted };
    reverted ||= receipt !== undefined && receipt !== null;
  }
  return { reverted };
}

const replaced = `
  select p.id, p.transaction_id as told, p.signed_transactions as signed
    from signer_nonces s cross join lateral (
           select * from payments
            where network = s.network and fee_payer = s.address and nonce >= s.bytes_from and nonce < $3
            order by nonce limit $5) as p
   where s.network = $1 and s.address = $2 and p.state = 'settled' and not p.landed_by_another and p.finished_at < $4
     and cardinality(p.raw_transactions) > 1`;

/** Both were written at one moment. */
const correct = `
  with corrected as (
    update payments set transaction_id = $3, network_fee = null
     where id = $1 and state = 'settled' and transaction_id = $2
    returning network, finished_at
  )
  update transactions t set tx_id = $3
    from corrected c where t.network = c.network and t.status = 'settled' and t.created_at = c.finished_at and t.tx_id = $2`;
