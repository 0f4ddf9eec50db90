import { randomUUID } from "node:crypto";
import type { Context } from "../../facilitator/context.ts";
import { refreshDailyFigures } from "../../facilitator/settlements/daily-figures.ts";
import { rollUpAll } from "../../facilitator/settlements/rollup.ts";
import type { Database } from "../../shared/postgres.ts";
import { type EvmSetting, evmSetting } from "../support/evm-facilitator.ts";
import { type RunningFacilitator, startFacilitator } from "../support/facilitator.ts";
import { insertRecords, type TestRecord } from "../support/records.ts";
import type { Seen } from "./browser.ts";
import { test as withChromium } from "./chromium.ts";

/** The daemon with forty days of record, and a browser to look at it. */
export interface FacilitatorSite extends RunningFacilitator, Seen {
  readonly context: Context;
  readonly setting: EvmSetting;
}

export const network = "eip155:84532";
export const account = (n: number) => `0x${n.toString(16).padStart(2, "0").repeat(20)}`;
export const hash = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;

/** Tests get `site`: one daemon for all files of a worker. */
export const test = withChromium.extend(
  "site",
  { scope: "worker" },
  async ({ chromium }, { onCleanup }): Promise<FacilitatorSite> => {
    const setting = await evmSetting({
      TRUST_PROXY_HOPS: "1",
      EIP155_84532_EXPLORER: "https://explorer.example.com",
      FACILITATOR_DISCOVERY_LOCALHOST: "true",
    });
    const facilitator = await startFacilitator(setting.variables);
    onCleanup(async () => {
      await facilitator.stop();
      await setting.stop();
    });
    await seed(facilitator.context, setting);
    return { ...facilitator, setting, chromium };
  },
);

const urls = [
  "https://rates.example.com/v1/latest",
  "https://maps.example.com/tiles/a",
  "https://papers.example.com/search",
];
const refused = [
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_payload_authorization_valid_before",
];

async function seed({ db, config }: Context, { terms }: EvmSetting): Promise<void> {
  await seedListings(db, terms.asset);
  const records: TestRecord[] = Array.from({ length: 400 }, (_, n) => {
    const status = n % 40 === 7 ? "failed" : n % 11 === 3 ? "rejected" : "settled";
    const payer = n % 3 === 0 ? account(200) : account(10 + (n % 25));
    return {
      network,
      status,
      kind: "settle",
      payer,
      payTo: payer === account(200) ? account(201) : account(100 + (n % 4)),
      amount: BigInt(10_000 + (n % 7) * 35_000),
      totalMs: 1_400 + ((n * 97) % 2_300),
      createdAt: new Date(Date.now() - ((n * 37) % 40) * 86_400_000 - n * 1_000),
      resourceUrl: urls[n % 3] as string,
      ...(status === "settled" && { txId: hash(n + 1) }),
      ...(status === "failed" && { txId: hash(n + 1), errorReason: "invalid_exact_evm_transaction_failed" }),
      ...(status === "rejected" && { errorReason: refused[n % 3] as string }),
    };
  });
  await insertRecords(db, [...records, { ...(records[0] as TestRecord), payer: account(201), payTo: account(200) }]);
  await db.query(
    `insert into daily_reasons select network, created_at::date, status, error_reason, count(*) from transactions
      where status = 'rejected' group by 1, 2, 3, 4`,
  );
  await rollUpAll(db, config.environmentOf, new AbortController().signal);
  await refreshDailyFigures(db, config.environmentOf, new AbortController().signal);
  await insertPayments(db, terms.asset);
  await seedBeats(db);
}

async function seedListings(db: Database, asset: string): Promise<void> {
  await db.query(
    `insert into discovery_resources (key, resource, type, x402_version, description, service_name, tags, bazaar, words, last_settled_at, probe_url, price_atomic)
     select u, u, 'http', 2, 'What it sells, in a sentence.', 'Service ' || n, '{}', '{"info":{"input":{"type":"http"}},"schema":{}}',
            to_tsvector('english', u), now() - n * interval '1 minute', u, 45000
       from unnest($1::text[]) with ordinality as listed (u, n)`,
    [urls],
  );
  const accepted = {
    scheme: "exact",
    network,
    amount: "45000",
    asset: asset,
    payTo: account(100),
    maxTimeoutSeconds: 60,
  };
  await db.query(
    `insert into discovery_accepts
     select r.id, 'exact', $1, lower($2), wallet, jsonb_set($4::jsonb, '{payTo}', to_jsonb(wallet)), '', now() from discovery_resources r cross join unnest($3::text[]) as wallet`,
    [network, asset, [100, 101, 201].map(account), JSON.stringify(accepted)],
  );
}

/** One of each state, found by `hash(9001)` and so on. */
async function insertPayments(db: Database, asset: string): Promise<void> {
  const states = ["settled", "failed", "unknown", "broadcast"];
  for (const [at, state] of states.entries()) {
    const ended = at < 2;
    await db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, resource_url,
                             transaction_id, error_reason, fee_payer, expires_at, lease_until, created_at, broadcast_at, finished_at, network_fee)
       values ($1, $2, $3, $4, 'exact', $5, $6, $7, 120000, 'https://rates.example.com/v1/latest', $8, $9, $5,
               now() + interval '2 hours', 'infinity', now() - interval '48 seconds', now() - interval '47.9 seconds', $10, $11)`,
      [
        network,
        `key${at}`,
        state,
        randomUUID(),
        account(11),
        account(101),
        asset,
        hash(9001 + at),
        state === "failed" ? "invalid_exact_evm_transaction_failed" : null,
        ended ? new Date(Date.now() - 45_500) : null,
        // As many digits as a fee in ether has.
        ended ? 91_177_638_239n : null,
      ],
    );
  }
}

async function seedBeats(db: Database): Promise<void> {
  await db.query(
    `insert into alive_minutes
     select s, (now() at time zone 'utc')::date - n,
            decode(case when n = 9 then repeat('ff', 150) || repeat('00', 30) when n = 20 and s <> 'facilitator' then repeat('ff', 178) || '0fff' else repeat('ff', 180) end, 'hex')
       from generate_series(1, 60) n cross join unnest(array['facilitator', $1]) s`,
    [network],
  );
  await db.query(
    "insert into outage_causes select $1, now() - n * interval '1 hour', 'away' from generate_series(480, 510) n",
    [network],
  );
  await db.query(
    `insert into fee_spending (network, fee_payer, day, spent, last_balance)
     select $1, fee_payer, (now() at time zone 'utc')::date - n, 210000000000000000, last_balance
       from (select fee_payer, last_balance from fee_spending where network = $1 limit 1) f cross join generate_series(1, 6) n
     on conflict do nothing`,
    [network],
  );
}
