import type { Migration } from "../../shared/migrate.ts";

export const claimedSuspensionLetters: Migration = {
  name: "0079-claimed-suspension-letters",
  sql: `
    -- A letter stays until it is sent: who sends it has it until then, and afterwards another may.
    alter table suspension_letters add column claimed_until timestamptz;
  `,
};
