/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Badge, type Tone } from "../../../shared/page/badge.tsx";
import { Button } from "../../../shared/page/button.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { Select } from "../../../shared/page/field.tsx";
import { Pagination } from "../../../shared/page/pagination.tsx";
import type { Database } from "../../../shared/postgres.ts";
import type { Page } from "../page.ts";
import { operatorPage } from "./operator-page.tsx";

/** A list of things in any state, found by how their names begin, page by page. */
export function listPage<T>(db: Database, { path, title, label, states, one, list, table }: ListProps<T>): Page {
  return operatorPage(
    { db },
    {
      path,
      scriptBytesMax: 4_096,
      show: async ({ query }) => {
        const asked = {
          q: query.get("q") ?? "",
          state: query.get("state") ?? "",
          cursor: query.get("cursor") ?? "",
        };
        const { rows, cursor } = await list(asked);
        const at = (cursor: string) => `${path}?${new URLSearchParams({ ...asked, cursor })}`;
        return {
          title,
          lede: "In any state, newest first.",
          body: (
            <div class="stack">
              <Filter q={asked.q} state={asked.state} label={label} states={states} />
              {rows.length === 0 ? <Empty title={`No ${one} is like that`} /> : table(rows)}
              {(cursor || asked.cursor) && (
                <Pagination
                  label="Pages"
                  said={`${rows.length} ${one}s`}
                  first={asked.cursor ? at("") : undefined}
                  next={cursor ? at(cursor) : undefined}
                />
              )}
            </div>
          ),
        };
      },
    },
  );
}

interface ListProps<T> {
  readonly path: string;
  readonly title: string;
  /** Label of the search field. */
  readonly label: string;
  readonly states: readonly string[];
  /** The word for one row. */
  readonly one: string;
  list(
    asked: Readonly<Record<string, string>>,
  ): Promise<{ readonly rows: readonly T[]; readonly cursor: string | null }>;
  table(rows: readonly T[]): ComponentChildren;
}

const tones: Readonly<Record<string, Tone>> = { live: "ok", suspended: "bad", open: "ok" };

export function StateBadge({ state }: { state: string }) {
  return (
    <Badge tone={tones[state]} dot>
      {state}
    </Badge>
  );
}

/** By the beginning of a name and by state; without JavaScript too. */
function Filter({ q, state, label, states }: { q: string; state: string; label: string; states: readonly string[] }) {
  const choices = [{ value: "", label: "Any state" }, ...states.map((value) => ({ value, label: value }))];
  return (
    <form class="row">
      <input
        class="input grow"
        name="q"
        value={q}
        aria-label={label}
        placeholder={label}
        maxLength={80}
        spellcheck={false}
      />
      <Select name="state" aria-label="State" value={state} choices={choices} />
      <Button>Show</Button>
    </form>
  );
}
