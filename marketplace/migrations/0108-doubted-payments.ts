import type { Migration } from "../../shared/migrate.ts";

export const doubtedPayments: Migration = {
  name: "0108-doubted-payments",
  sql: `
    -- The payment's nonce was found used, and no facilitator tells by what: no later refusal says that it has not paid.
    alter table paid_calls add column may_have_paid boolean not null default false;
  `,
};
