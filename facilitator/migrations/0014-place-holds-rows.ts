import type { Migration } from "../../shared/migrate.ts";

export const placeHoldsRows: Migration = {
  name: "0014-place-holds-rows",
  sql: `
    -- A row a payment asked for, seldom more than a few. A function is taken to return a thousand rows, for which the
    -- payments it is joined to were read whole each time.
    alter function place_holds rows 4;
  `,
};
