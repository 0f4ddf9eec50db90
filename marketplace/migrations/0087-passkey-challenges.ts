import type { Migration } from "../../shared/migrate.ts";

export const passkeyChallenges: Migration = {
  name: "0087-passkey-challenges",
  sql: `
    -- What a session's browser was asked to sign with a passkey, to show who sits there. The newest alone holds, and once.
    create table passkey_challenges (
      session_id  text primary key references sign_in_sessions on delete cascade,
      challenge   text not null,
      expires_at  timestamptz not null
    );
  `,
};
