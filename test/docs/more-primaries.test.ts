import pg from "pg";
import { expect, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";

/**
 * What keeps a table on one primary: a sequence counts for one, a trigger writes what may be another's, an unlogged table is
 * empty after a failover, and rows without a key can be neither found nor moved. These were there before; the lists may
 * only become shorter.
 */
const there = {
  facilitator: [
    ["keyless", ["payer_failures", "unlinked_records"]],
    ["sequence", ["discovery_resources", "payment_holds", "payments", "transactions", "uncounted_settlements"]],
    ["trigger", ["payments", "transactions"]],
    ["unlogged", ["call_counts", "payers_in_flight", "payment_holds"]],
  ],
  marketplace: [
    ["keyless", ["listing_names"]],
    ["sequence", ["agent_drafts", "operator_acts", "postings", "rewards"]],
    // What is published, and what no statement may change.
    [
      "trigger",
      [
        "accounts",
        "agents",
        "listing_words",
        "listings",
        "operator_act_accounts",
        "operator_acts",
        "payout_wallets",
        "postings",
      ],
    ],
    ["unlogged", ["rate_limits"]],
  ],
} as const;

const catalog = `
  select kind, array_agg(distinct name order by name) as tables
    from (select c.relname::text as name, unnest(array[
                   case when c.relpersistence = 'u' then 'unlogged' end,
                   case when not exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and i.indpred is null)
                        then 'keyless' end,
                   case when exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) then 'trigger' end,
                   case when exists (select from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
                                      where a.attrelid = c.oid
                                        and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval%'))
                        then 'sequence' end]) as kind
            from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname = 'public' and c.relkind in ('r', 'p') and c.relname not like 'knex_%') as found
   where kind is not null group by kind order by kind`;

test.each(["facilitator", "marketplace"] as const)(
  "the %s has no sequence, trigger, unlogged or keyless table but those that were there: more primaries stay possible",
  async (service) => {
    const client = new pg.Client({ connectionString: await freshDatabase(service) });
    await client.connect();
    try {
      const { rows } = await client.query<{ kind: string; tables: string[] }>(catalog);
      expect(rows.map(({ kind, tables }) => [kind, tables])).toEqual(there[service]);
    } finally {
      await client.end();
    }
  },
);
