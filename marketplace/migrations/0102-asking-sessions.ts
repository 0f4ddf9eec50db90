import type { Migration } from "../../shared/migrate.ts";

export const askingSessions: Migration = {
  name: "0102-asking-sessions",
  sql: `
    -- The session that asked for the address: the change holds no longer than it. No reference, which would lock the sessions while it
    -- is made; an id is never used again. Null for what was asked of the version before, which has to be asked for again.
    alter table email_changes add column session_id text;
  `,
};
