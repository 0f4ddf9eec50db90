import type { Migration } from "../../shared/migrate.ts";

export const creatorAbout: Migration = {
  name: "0064-creator-about",
  sql: `
    -- What a creator says of themselves, for everybody.
    alter table accounts add column about text check (length(about) between 1 and 300);
  `,
};
