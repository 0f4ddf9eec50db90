import type { Migration } from "../../shared/migrate.ts";

export const heartbeats: Migration = {
  name: "0019-heartbeats",
  sql: `
    create table copies (
      id            uuid primary key,
      started_at    timestamptz not null default now(),
      last_beat_at  timestamptz not null default now()
    );
    -- In which minutes of a UTC day something worked: 1440 bits. A subject is 'facilitator' or a network that settles.
    create table alive_minutes (
      subject  text not null,
      day      date not null,
      minutes  bytea not null,
      primary key (subject, day)
    ) with (fillfactor = 50);

    -- Payments whose holder fell silent and whose end the reconciler found.
    create table daily_reconciliations (
      network   text not null,
      day       date not null,
      outcome   text not null,
      payments  bigint not null,
      primary key (network, day, outcome)
    );

    -- When the newest signed transaction was stored to be sent.
    alter table payments add column broadcast_at timestamptz;

    -- By status too: an account's few failures are found among its many settlements.
    drop index transactions_by_payer, transactions_by_payee, transactions_by_resource;
    create index transactions_by_payer on transactions (payer, status, created_at desc, id desc) where payer is not null;
    create index transactions_by_payee on transactions (pay_to, status, created_at desc, id desc) where pay_to is not null;
    create index transactions_by_resource on transactions (resource_url, status, created_at desc, id desc)
     where resource_url is not null;
  `,
};
