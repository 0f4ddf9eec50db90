import type { Migration } from "../../shared/migrate.ts";

export const suspensionLetters: Migration = {
  name: "0058-suspension-letters",
  sql: `
    -- Letters that creators have still to be sent, of their account or an agent of theirs that was suspended. Each goes when it is sent.
    create table suspension_letters (
      account_id  text not null references accounts,
      -- A handle, or handle/slug.
      subject     text not null,
      reason      text,
      since       timestamptz not null default now(),
      primary key (account_id, subject)
    );
  `,
};
