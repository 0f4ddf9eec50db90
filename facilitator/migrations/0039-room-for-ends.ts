import type { Migration } from "../../shared/migrate.ts";

export const roomForEnds: Migration = {
  name: "0039-room-for-ends",
  sql: `
    -- A block of a chain ends many payments of one page at once: with room in it for all of them, no index is written. For pages that are new.
    alter table payments set (fillfactor = 50);
  `,
};
