/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { createKey } from "../../../api-keys/create.ts";
import type { Config } from "../../../config.ts";
import { type KeyId, newId } from "../../../ids.ts";
import { cursorLink, vsCodeLink } from "../../agent/mcp-clients.ts";
import type { Page } from "../../page.ts";
import { ActField } from "../act-field.tsx";
import { type AccountVisit, type ConsoleView, consolePage } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { ShownOnce } from "../shown-once.tsx";
import { KeyFields, keyFields, keyOfForm } from "./key-fields.tsx";
import { KeyList } from "./key-list.tsx";
import { keysLede, readKeys } from "./keys-page.tsx";

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
}

/** Makes a key and shows it, once. */
export function newKeyPage(needs: Needs): Page {
  return consolePage(needs, {
    path: "/settings/keys/new",
    scriptBytesMax: 4_096,
    show: (_visit, refusal) => ({ title: "Create a key", lede: keysLede, body: <NewKeyForm refusal={refusal} /> }),
    acts: { create: (visit, form) => create(needs, visit, form) },
  });
}

async function create({ db, config }: Needs, { account }: AccountVisit, form: URLSearchParams): Promise<ConsoleView> {
  const wanted = keyOfForm(form);
  // The form carries the key's id, so that reloading the answer makes no second key.
  const id = /^key_[0-9a-z]{26}$/.test(form.get("id") ?? "") ? (form.get("id") as KeyId) : undefined;
  const made = await createKey(db, { ...wanted, id, accountId: account.id });
  return {
    title: "API keys",
    lede: keysLede,
    body: (
      <>
        <NewKey token={made.token} publicUrl={config.publicUrl} hasTools={wanted.scope !== "rest_only"} />
        <KeyList {...(await readKeys(db, account.id))} isNew={made.id} />
      </>
    ),
  };
}

function NewKey({ token, publicUrl, hasTools }: { token: string; publicUrl: string; hasTools: boolean }) {
  const header = `--header "Authorization: Bearer ${token}"`;
  const samples = [
    { name: ".env", children: `KEY=${token}` },
    { name: "curl", children: `curl -s ${publicUrl}/api/v1/balance \\\n  ${header}` },
    {
      name: "Claude Code",
      children: `claude mcp add --transport http marketplace \\\n  ${publicUrl}/api/mcp \\\n  ${header}`,
    },
  ];
  return (
    <ShownOnce
      title="Copy your new key now"
      said="It is shown this once. We keep a fingerprint of it, so even we cannot show it again."
      label="New API key"
      secret={token}
      samples={hasTools ? samples : samples.slice(0, 2)}
      done="/settings/keys"
    >
      {hasTools && (
        <div class="row row-3">
          <ButtonLink size="small" icon="cursor" href={cursorLink(publicUrl)}>
            Add to Cursor
          </ButtonLink>
          <ButtonLink size="small" icon="plug" href={vsCodeLink(publicUrl)}>
            Add to VS Code
          </ButtonLink>
          <span class="help">
            No link carries the key: VS Code asks for it, Cursor reads <code class="icode">KEY</code> from its
            environment.
          </span>
        </div>
      )}
    </ShownOnce>
  );
}

function NewKeyForm({ refusal }: { refusal: Refusal | undefined }) {
  return (
    <form class="stack stack-6 key-form" method="post" action="/settings/keys/new" data-busy="Creating">
      <ActField value="create" />
      <input type="hidden" name="id" value={newId("key")} />
      <RefusedNote refusal={refusal} fields={keyFields} />
      <KeyFields refusal={refusal} isNew />
      <div class="row">
        <Button look="primary">Create key</Button>
        <ButtonLink look="ghost" href="/settings/keys">
          Cancel
        </ButtonLink>
      </div>
    </form>
  );
}
