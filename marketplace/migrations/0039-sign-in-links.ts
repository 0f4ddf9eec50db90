import type { Migration } from "../../shared/migrate.ts";

/** Of the links that were sent to an address, the newest: it ends those before it. */
export const signInLinks: Migration = {
  name: "0039-sign-in-links",
  sql: `
    create table sign_in_links (
      address     text primary key,
      token_hash  text not null,
      expires_at  timestamptz not null
    );
    create index sign_in_links_ended on sign_in_links (expires_at);
  `,
};
