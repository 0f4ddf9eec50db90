import type { Migration } from "../../shared/migrate.ts";

export const newestLinks: Migration = {
  name: "0103-newest-links",
  sql: `
    -- Of the links that were sent to an address, the newest of each asker (as in asked_links): it ends those of the same asker before it,
    -- and nobody else's. In place of sign_in_links, which the version before uses.
    create table newest_links (
      address     text not null,
      asker       text not null,
      token_hash  text not null,
      expires_at  timestamptz not null,
      primary key (address, asker)
    );
    create index newest_links_ended on newest_links (expires_at);
  `,
};
