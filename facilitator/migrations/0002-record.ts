import type { Migration } from "../../shared/migrate.ts";

export const record: Migration = {
  name: "0002-record",
  sql: `
    -- Serves every filter of the public record: one descent for each (network, status) asked for, newest first.
    create index transactions_by_network on transactions (network, status, created_at desc, id desc);
    drop index transactions_recent;

    -- What GET /stats adds up, so that it reads days and not records. A settlement is queued in the statement that
    -- records it and moved into the tables below in one transaction, so at every moment it is in exactly one of the two.
    create table uncounted_settlements (
      id             bigint generated always as identity primary key,
      network        text not null,
      day            date not null,
      status         text not null,
      payer          text,
      amount_atomic  numeric not null,
      total_ms       integer not null
    );

    create table daily_settlements (
      network        text not null,
      day            date not null,
      status         text not null,
      settlements    bigint not null,
      volume_atomic  numeric not null,
      primary key (network, day, status)
    );

    -- How often each duration occurred: first by span (the whole square root of the milliseconds, so both steps to
    -- the median are short), then by the millisecond.
    create table daily_settle_spans (
      network      text not null,
      day          date not null,
      span         integer not null,
      settlements  bigint not null,
      primary key (network, day, span)
    );
    create table daily_settle_times (
      network      text not null,
      span         integer not null,
      total_ms     integer not null,
      day          date not null,
      settlements  bigint not null,
      primary key (network, span, total_ms, day)
    );

    -- A scope is a network, or an environment with all its networks. Windows end today, so a payer is in one exactly
    -- when the payer's last day is.
    create table payer_days (
      scope  text not null,
      payer  text not null,
      day    date not null,
      primary key (scope, payer)
    );
    create table payers_by_last_day (
      scope   text not null,
      day     date not null,
      payers  bigint not null,
      primary key (scope, day)
    );

    create function queue_settlements() returns trigger language plpgsql as $$
    begin
      insert into uncounted_settlements (network, day, status, payer, amount_atomic, total_ms)
      select network, (created_at at time zone 'utc')::date, status, payer, coalesce(amount_atomic, 0), greatest(total_ms, 0)
        from recorded
       where kind = 'settle';
      return null;
    end $$;
    create trigger queue_settlements after insert on transactions
      referencing new table as recorded for each statement execute function queue_settlements();

    insert into uncounted_settlements (network, day, status, payer, amount_atomic, total_ms)
    select network, (created_at at time zone 'utc')::date, status, payer, coalesce(amount_atomic, 0), greatest(total_ms, 0)
      from transactions
     where kind = 'settle';
  `,
};
