import type { Migration } from "../../shared/migrate.ts";

/** How many payers a day had is counted as settlements are, so that nothing reads the records of a whole day for it. */
export const dailyPayers: Migration = {
  name: "0047-daily-payers",
  sql: `
    -- On which days an account paid, until the records of the day are archived.
    create table paying_days (
      payer    text not null,
      day      date not null,
      network  text not null,
      primary key (payer, day, network)
    );
    -- Of each network and environment: how many settlements are counted here. A day whose settlements are not all
    -- in has some from before this version. Of self-payers, as 'self <scope>': how often what is counted was changed.
    create table daily_payers (
      scope    text not null,
      day      date not null,
      counted  bigint not null,
      payers   bigint not null,
      primary key (scope, day)
    );
    -- How often it was changed when figures without self-payments were made.
    alter table daily_figures add column self_counted bigint not null default 0;
  `,
};
