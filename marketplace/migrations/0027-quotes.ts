import type { Migration } from "../../shared/migrate.ts";

export const quotes: Migration = {
  name: "0027-quotes",
  sql: `
    -- What quotes are authenticated with where no key is configured; one row, made by whichever copy starts first.
    create table quote_secret (
      one     boolean primary key default true check (one),
      secret  bytea not null
    );

    -- Signatures by which wallets were shown are good once: what was used, until it is too old to be used at all.
    create table wallets_shown (
      network     text not null,
      address     text not null,
      nonce       text not null,
      expires_at  timestamptz not null,
      primary key (network, address, nonce)
    );
    create index wallets_shown_ended on wallets_shown (expires_at);
  `,
};
