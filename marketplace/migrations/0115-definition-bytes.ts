import type { Migration } from "../../shared/migrate.ts";

export const definitionBytes: Migration = {
  name: "0115-definition-bytes",
  sql: `
    -- What an agent's versions take, as counted when the last one was added; null where none was since.
    alter table agents add column definition_bytes bigint;
  `,
};
