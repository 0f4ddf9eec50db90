import type { Migration } from "../../shared/migrate.ts";

export const emailChanges: Migration = {
  name: "0088-email-changes",
  sql: `
    -- The address that a person wants to be theirs, until a letter to it is answered. The newest alone holds. One that was answered
    -- stays until it expires, so that a second click finds it done.
    create table email_changes (
      user_id     text primary key references sign_in_users on delete cascade,
      email       text not null check (length(email) <= 254),
      token_hash  text not null unique,
      expires_at  timestamptz not null,
      done_at     timestamptz
    );

    -- Where a letter goes that is not for the address of today.
    alter table account_letters add column address text;
  `,
};
