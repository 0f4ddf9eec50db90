import type { Migration } from "../../shared/migrate.ts";

export const accountLetters: Migration = {
  name: "0077-account-letters",
  sql: `
    -- Letters that holders have still to be sent, of what was changed in how their account is entered. Each goes when it is sent.
    create table account_letters (
      id          uuid primary key default gen_random_uuid(),
      account_id  text not null references accounts,
      subject     text not null,
      text        text not null,
      since       timestamptz not null default now()
    );
    create index account_letters_of_account on account_letters (account_id);
  `,
};
