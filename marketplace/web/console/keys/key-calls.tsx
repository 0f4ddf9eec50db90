/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge, type Tone } from "../../../../shared/page/badge.tsx";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { SelectField, TextField } from "../../../../shared/page/field.tsx";
import { figures } from "../../../../shared/page/figures.ts";
import { Pagination } from "../../../../shared/page/pagination.tsx";
import { type Column, Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import { type CallsQuery, callStates, type KeyCall, type KeyCalls } from "../../../api-keys/calls.ts";
import type { RefusalReason } from "../../../api-keys/refused-calls.ts";
import { historyDays } from "../../../history-days.ts";
import type { AccountVisit } from "../console-page.tsx";

/** What was asked with a key, with filters in the address. */
export function Calls({ id, path, asked, found, has }: CallsProps) {
  const { calls, cursor } = found;
  const isFiltered = Boolean(asked.state || asked.agent || asked.day);
  return (
    <section class="stack" aria-labelledby="calls">
      <div class="row between">
        <h2 id="calls">Calls</h2>
        <span class="small faint">
          of {historyDays} days; what was refused cost nothing, and is counted by the minute.{" "}
          <a class="link" href={`/activity?key=${id}`}>
            By day and agent
          </a>
        </span>
      </div>
      <Filters path={path} asked={asked} isFiltered={isFiltered} />
      <div class="card">
        {calls.length > 0 ? (
          <Table label="Calls of this key" columns={columnsOf(has("/runs/{id}"))} rows={calls} />
        ) : (
          <Empty icon="activity" title={isFiltered || asked.cursor ? "None like that here" : "No call yet"}>
            {isFiltered ? "Older ones may follow." : "What this key asks for stands here a moment later."}
          </Empty>
        )}
      </div>
      {(cursor || asked.cursor) && (
        <Pagination
          label="Calls"
          first={asked.cursor && addressOf(path, asked)}
          next={cursor ? addressOf(path, asked, cursor) : undefined}
          said="Newest first"
        />
      )}
    </section>
  );
}

interface CallsProps {
  readonly id: string;
  readonly path: string;
  readonly asked: CallsQuery;
  readonly found: KeyCalls;
  readonly has: AccountVisit["has"];
}

function Filters({ path, asked, isFiltered }: Pick<CallsProps, "path" | "asked"> & { isFiltered: boolean }) {
  return (
    <form class="filter-row" method="get" action={path}>
      <SelectField
        id="state"
        name="state"
        label="Status"
        value={asked.state ?? ""}
        choices={[{ value: "", label: "Any" }, ...callStates.map((state) => ({ value: state, label: state }))]}
      />
      <TextField
        id="agent"
        name="agent"
        label="Agent"
        placeholder="ada/summarizer"
        maxLength={200}
        value={asked.agent}
      />
      <TextField id="day" name="day" type="date" label="Day (UTC)" value={asked.day} />
      <div class="row row-tight">
        <Button>Filter</Button>
        {isFiltered && (
          <ButtonLink look="ghost" href={path}>
            Clear
          </ButtonLink>
        )}
      </div>
    </form>
  );
}

function addressOf(path: string, { state, agent, day }: CallsQuery, cursor?: string): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ state, agent, day, cursor })) if (value) query.set(name, value);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

const tones: Readonly<Record<KeyCall["state"], Tone>> = {
  running: "info",
  succeeded: "ok",
  failed: "bad",
  lost: "warn",
  refused: "warn",
};

const reasons: Readonly<Record<RefusalReason, string>> = {
  rate_limit: "calls a minute",
  scope: "outside its scope",
  cap: "its cap",
  max_credits: "above max_credits",
  balance: "not enough credits",
};

/** `calls a minute, 12 times`. */
const whyRefused = (reason: RefusalReason, times: number) =>
  times === 1 ? reasons[reason] : `${reasons[reason]}, ${figures(times)} times`;

function columnsOf(hasRunPage: boolean): ReadonlyArray<Column<KeyCall>> {
  return [
    { head: "When", cell: (call) => <When call={call} hasRunPage={hasRunPage} /> },
    {
      head: "Status",
      cell: ({ state, error, reason, times }) => (
        <>
          <Badge tone={tones[state]} dot title={error ?? undefined}>
            {state}
          </Badge>
          {reason && <div class="small faint">{whyRefused(reason, times)}</div>}
        </>
      ),
    },
    {
      head: "Agent",
      hide: "small",
      cell: ({ agent, asked }) =>
        agent === null ? (
          <code class="faint">{asked ?? "several"}</code>
        ) : (
          <a class="link" href={`/${agent}`}>
            {agent}
          </a>
        ),
    },
    { head: "ms", isNumber: true, hide: "small", cell: ({ ms }) => (ms === null ? "–" : figures(ms)) },
    { head: "Credits", isNumber: true, cell: ({ credits_used: used }) => figures(used) },
    {
      head: "Run",
      hide: "small",
      cell: ({ run_id: id }) =>
        id === null ? (
          "–"
        ) : hasRunPage ? (
          <a class="link mono" href={`/runs/${id}`}>
            {shortId(id)}
          </a>
        ) : (
          <code title={id}>{shortId(id)}</code>
        ),
    },
  ];
}

/** On a phone this cell is the only link to the run, and names its agent. */
function When({
  call: { created_at: at, agent, asked, run_id: id },
  hasRunPage,
}: {
  call: KeyCall;
  hasRunPage: boolean;
}) {
  const ago = <Time at={at} show="ago" />;
  return (
    <>
      {id !== null && hasRunPage ? (
        <a class="link nowrap" href={`/runs/${id}`}>
          {ago}
        </a>
      ) : (
        <span class="nowrap">{ago}</span>
      )}
      <span class="cell-2 only-s mono">{agent ?? asked ?? "several"}</span>
    </>
  );
}

const shortId = (id: string) => `${id.slice(0, 8)}…${id.slice(-4)}`;
