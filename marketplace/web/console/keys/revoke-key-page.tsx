/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import type { ListedKey } from "../../../api-keys/list.ts";
import { revokeKey } from "../../../api-keys/revoke.ts";
import type { Page } from "../../page.ts";
import { ActField } from "../act-field.tsx";
import { consolePage, done } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { keyOf } from "./key-page.tsx";

/** Asks before a key is revoked, and says what will stop. */
export function revokeKeyPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path: "/settings/keys/{id}/revoke",
      scriptBytesMax: 4_096,
      show: async (visit, refusal) => {
        const key = await keyOf(db, visit);
        if (key.revoked_at) throw new ApiError("not_found", "There is no such active key.");
        return { title: `Revoke “${key.name}”?`, body: <Question listed={key} refusal={refusal} /> };
      },
      acts: {
        revoke: async ({ account, params }) => {
          await revokeKey(db, account.id, params.id ?? "");
          return done("/settings/keys", "revoked");
        },
      },
    },
  );
}

function Question({ listed, refusal }: { listed: ListedKey; refusal: Refusal | undefined }) {
  const { id, last_used_at: used } = listed;
  return (
    <div class="stack measure">
      <RefusedNote refusal={refusal} />
      <p>
        Calls with it answer 401 within a second.{" "}
        {used ? (
          <>
            It was used <Time at={used} show="ago" />, so something may still depend on it.
          </>
        ) : (
          "It was never used."
        )}{" "}
        This cannot be undone.
      </p>
      <form class="row" method="post" action={`/settings/keys/${id}/revoke`}>
        <ActField value="revoke" />
        <ButtonLink href="/settings/keys">Keep it</ButtonLink>
        <Button look="danger-solid">Revoke key</Button>
      </form>
    </div>
  );
}
