import type { Migration } from "../../shared/migrate.ts";

export const ledger: Migration = {
  name: "0006-ledger",
  sql: `
    -- What each kind of posting may move, and between which purses.
    alter table postings
      drop constraint postings_kind_check,
      drop constraint postings_check1,
      add constraint postings_shape check ((case kind
        when 'grant' then run_id is null and from_purse = 'platform:issued' and to_purse like 'spendable:%'
        when 'purchase' then run_id is null and reference is not null
          and from_purse = 'platform:issued' and to_purse like 'spendable:%'
        when 'transfer' then run_id is null and from_purse like 'earned:%'
          and to_purse = 'spendable:' || substr(from_purse, length('earned:') + 1)
        when 'hold' then from_purse like 'spendable:%' and to_purse = 'held:' || run_id
        when 'capture' then from_purse = 'held:' || run_id and to_purse like 'earned:%'
        when 'fee' then from_purse = 'held:' || run_id and to_purse = 'platform:fees'
        when 'release' then from_purse = 'held:' || run_id and to_purse like 'spendable:%'
        when 'reward' then run_id is not null and from_purse like 'spendable:%' and to_purse like 'spendable:%'
        else false
      end) is true);

    -- An account's statement: its spendable postings, in and out, newest first.
    create index postings_into on postings (to_purse, created_at) where to_purse like 'spendable:%';
    create index postings_out_of on postings (from_purse, created_at) where from_purse like 'spendable:%';
  `,
};
