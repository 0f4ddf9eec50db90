/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { callsQuery, listKeyCalls } from "../../../api-keys/calls.ts";
import { changeKey } from "../../../api-keys/change.ts";
import { type ListedKey, readKey, readKeySpending } from "../../../api-keys/list.ts";
import { readQuery } from "../../../query.ts";
import type { Page } from "../../page.ts";
import { ActField } from "../act-field.tsx";
import { type AccountVisit, type ConsoleView, consolePage, done } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { Seen } from "../seen.tsx";
import { Calls } from "./key-calls.tsx";
import { KeyFields, keyChangesOf, keyFields, shownSettings } from "./key-fields.tsx";
import { LastUsed, maskOf, Spent } from "./key-list.tsx";

/** One key: what it did, and what it may. */
export function keyPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path: "/settings/keys/{id}",
      scriptBytesMax: 4_096,
      notices: { changed: "Changed. It holds from the key’s next call on." },
      show: (visit, refusal) => shown(db, visit, refusal),
      acts: {
        change: async ({ account, params, path }, form) => {
          await changeKey(db, account.id, params.id ?? "", keyChangesOf(form));
          return done(path, "changed");
        },
      },
    },
  );
}

async function shown(db: Database, visit: AccountVisit, refusal: Refusal | undefined): Promise<ConsoleView> {
  const { account, query, path } = visit;
  const asked = readQuery(callsQuery, Object.fromEntries(query));
  const key = await keyOf(db, visit);
  const [calls, spending] = await Promise.all([
    listKeyCalls(db, account.id, key.id, asked),
    readKeySpending(db, account.id),
  ]);
  return {
    title: key.name,
    lede: <Summary listed={key} />,
    aside: !key.revoked_at && (
      <ButtonLink class="btn-danger" href={`${path}/revoke`}>
        Revoke
      </ButtonLink>
    ),
    body: (
      <>
        {!key.revoked_at && (
          <div>
            <Spent listed={key} spent={spending.get(key.id)} />
          </div>
        )}
        <Calls id={key.id} path={path} asked={asked} found={calls} has={visit.has} />
        {!key.revoked_at && <Settings listed={key} path={path} refusal={refusal} />}
      </>
    ),
  };
}

/** The key that the address names, revoked or not. 404 when it is another account's. */
export async function keyOf(db: Database, { account, params }: AccountVisit): Promise<ListedKey> {
  const key = await readKey(db, account.id, params.id ?? "");
  if (!key) throw new ApiError("not_found", "There is no such key.");
  return key;
}

function Summary({ listed }: { listed: ListedKey }) {
  return (
    <span class="key-meta">
      <code>{maskOf(listed)}</code>
      <span>
        made <Time at={listed.created_at} />
      </span>
      {listed.revoked_at ? (
        <span>
          revoked <Time at={listed.revoked_at} />
        </span>
      ) : (
        <LastUsed listed={listed} />
      )}
    </span>
  );
}

function Settings({ listed, path, refusal }: { listed: ListedKey; path: string; refusal: Refusal | undefined }) {
  return (
    <Card id="settings" title="Settings">
      <form class="stack stack-6 key-form" method="post" action={path} data-busy="Changing">
        <ActField value="change" />
        <RefusedNote refusal={refusal} fields={keyFields} />
        <Seen values={shownSettings(listed)} refusal={refusal} />
        <KeyFields isForClient={listed.client !== null} listed={listed} refusal={refusal} />
        <div class="row between row-4">
          <Button>Change key</Button>
          <p class="help">The key itself stays as it is. A new cap counts what was spent before it.</p>
        </div>
      </form>
    </Card>
  );
}
