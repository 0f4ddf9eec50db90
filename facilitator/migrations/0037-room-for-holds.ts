import type { Migration } from "../../shared/migrate.ts";

export const roomForHolds: Migration = {
  name: "0037-room-for-holds",
  sql: `
    -- A hold is written anew three times and then deleted: with room in its page for that, no index is written. For pages that are new.
    alter table payment_holds set (fillfactor = 30);
  `,
};
