import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import { legalFor } from "../../payment-states.ts";
import type { EvmChain } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { type Asked, findOutcome } from "./find.ts";
import { RpcError } from "./rpc.ts";
import { succeeded } from "./transfers.ts";

export interface CorrectionNeeds {
  readonly chain: EvmChain;
  readonly config: Pick<EvmConfig, "confirmations">;
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

/** SQL: when a payment ended. One that the chain had taken back landed anew after it was last seen to be missing. */
export const endedAt = (table: string) => `greatest(${table}.finished_at, ${table}.taken_back_at)`;

/**
 * Records what became of settled payments of which several transactions were signed, or which the chain had taken back: after a
 * reorganisation another transaction may have landed than the one that was seen and told. The payment is found by that one, too. One
 * that did not land again and no longer can has failed: the record says so, and the operator is told.
 */
export async function correctTransactions(needs: CorrectionNeeds, final: FinalPayments): Promise<void> {
  const { network, address, mined, until, max } = final;
  const { rows } = await needs.db.query({
    name: "replaced-transactions",
    text: replaced,
    values: [network, address, mined, until, max],
  });
  for (const row of rows as Replaced[]) {
    const { transaction: told, signedTransactions: signed } = row;
    const { landed, reverted } = await landing(needs.chain, [told, ...signed.filter((hash) => hash !== told)]);
    if (landed !== undefined) await correct(needs.db, row, landed);
    else if (reverted || row.takenBack) await judgeLost(needs, network, row);
  }
}

interface Replaced extends Asked {
  readonly id: bigint;
  readonly takenBack: boolean;
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

/** Of one whose end is not known the signed bytes are kept, and it is looked at again. */
async function judgeLost({ chain, config, db, log }: CorrectionNeeds, network: string, row: Replaced): Promise<void> {
  const outcome = await findOutcome(chain, config, row);
  if (outcome.outcome === "settled") return correct(db, row, outcome.transaction, outcome.byAnother);
  if (outcome.outcome === "unknown") {
    await db.query("update payments set taken_back_at = now() where id = $1 and state = 'settled'", [row.id]);
    return;
  }
  const message = `It was settled in ${row.transaction}, which a reorganisation of the chain took back. ${outcome.message}`;
  await db.query({
    name: "lose-to-chain",
    text: lost,
    values: [row.id, row.transaction, outcome.reason, message, outcome.retryable],
  });
  const facts = { network, transaction: row.transaction };
  log.error(facts, "a settled payment was taken back and did not land again; it is recorded as failed");
}

async function correct(db: Database, { id, transaction: told }: Replaced, landed: string, byAnother = false) {
  if (landed === told) return;
  await db.query({ name: "correct-transaction", text: corrected, values: [id, told, landed, byAnother] });
}

const replaced = `
  select p.id, p.payment_key as key, p.pay_to as "payTo", p.amount_atomic as amount, p.fee_payer as "feePayer", p.nonce,
         p.transaction_id as transaction, p.signed_transactions as "signedTransactions", coalesce(p.raw_transactions, array[]::bytea[]) as raw,
         p.expires_at as "expiresAt", p.created_at as "createdAt", p.taken_back_at is not null as "takenBack"
    from signer_nonces s cross join lateral (
           select * from payments
            where network = s.network and fee_payer = s.address and nonce >= s.bytes_from and nonce < $3
            order by nonce limit $5) as p
   where s.network = $1 and s.address = $2 and p.state = 'settled' and not p.landed_by_another and ${endedAt("p")} < $4
     and (cardinality(p.raw_transactions) > 1 or p.taken_back_at is not null)`;

/** Both were written at one moment. */
const corrected = `
  with corrected as (
    update payments set transaction_id = $3, network_fee = null, landed_by_another = $4
     where id = $1 and state = 'settled' and transaction_id = $2
    returning network, finished_at
  )
  update transactions t set tx_id = $3
    from corrected c where t.network = c.network and t.status = 'settled' and t.created_at = c.finished_at and t.tx_id = $2`;

/** Where it is valid still, the same payment may be claimed again. What the totals have not counted yet, they count as failed. */
const lost = `
  with lost as (
    update payments
       set state = 'failed', error_reason = $3, error_message = $4, retryable = $5 and expires_at > now(), delivered_at = null
     where id = $1 and transaction_id = $2 and ${legalFor("loseToChain")}
    returning network, finished_at
  ), recorded as (
    update transactions t set status = 'failed', error_reason = $3
      from lost l where t.network = l.network and t.status = 'settled' and t.created_at = l.finished_at and t.tx_id = $2
    returning t.id
  ), waiting as (
    update uncounted_settlements u set status = 'failed' from recorded r where u.transaction_id = r.id returning r.id
  )
  insert into taken_back_settlements (transaction_id)
  select id from recorded where id not in (select id from waiting) on conflict do nothing`;
