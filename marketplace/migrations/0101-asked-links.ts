import type { Migration } from "../../shared/migrate.ts";

export const askedLinks: Migration = {
  name: "0101-asked-links",
  sql: `
    -- Beside letters_sent, which counts what a mailbox was sent whoever asked: who asked for it, so that nobody uses up all of a
    -- mailbox's links. An asker is an address, a /64 network, or browsers that signed in to the mailbox.
    create table asked_links (
      mailbox  text not null,
      asker    text not null,
      day      date not null default current_date,
      links    integer not null default 1,
      primary key (mailbox, asker, day)
    );
  `,
};
