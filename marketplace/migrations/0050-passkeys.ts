import type { Migration } from "../../shared/migrate.ts";

/** Passkeys (WebAuthn) of people who sign in, as better-auth keeps them. */
export const passkeys: Migration = {
  name: "0050-passkeys",
  sql: `
    create table sign_in_passkeys (
      id             text primary key,
      user_id        text not null references sign_in_users on delete cascade,
      name           text not null,
      credential_id  text not null unique,
      public_key     text not null,
      -- Of 32 bits without a sign; a type that the driver reads as a number.
      counter        double precision not null,
      device_type    text not null,
      backed_up      boolean not null,
      transports     text,
      aaguid         text,
      created_at     timestamptz not null default now(),
      used_at        timestamptz
    );
    create index sign_in_passkeys_of_user on sign_in_passkeys (user_id, created_at);
  `,
};
