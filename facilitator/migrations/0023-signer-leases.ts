import type { Migration } from "../../shared/migrate.ts";

export const signerLeases: Migration = {
  name: "0023-signer-leases",
  sql: `
    -- The copies that serve a network, and with which fee payers; all leases of one end together when it falls silent.
    create table network_copies (
      network      text not null,
      copy         uuid not null,
      signers      text[] not null,
      lease_until  timestamptz not null,
      primary key (network, copy)
    ) with (fillfactor = 50);

    -- Which copy looks after a fee payer. Nothing that is paid depends on it.
    create table signer_leases (
      network  text not null,
      signer   text not null,
      holder   uuid,
      primary key (network, signer)
    );
  `,
};
