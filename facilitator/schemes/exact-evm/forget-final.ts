import { type CorrectionNeeds, correctTransactions, firstOpenNonce, nextPayments } from "./correct-transactions.ts";

const batchMax = 500;
const batchesMax = 40;
/** A chain's clock against the database's. */
const clocksDifferMs = 600_000;
/** On a chain that does not say what is final. */
const finalAfterMs = 24 * 3_600_000;

/**
 * Forgets what was signed for the payments of one address that the chain can no longer take back: those that ended before its newest
 * final block. Until then the bytes are needed, to be sent again after a reorganisation. In order of nonces, so that none is looked at twice;
 * by then it is known, too, in which transaction each landed.
 */
export async function forgetFinal(address: string, network: string, needs: CorrectionNeeds): Promise<void> {
  const { chain, db } = needs;
  const mined = await chain.transactionCount(address, "latest");
  const finalUntil = (await chain.finalUntil())?.getTime();
  const until = new Date(finalUntil === undefined ? Date.now() - finalAfterMs : finalUntil - clocksDifferMs);
  for (let batch = 0; batch < batchesMax; batch += 1) {
    await correctTransactions(needs, { network, address, mined, until, max: batchMax });
    const { rows } = await db.query({ name: "forget-final", text: forget, values: [network, address, mined, until] });
    if (rows[0]?.looked !== batchMax) return;
  }
}

/** Stops at the first nonce whose payment has not been final for that long. */
const forget = `
  with next as materialized (${nextPayments(String(batchMax))}), final as materialized (
    select id, nonce from next where is_final and nonce < ${firstOpenNonce}
  ), forgotten as (
    update payments p set raw_transactions = null from final
     where p.id = final.id and p.state in ('settled', 'failed') and p.raw_transactions is not null
  ), moved as (
    update signer_nonces set bytes_from = (select max(nonce) + 1 from final)
     where network = $1 and address = $2 and exists (select from final)
  )
  select count(*)::int as looked from final`;
