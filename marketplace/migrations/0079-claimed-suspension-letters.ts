import type { Migration } from "../../shared/migrate.ts";

export const claimedSuspensionLetters: Migration = {
  name: "0079-claimed-suspension-letters",
  sql: `
    -- A letter stays until it is sent. The copy that sends it holds it until this time; after that another copy may send it.
    alter table suspension_letters add column claimed_until timestamptz;
  `,
};
