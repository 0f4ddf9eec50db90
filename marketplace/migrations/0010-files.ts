import type { Migration } from "../../shared/migrate.ts";

export const files: Migration = {
  name: "0010-files",
  sql: `
    -- What the service stored and for whom; the bytes are in the file store under the same name.
    create table files (
      name        text primary key check (name ~ '^[0-9a-f]{64}\\.(png|jpg|webp|svg|pdf)$'),
      account_id  text not null references accounts,
      agent_id    text references agents,
      run_id      text,
      bytes       integer not null check (bytes >= 0),
      hidden_at   timestamptz,
      created_at  timestamptz not null default now()
    );
    create index files_of_account on files (account_id, created_at desc, name);
  `,
};
