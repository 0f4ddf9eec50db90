import type { Migration } from "../../shared/migrate.ts";

export const keptLetters: Migration = {
  name: "0078-kept-letters",
  sql: `
    -- A letter stays until it is sent: who sends it has it until then, and afterwards another may. One of a passkey that is being
    -- added waits for it so, and goes without being sent when the passkey never came.
    alter table account_letters
      add column kind          text not null default 'other',
      add column claimed_until timestamptz,
      add column awaits        text;
  `,
};
