import type { Migration } from "../../shared/migrate.ts";

/** An agent's files, the newest first: of a creator with many, those of one agent were looked for among all. */
export const filesOfAgents: Migration = {
  name: "0106-files-of-agents",
  online: [
    "drop index concurrently if exists files_of_agent",
    "create index concurrently if not exists files_of_agent on files (agent_id, created_at desc, name) where agent_id is not null",
  ],
};
