/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../../shared/page/button.tsx";
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
      show: async ({ account }) => {
        const read = await readKeys(db, account.id);
        const isFull = read.keys.filter((key) => !key.revoked_at && key.client === null).length >= keysPerAccount;
        return {
          title: "API keys",
          lede: keysLede,
          aside: !isFull && (
            <ButtonLink look="primary" icon="plus" href="/settings/keys/new">
              Create key
            </ButtonLink>
          ),
          body: <KeyList {...read} />,
        };
      },
    },
  );
}

export async function readKeys(db: Database, accountId: AccountId): Promise<KeyListProps> {
  const [keys, spending] = await Promise.all([listKeys(db, accountId), readKeySpending(db, accountId)]);
  return { keys, spending };
}
