/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { keysPerAccount } from "../../../api-keys/create.ts";
import { listKeys, readKeySpending } from "../../../api-keys/list.ts";
import type { AccountId } from "../../../ids.ts";
import type { Page } from "../../page.ts";
import { consolePage } from "../console-page.tsx";
import { KeyList, type KeyListProps } from "./key-list.tsx";

export const keysLede = "Up to five. Each has its own rate, caps and tools. Keep them on your server.";

/** The account's keys. */
export function keysPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path: "/settings/keys",
      scriptBytesMax: 4_096,
      notices: { revoked: "The key is revoked. Calls with it answer 401 from now on." },
      show: async ({ account, viewer }) => {
        const read = await readKeys(db, account.id);
        const inUse = read.keys.filter((key) => !key.revoked_at && key.client === null).length;
        return {
          title: "API keys",
          lede: keysLede,
          // Without a key the button stands where the first one will.
          aside: inUse > 0 && inUse < keysPerAccount && (
            <ButtonLink look="primary" icon="plus" href="/settings/keys/new">
              Create key
            </ButtonLink>
          ),
          body: (
            <>
              {inUse > 0 && viewer.spendable === 0n && <NoCredits />}
              <KeyList {...read} />
            </>
          ),
        };
      },
    },
  );
}

/** A key of an account without credits runs nothing that costs. */
function NoCredits() {
  return (
    <Callout tone="warn" title="This account has no credits">
      Its keys run free agents; all others answer 402.{" "}
      <a class="link" href="/settings/credits">
        Buy credits
      </a>
    </Callout>
  );
}

export async function readKeys(db: Database, accountId: AccountId): Promise<KeyListProps> {
  const [keys, spending] = await Promise.all([listKeys(db, accountId), readKeySpending(db, accountId)]);
  return { keys, spending };
}
