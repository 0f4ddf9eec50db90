/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../../shared/page/button.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { duration, figures } from "../../../../shared/page/figures.ts";
import { Pagination } from "../../../../shared/page/pagination.tsx";
import { Table } from "../../../../shared/page/table.tsx";
import { momentOf } from "../../../../shared/page/time.tsx";
import type { OwnRun, OwnRunPage } from "../../../runs/own-runs.ts";
import { type ActivityAsked, activityPath } from "./activity-query.ts";
import { shortDay } from "./day-chart.tsx";
import { costOf, RunState, tookMs } from "./run-words.tsx";

/** The runs one by one, newest first, page by page. */
export function RunTable({ asked, page: { runs, cursor } }: { asked: ActivityAsked; page: OwnRunPage }) {
  return (
    <section class="card" aria-labelledby="runs-title" id="runs">
      <div class="card-head">
        <h2 id="runs-title">Runs</h2>
        <span class="small faint">{asked.day ? `on ${shortDay(asked.day)}, newest first` : "newest first"}</span>
      </div>
      {runs.length === 0 ? <NoRuns asked={asked} /> : <Rows runs={runs} />}
      {runs.length > 0 && (
        <div class="card-foot stack stack-2">
          <div class="grow">
            <Pagination
              label="Pages of runs"
              said={`${figures(runs.length)} on this page`}
              first={asked.cursorText && `${activityPath(asked, {})}#runs`}
              next={cursor ? `${activityPath(asked, { cursor })}#runs` : undefined}
            />
          </div>
          <p>{paidByWallet}</p>
        </div>
      )}
    </section>
  );
}

const paidByWallet =
  "Calls paid by a wallet belong to no account and are not here: their payment stands in the wallet and on its chain.";

function NoRuns({ asked: { key, agent, state, day, cursorText } }: { asked: ActivityAsked }) {
  if (key || agent || state || day || cursorText)
    return <Empty title="No run fits">Choose less, or clear the filters.</Empty>;
  return (
    <Empty icon="activity" title="Nothing run yet" action={<ButtonLink href="/explore">Find an agent</ButtonLink>}>
      Each run will stand here, with what it was asked, what it gave and what it cost. {paidByWallet}
    </Empty>
  );
}

function Rows({ runs }: { runs: readonly OwnRun[] }) {
  const isToday = (run: OwnRun) => run.created_at.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return (
    <Table
      label="Runs (table)"
      rows={runs}
      columns={[
        {
          head: "UTC",
          cell: (run) => (
            // On a phone it is the only way to the run.
            <>
              <a class="link" href={`/runs/${run.run_id}`}>
                <time datetime={run.created_at} title={momentOf(new Date(run.created_at))}>
                  {!isToday(run) && (
                    <>
                      <span class="nowrap">{shortDay(run.created_at.slice(0, 10))},</span>{" "}
                    </>
                  )}
                  <span class="nowrap">{run.created_at.slice(11, 19)}</span>
                </time>
              </a>
              <span class="cell-2 only-s mono">{run.agent}</span>
            </>
          ),
        },
        { head: "Outcome", cell: ({ state }) => <RunState state={state} /> },
        { head: "Agent", hide: "small", cell: ({ agent }) => <span class="mono">{agent}</span> },
        { head: "Key", hide: "medium", cell: ({ key }) => <span class="dim">{key?.name ?? "Website"}</span> },
        { head: "Took", isNumber: true, hide: "small", cell: (run) => duration(tookMs(run)) },
        { head: "Cost", isNumber: true, cell: costOf },
        {
          head: "Run",
          hide: "small",
          cell: ({ run_id: id }) => (
            <a class="link mono" href={`/runs/${id}`} title={id}>
              …{id.slice(-6)}
            </a>
          ),
        },
      ]}
    />
  );
}
