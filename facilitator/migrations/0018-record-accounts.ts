import type { Migration } from "../../shared/migrate.ts";

export const recordAccounts: Migration = {
  name: "0018-record-accounts",
  sql: `
    -- For the pages of one payer, one payee or one resource.
    create index transactions_by_payer on transactions (payer, created_at desc, id desc) where payer is not null;
    create index transactions_by_payee on transactions (pay_to, created_at desc, id desc) where pay_to is not null;
    create index transactions_by_resource on transactions (resource_url, created_at desc, id desc)
     where kind = 'settle' and resource_url is not null;

    -- Which record a queued settlement is: the totals below look there for the rest of it.
    alter table uncounted_settlements add column transaction_id bigint;
    create index uncounted_settlements_record on uncounted_settlements (transaction_id);
    create or replace function queue_settlements() returns trigger language plpgsql as $$
    begin
      insert into uncounted_settlements (network, day, status, payer, amount_atomic, total_ms, transaction_id)
      select network, (created_at at time zone 'utc')::date, status, payer, coalesce(amount_atomic, 0), greatest(total_ms, 0), id
        from recorded
       where kind = 'settle';
      return null;
    end $$;

    -- Who paid whom, of settled payments. An account is one over all networks of an environment.
    create table paid_pairs (
      env            text not null,
      payer          text not null,
      pay_to         text not null,
      settlements    bigint not null,
      volume_atomic  numeric not null,
      primary key (env, payer, pay_to)
    );
    create index paid_pairs_of_payee on paid_pairs (env, pay_to, settlements desc);
    create table accounts (
      env              text not null,
      account          text not null,
      paid             bigint not null,
      paid_volume      numeric not null,
      payees           bigint not null,
      first_payee      text,
      received         bigint not null,
      received_volume  numeric not null,
      payers           bigint not null,
      first_payer      text,
      first_at         timestamptz not null,
      last_at          timestamptz not null,
      -- By the rule in settlements/self-payments.ts. What is so paid is counted once more under the name 'self <scope>'.
      is_self_payer    boolean not null default false,
      primary key (env, account)
    );
    -- Records of before, to be added to the two tables in the background; empty when all are.
    create table unlinked_records (
      next_id  bigint not null,
      last_id  bigint not null
    );
    insert into unlinked_records select min(id), max(id) from transactions having count(*) > 0;

    create table resource_days (
      resource_url   text not null,
      network        text not null,
      day            date not null,
      settled        bigint not null,
      failed         bigint not null,
      volume_atomic  numeric not null,
      price_min      numeric,
      price_max      numeric,
      primary key (resource_url, network, day)
    );

    -- Why payments were refused or failed.
    create table daily_reasons (
      network   text not null,
      day       date not null,
      status    text not null,
      reason    text not null,
      payments  bigint not null,
      primary key (network, day, status, reason)
    );
    insert into daily_reasons
    select network, (created_at at time zone 'utc')::date, status, error_reason, count(*)
      from transactions
     where status = 'rejected' and error_reason is not null
     group by 1, 2, 3, 4;

    -- What cannot be added up from smaller figures, of one scope and day; made anew when the day's settlements change.
    create table daily_figures (
      scope        text not null,
      day          date not null,
      settlements  bigint not null,
      payers       bigint not null,
      p50_ms       integer,
      p95_ms       integer,
      primary key (scope, day)
    );
  `,
};
