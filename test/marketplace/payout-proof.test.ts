import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { showProof } from "../../marketplace/proof/ledger-proof.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest();

/** Sold as if by `count` calls of an agent, forty in each moment. */
async function sell({ context }: TestMarketplace, agentId: string, count: number, from = 0) {
  await context.db.query(
    `insert into paid_calls (network, payment_key, product, call_digest, requirements, run_id, output, transaction_id, created_at)
     select 'eip155:84532', $1 || ':' || n, $1, '', json_build_object('asset', '0xusdc', 'amount', '10', 'payTo', '0xcreator'),
            'run_' || $1 || n, '{}', $1 || '-' || n, timestamptz '2026-01-01' + (n / 40) * interval '1 minute'
       from generate_series($2::integer, $3::integer) n`,
    [agentId, from, from + count - 1],
  );
}

async function seller({ context }: TestMarketplace, handle: string) {
  const creator = await createAccount(context.db, { handle });
  const agents = await Promise.all(
    ["one", "two"].map((slug) => publishAgent(context, creator, slug, { ...echoAgent, price_credits: 0 })),
  );
  await showProof(context.db, creator.id, true);
  return { ids: agents.map(({ agentId }) => agentId), path: `/api/creators/${handle}/proof` };
}

test("all payouts of a creator are shown once, page by page, however many were made in one moment", async ({
  market,
}) => {
  const { ids, path } = await seller(market, "small-seller");
  for (const id of ids) await sell(market, id, 100);
  const seen: string[] = [];
  const times: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { status, body } = await call(market.url, `${path}?limit=7${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ counted: 200, is_complete: true, totals: [{ payouts: 200, amount: "2000" }] });
    seen.push(...body.payouts.map(({ transaction }: { transaction: string }) => transaction));
    times.push(...body.payouts.map(({ at }: { at: string }) => at));
    cursor = body.cursor;
  }
  expect([seen.length, new Set(seen).size]).toEqual([200, 200]);
  expect(times).toEqual(times.toSorted().toReversed());
});

test("the totals of a seller are read once a minute, for however many visitors; the payouts as they are", async ({
  market,
}) => {
  const { ids, path } = await seller(market, "large-seller");
  await sell(market, ids[0]!, 12_000);
  const before = (await call(market.url, `${path}?limit=1`)).body;
  await sell(market, ids[1]!, 1, 30_000);
  const after = (await call(market.url, `${path}?limit=1`)).body;
  expect(after.totals).toEqual(before.totals);
  expect(after.totals_at).toBe(before.totals_at);
  expect(Date.now() - Date.parse(after.totals_at)).toBeLessThan(60_000);
  expect(after.payouts).not.toEqual(before.payouts);
  expect(before).toMatchObject({ counted: 10_000, is_complete: false });
});
