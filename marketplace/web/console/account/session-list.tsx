/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { Button } from "../../../../shared/page/button.tsx";
import { noFigure } from "../../../../shared/page/figures.ts";
import { type Column, Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { ListedSession } from "../../../sign-in/own-sessions.ts";
import { ActField } from "../act-field.tsx";

/** Where the holder is signed in, each with a button that ends that session. */
export function SessionList({ sessions }: { sessions: readonly ListedSession[] }) {
  return (
    <section class="stack" aria-labelledby="sessions">
      <div class="row between">
        <h2 id="sessions">Sessions</h2>
        {sessions.length > 1 && (
          <form method="post" action="/settings/account">
            <ActField value="end-others" />
            <Button size="small">Sign out everywhere else</Button>
          </form>
        )}
      </div>
      <div class="card">
        <Table label="Where you are signed in" columns={columns} rows={sessions} />
        <p class="card-foot">Of the address you sign in from, its network is kept: a provider’s or an office’s.</p>
      </div>
    </section>
  );
}

const columns: ReadonlyArray<Column<ListedSession>> = [
  {
    head: "Device",
    cell: ({ device, from, is_this: isThis }) => (
      <>
        <span class="row">
          {device ?? "Unknown device"}
          {isThis && <Badge tone="info">this one</Badge>}
        </span>
        {from && <span class="cell-2 only-s mono">{from}</span>}
      </>
    ),
  },
  { head: "From", hide: "small", cell: ({ from }) => (from ? <span class="mono">{from}</span> : noFigure) },
  { head: "Signed in", hide: "small", cell: ({ created_at: at }) => <Time at={at} show="ago" /> },
  { head: "Last seen", cell: ({ is_this: isThis, seen_at: at }) => (isThis ? "now" : <Time at={at} />) },
  {
    head: <span class="vh">Sign out</span>,
    cell: ({ id, device, is_this: isThis }) =>
      !isThis && (
        <form method="post" action="/settings/account">
          <ActField value="end-session" />
          <input type="hidden" name="id" value={id} />
          <Button size="small" look="ghost" aria-label={`Sign out on ${device ?? "unknown device"}`}>
            Sign out
          </Button>
        </form>
      ),
  },
];
