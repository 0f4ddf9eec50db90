import type { Migration } from "../../shared/migrate.ts";

export const discoveryPath: Migration = {
  name: "0005-discovery-path",
  sql: `
    -- The path behind a route template that was asked when the listing began; it has a say in who joins.
    alter table discovery_resources add column probe_url text not null default '';
  `,
};
