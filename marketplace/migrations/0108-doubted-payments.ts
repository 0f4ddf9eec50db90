import type { Migration } from "../../shared/migrate.ts";

export const doubtedPayments: Migration = {
  name: "0108-doubted-payments",
  sql: `
    -- The payment can no longer be used, and no facilitator tells whether it paid: no later refusal says that it has not.
    alter table paid_calls add column may_have_paid boolean not null default false;
  `,
};
