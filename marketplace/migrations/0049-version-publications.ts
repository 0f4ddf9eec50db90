import type { Migration } from "../../shared/migrate.ts";

export const versionPublications: Migration = {
  name: "0049-version-publications",
  sql: `
    -- When a version first went live: drafts are versions too, and are shown to their creator alone.
    alter table agent_versions add column published_at timestamptz;
    update agent_versions v set published_at = v.created_at
      from agents a where a.id = v.agent_id and a.live_version = v.version;
  `,
};
