import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import { legalFor } from "../../payment-states.ts";
import { NetworkAwayError, type Outcome } from "../scheme.ts";
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

/** Payments that the node is asked about at the same time. */
const askedAtOnce = 20;
/** While a payment cannot be judged, nothing of its fee payer after it is forgotten, and only the next `max` are judged. */
const judgedWithinMs = 48 * 3_600_000;

/** SQL: when a payment ended. One that the chain had taken back landed anew after it was last seen to be missing. */
const endedAt = "greatest(finished_at, taken_back_at)";

/** SQL: the next payments of an address, with its network $1, itself $2, `mined` $3 and `until` $4, and whether each is final. */
export const nextPayments = (max: string) => `
  select p.*, coalesce(p.state in ('settled', 'failed') and p.ended_at < $4, false) as is_final
    from signer_nonces s cross join lateral (
           select *, ${endedAt} as ended_at from payments
            where network = s.network and fee_payer = s.address and nonce >= s.bytes_from and nonce < $3
            order by nonce limit ${max}) as p
   where s.network = $1 and s.address = $2`;

/** SQL: the first of `next` that is not final. */
export const firstOpenNonce = "coalesce((select min(nonce) from next where not is_final), 9223372036854775807)";

/**
 * Records what became of settled payments: after a reorganisation, also one that was over before anybody saw it, another transaction may
 * have landed than the one that was seen and told, or the same one may have reverted. The payment is found by the one told, too. One
 * that did not land again and no longer can has failed: the record says so, and the operator is told.
 */
export async function correctTransactions(needs: CorrectionNeeds, final: FinalPayments): Promise<void> {
  const { network, address, mined, until, max } = final;
  const { rows } = await needs.db.query({
    name: "replaced-transactions",
    text: replaced,
    values: [network, address, mined, until, max],
  });
  for (let from = 0; from < rows.length; from += askedAtOnce) {
    const asked = (rows as Replaced[]).slice(from, from + askedAtOnce);
    const landings = await Promise.all(asked.map((row) => landing(needs.chain, row)));
    for (const [index, { landed, reverted }] of landings.entries()) {
      const row = asked[index] as Replaced;
      if (landed !== undefined) await correct(needs.db, row, landed);
      else if (reverted || row.takenBack) await judgeLost(needs, network, row);
    }
  }
}

interface Replaced extends Asked {
  readonly id: bigint;
  readonly takenBack: boolean;
}

/** Which of the transactions succeeded, and whether one was mined that did not. What a node does not know any more is none of both. */
async function landing(
  chain: Pick<EvmChain, "receipt">,
  { transaction: told, signedTransactions: signed }: Replaced,
): Promise<{ landed?: string; reverted: boolean }> {
  let reverted = false;
  for (const hash of [told, ...signed.filter((one) => one !== told)]) {
    const receipt = await chain.receipt(hash).catch((error: unknown) => {
      if (error instanceof RpcError) return undefined;
      throw error;
    });
    if (receipt && succeeded(receipt)) return { landed: hash, reverted };
    reverted ||= receipt !== undefined && receipt !== null;
  }
  return { reverted };
}

async function judgeLost(needs: CorrectionNeeds, network: string, row: Replaced): Promise<void> {
  const { db, log } = needs;
  const outcome = await outcomeOf(needs, row);
  if (outcome.outcome === "settled") return correct(db, row, outcome.transaction, outcome.byAnother);
  if (outcome.outcome === "unknown") return judgeLater(needs, network, row, outcome.because);
  const message = `It was settled in ${row.transaction}, which a reorganisation of the chain took back. ${outcome.message}`;
  await db.query({
    name: "lose-to-chain",
    text: lost,
    values: [row.id, row.transaction, outcome.reason, message, outcome.retryable],
  });
  const facts = { network, transaction: row.transaction };
  log.error(facts, "a settled payment was taken back and did not land again; it is recorded as failed");
}

/** A node that cannot tell of one payment may well tell of the next. */
function outcomeOf({ chain, config }: CorrectionNeeds, row: Replaced): Promise<Outcome> {
  return findOutcome(chain, config, row).catch((error: unknown): Outcome => {
    if (!(error instanceof NetworkAwayError || error instanceof RpcError)) throw error;
    return { outcome: "unknown", transaction: row.transaction, because: error.message };
  });
}

/** Its signed bytes are kept, and it is looked at again; not for ever. */
async function judgeLater({ db, log }: CorrectionNeeds, network: string, row: Replaced, because: string | undefined) {
  const facts = { network, transaction: row.transaction, because };
  if (Date.now() - row.createdAt.getTime() > judgedWithinMs) {
    log.error(
      facts,
      "a settled payment that was taken back could not be judged for two days; it stays settled on record",
    );
    return;
  }
  log.warn(facts, "a settled payment that was taken back cannot be judged yet");
  await db.query("update payments set taken_back_at = now() where id = $1 and state = 'settled'", [row.id]);
}

async function correct(db: Database, { id, transaction: told }: Replaced, landed: string, byAnother = false) {
  if (landed === told) return;
  await db.query({ name: "correct-transaction", text: corrected, values: [id, told, landed, byAnother] });
}

/** Those after the first that is not final will be looked at again: until then only if something is known to have happened to them. */
const replaced = `
  with next as materialized (${nextPayments("$5")})
  select p.id, p.payment_key as key, p.pay_to as "payTo", p.amount_atomic as amount, p.fee_payer as "feePayer", p.nonce,
         p.transaction_id as transaction, p.signed_transactions as "signedTransactions", coalesce(p.raw_transactions, array[]::bytea[]) as raw,
         p.expires_at as "expiresAt", p.created_at as "createdAt", p.taken_back_at is not null as "takenBack"
    from next p
   where p.is_final and p.state = 'settled' and not p.landed_by_another
     and (cardinality(p.raw_transactions) > 1 or p.taken_back_at is not null or p.nonce < ${firstOpenNonce})
   order by p.nonce`;

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
       set state = 'failed', error_reason = $3, error_message = $4, retryable = $5 and expires_at > now(), delivered_at = null,
           taken_back_at = greatest(taken_back_at, finished_at)
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
