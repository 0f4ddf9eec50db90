import type { Migration } from "../../shared/migrate.ts";

/** What a new or former self-payer ever paid moves some at a time: how far each move has come, and what it leaves where it is. */
export const selfPaymentMoves: Migration = {
  name: "0046-self-payment-moves",
  sql: `
    create table self_payment_moves (
      id uuid primary key default gen_random_uuid(),
      env text not null,
      payer text not null,
      status text not null,
      -- 1 into the self scopes, -1 out of them.
      sign smallint not null,
      -- Newer records are counted by what their payers are then.
      last_id bigint not null,
      -- Records from this place on are moved.
      before_at timestamptz not null default 'infinity',
      before_id bigint not null default 0
    );
    create table self_payment_moves_except (
      move_id uuid not null references self_payment_moves on delete cascade,
      transaction_id bigint not null,
      primary key (move_id, transaction_id)
    );`,
};
