/** @jsxRuntime automatic @jsxImportSource preact */

import { Button } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import { Pagination } from "../../../shared/page/pagination.tsx";
import { Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { noteAs } from "../../admin/act-on.ts";
import { type Act, actsQuery, listActs } from "../../admin/acts.ts";
import { readQuery } from "../../query.ts";
import type { Refusal } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";
import { creditsOf } from "../money.tsx";
import type { Page } from "../page.ts";
import { operatorPage } from "./operator-page.tsx";

/** What operators did, and a place for a note. */
export function auditLogPage({ db }: { readonly db: Database }): Page {
  return operatorPage(
    { db },
    {
      path: "/admin/log",
      scriptBytesMax: 4_096,
      notices: { noted: "The note is in the log." },
      show: async ({ query }, refusal) => {
        const [operator, cursor] = [query.get("operator") ?? "", query.get("cursor") ?? ""];
        const page = await listActs(db, readQuery(actsQuery, { operator, cursor, limit: "50" }));
        const next = new URLSearchParams({ operator, cursor: page.cursor ?? "" });
        return {
          title: "Audit log",
          lede: "Append-only; the account concerned sees its acts, without notes.",
          body: (
            <div class="stack stack-6">
              <form class="row row-tight">
                <input
                  class="input grow"
                  name="operator"
                  value={operator}
                  aria-label="Operator"
                  placeholder="Every operator"
                  maxLength={30}
                />
                <Button>Show</Button>
              </form>
              {page.acts.length === 0 ? (
                <Empty title="Nothing was done yet" />
              ) : (
                <div class="card">
                  <ActTable acts={page.acts} />
                </div>
              )}
              {(page.cursor || cursor) && (
                <Pagination
                  label="Pages"
                  said={`${page.acts.length} acts`}
                  first={cursor ? `/admin/log?${new URLSearchParams({ operator })}` : undefined}
                  next={page.cursor ? `/admin/log?${next}` : undefined}
                />
              )}
              <NoteForm refusal={refusal} />
            </div>
          ),
        };
      },
      acts: {
        note: async ({ operator }, form) => {
          await noteAs(db, operator, { on: form.get("on") ?? "", note: form.get("note") ?? "" });
          return { redirect: "/admin/log?done=noted" };
        },
      },
    },
  );
}

export function ActTable({ acts }: { acts: readonly Act[] }) {
  return (
    <Table
      label="Audit log (table)"
      rows={acts}
      columns={[
        { head: "UTC", cell: ({ at }) => <Time at={at} show="moment" /> },
        { head: "Operator", hide: "small", cell: operatorOf },
        {
          head: "Act",
          cell: (act) => (
            <>
              {said(act)}
              <span class="cell-2 only-s">{operatorOf(act)}</span>
            </>
          ),
        },
        {
          head: "On",
          cell: ({ subject }) => (
            <span class="mono" title={subject}>
              {short(subject)}
            </span>
          ),
        },
        {
          head: "Why",
          hide: "medium",
          cell: ({ reason, note }) => <span class="dim">{[reason, note].filter(Boolean).join("; ") || "–"}</span>,
        },
      ]}
    />
  );
}

const operatorOf = ({ operator }: Act) => operator ?? "command line";

function said({ act, credits }: Act): string {
  const words = act.replaceAll("_", " ");
  return credits === null ? words : `${words} ${creditsOf(credits)}`;
}

const short = (subject: string) => (subject.length > 26 ? `${subject.slice(0, 10)}…${subject.slice(-8)}` : subject);

function NoteForm({ refusal }: { refusal: Refusal | undefined }) {
  return (
    <Card id="write-note" title="Write a note" bare>
      <form class="card-body stack" method="post" action="/admin/log" data-busy="Writing">
        <input type="hidden" name="act" value="note" />
        <RefusedNote refusal={refusal} fields={["on", "note"]} />
        <TextField
          id="on"
          name="on"
          label="On"
          required
          maxLength={300}
          help="An id, an address, or in words."
          value={refusal?.value("on")}
          error={refusal?.at("on")}
        />
        <TextField
          id="note"
          name="note"
          label="Note"
          required
          maxLength={2_000}
          help="For operators alone, and for good."
          value={refusal?.value("note")}
          error={refusal?.at("note")}
        />
        <div class="row">
          <Button look="primary">Write</Button>
        </div>
      </form>
    </Card>
  );
}
