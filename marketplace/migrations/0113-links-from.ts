import type { Migration } from "../../shared/migrate.ts";

export const linksFrom: Migration = {
  name: "0113-links-from",
  sql: `
    -- E-mails with a link that were asked for in a day, to whatever mailbox, by who asked: an address, a /64 network or a site of such.
    create table links_from (
      client  text not null,
      day     date not null default current_date,
      links   integer not null default 1,
      primary key (client, day)
    );
  `,
};
