import type { Migration } from "../../shared/migrate.ts";

export const signIn: Migration = {
  name: "0022-sign-in",
  sql: `
    -- People who sign in, as better-auth keeps them. Who came with a wallet alone has no e-mail address of their own and
    -- can have no account.
    create table sign_in_users (
      id              text primary key,
      name            text not null,
      email           text not null unique,
      email_verified  boolean not null,
      image           text,
      wallet_network  text,
      wallet_address  text,
      account_id      text unique references accounts,
      created_at      timestamptz not null default now(),
      updated_at      timestamptz not null default now(),
      check (wallet_address is null or account_id is null)
    );
    create table sign_in_sessions (
      id          text primary key,
      user_id     text not null references sign_in_users on delete cascade,
      token       text not null unique,
      expires_at  timestamptz not null,
      ip_address  text,
      user_agent  text,
      created_at  timestamptz not null default now(),
      updated_at  timestamptz not null default now()
    );
    create index sign_in_sessions_of_user on sign_in_sessions (user_id);
    create index sign_in_sessions_ended on sign_in_sessions (expires_at);
    create table sign_in_identities (
      id                        text primary key,
      user_id                   text not null references sign_in_users on delete cascade,
      account_id                text not null,
      provider_id               text not null,
      access_token              text,
      refresh_token             text,
      id_token                  text,
      access_token_expires_at   timestamptz,
      refresh_token_expires_at  timestamptz,
      scope                     text,
      password                  text,
      created_at                timestamptz not null default now(),
      updated_at                timestamptz not null default now(),
      unique (provider_id, account_id)
    );
    create index sign_in_identities_of_user on sign_in_identities (user_id);
    -- Links, challenges and the state of a sign-in elsewhere: good once and for minutes.
    create table sign_in_verifications (
      id          text primary key,
      identifier  text not null,
      value       text not null,
      expires_at  timestamptz not null,
      created_at  timestamptz not null default now(),
      updated_at  timestamptz not null default now()
    );
    create index sign_in_verifications_of on sign_in_verifications (identifier);
    create index sign_in_verifications_ended on sign_in_verifications (expires_at);

    -- Every handle that an account ever had stays its own: its links must never come to lead to another account.
    create table handles (
      handle      text primary key check (handle = lower(handle)),
      account_id  text not null references accounts,
      since       timestamptz not null default now()
    );
    create index handles_of_account on handles (account_id);
    insert into handles (handle, account_id, since) select lower(handle), id, created_at from accounts;
    alter table accounts add column handle_changed_at timestamptz;

    create function keep_handle() returns trigger language plpgsql as $$
    begin
      insert into handles (handle, account_id) values (lower(new.handle), new.id) on conflict do nothing;
      if (select account_id from handles where handle = lower(new.handle)) <> new.id then
        raise unique_violation using message = 'the handle is or was another account''s', constraint = 'accounts_handle';
      end if;
      return null;
    end $$;
    create trigger accounts_handle_kept after insert or update of handle on accounts
      for each row execute function keep_handle();

    create unique index agents_of_account on agents (account_id, lower(slug));

    -- Letters a day to one address, so that no mail box is filled.
    create table letters_sent (
      address  text not null,
      day      date not null default current_date,
      letters  integer not null default 1,
      primary key (address, day)
    );

    -- A wallet is asked to prove itself before it replaces the one that is paid now. 'unpayable': it proved itself, but
    -- the chain would not let it be paid when it was last looked at.
    alter table payout_wallets
      add column problem text,
      add column challenge text,
      add column challenge_expires_at timestamptz,
      add column looked_at timestamptz,
      drop constraint payout_wallets_state_check,
      add constraint payout_wallets_state_check check (state in ('unchecked', 'checked', 'unpayable', 'retired'));
    drop index payout_wallets_current;
    create unique index payout_wallets_current on payout_wallets (account_id, network)
      where state in ('checked', 'unpayable');
    create unique index payout_wallets_proposed on payout_wallets (account_id, network) where state = 'unchecked';
    create index payout_wallets_looked_at on payout_wallets (looked_at nulls first)
      where state in ('checked', 'unpayable');
  `,
};
