import type { Migration } from "../../shared/migrate.ts";

export const operatorActs: Migration = {
  name: "0062-operator-acts",
  sql: `
    -- What operators did. Nothing of it is ever changed or deleted: a rule of the database holds every program to that.
    create table operator_acts (
      id           bigint generated always as identity primary key,
      at           timestamptz not null default now(),
      -- Null: from the command line.
      operator_id  text references accounts,
      act          text not null,
      subject      text not null check (length(subject) <= 300),
      credits      bigint check (credits > 0),
      -- What the account concerned is told.
      reason       text check (length(reason) <= 2000),
      -- For operators alone.
      note         text check (length(note) <= 2000)
    );
    create index operator_acts_newest on operator_acts (at desc, id desc);
    create index operator_acts_of_operator on operator_acts (operator_id, at desc, id desc);

    -- Whom an act concerned, and what it may know of what was acted on: null where that is another's.
    create table operator_act_accounts (
      account_id  text not null references accounts,
      act_id      bigint not null references operator_acts,
      shown       text,
      primary key (account_id, act_id)
    );

    create function refuse_change_of_acts() returns trigger language plpgsql as $$
    begin
      raise exception 'the audit log is append-only';
    end $$;
    create trigger operator_acts_stay before update or delete or truncate on operator_acts
      for each statement execute function refuse_change_of_acts();
    create trigger operator_act_accounts_stay before update or delete or truncate on operator_act_accounts
      for each statement execute function refuse_change_of_acts();
  `,
};
