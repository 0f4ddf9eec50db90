import type { Migration } from "../../shared/migrate.ts";

export const debts: Migration = {
  name: "0031-debts",
  sql: `
    -- Calls whose payment is settled and that have no result yet: what an agent owes. A row goes when a run has succeeded.
    create table debts (
      network         text not null,
      payment_key     text not null,
      agent_id        text not null references agents,
      payer           text,
      transaction_id  text not null,
      asset           text not null,
      amount          text not null,
      -- Why there is no result, where a run or a check before it has told.
      error           text,
      created_at      timestamptz not null default now(),
      updated_at      timestamptz not null default now(),
      primary key (network, payment_key)
    );
    create index debts_of_agent on debts (agent_id, created_at desc);
  `,
};
