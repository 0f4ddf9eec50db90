import type { Migration } from "../../shared/migrate.ts";

export const movedEarnings: Migration = {
  name: "0117-moved-earnings",
  sql: `
    -- What requests with an Idempotency-Key moved from an account's earnings to what it can spend, and what they were answered.
    create table moved_earnings (
      account_id       text not null,
      idempotency_key  text not null,
      amount           bigint not null,
      credits          bigint not null,
      earned_credits   bigint not null,
      moved_at         timestamptz not null default now(),
      primary key (account_id, idempotency_key)
    );
    create index moved_earnings_old on moved_earnings (moved_at);
  `,
};
