import type { Migration } from "../../shared/migrate.ts";

/** Late, because the version before looks for unfinished payments by this index. */
export const paymentsWithoutLeaseIndex: Migration = {
  name: "0031-payments-without-lease-index",
  late: true,
  online: ["drop index concurrently if exists payments_unfinished"],
};
