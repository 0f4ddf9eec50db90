import type { Migration } from "../../shared/migrate.ts";

export const listingRequestSellers: Migration = {
  name: "0041-listing-request-sellers",
  sql: `
    -- The wallet and the host of what is to be listed, of which the queue holds a share only. Null: offered by a version that did not say.
    alter table discovery_offers add column seller text;
  `,
};
