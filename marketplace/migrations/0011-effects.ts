import type { Migration } from "../../shared/migrate.ts";

export const effects: Migration = {
  name: "0011-effects",
  sql: `
    -- What runs do that cannot be taken back, written down before it is done: the run's own id, or the payment that
    -- pays for it, is the key, so that repeating a paid call does not repeat its effect. open: not known yet.
    create table effects (
      key              text primary key,
      run_id           text not null,
      agent_id         text not null references agents,
      network          text,
      -- In the order they are sent; the last one decides.
      transaction_ids  text[] not null default '{}',
      -- When the ledger stops taking the last one.
      valid_until      timestamptz,
      -- What it spends, in base units; counted against the day's cap until it is void.
      asset            text,
      amount           numeric(40) not null default 0 check (amount >= 0),
      state            text not null check (state in ('open', 'done', 'void')),
      -- What the receipt says before the ledger has answered.
      promised         json not null,
      output           json,
      receipt          json,
      created_at       timestamptz not null default now(),
      updated_at       timestamptz not null default now(),
      check ((state = 'done') = (output is not null))
    );
    create index effects_of_run on effects (run_id);
    create index effects_open on effects (valid_until) where state = 'open';
    create index effects_spent on effects (agent_id, created_at) where state <> 'void';

    -- One row a reward: once per post and once per author, within an agent, as long as it was not undone.
    create table rewards (
      id          bigint generated always as identity primary key,
      agent_id    text not null references agents,
      effect_key  text not null references effects,
      run_id      text not null,
      post_id     text not null,
      author_id   text not null,
      username    text not null,
      recipient   text not null,
      asset       text not null,
      amount      numeric(40) not null check (amount > 0),
      state       text not null check (state in ('claimed', 'paid', 'void')),
      created_at  timestamptz not null default now()
    );
    create unique index rewards_once_per_post on rewards (agent_id, post_id) where state <> 'void';
    create unique index rewards_once_per_author on rewards (agent_id, author_id) where state <> 'void';
    create index rewards_by_agent on rewards (agent_id, created_at desc, id);
    create index rewards_of_effect on rewards (effect_key);
  `,
};
