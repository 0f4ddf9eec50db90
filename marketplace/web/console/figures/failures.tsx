/** @jsxRuntime automatic @jsxImportSource preact */
import { figures as format } from "../../../../shared/page/figures.ts";
import { Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { CreatorFigures } from "../../../agents/creator-figures.ts";
import { historyDays } from "../../../history-days.ts";

/** Why runs failed, as buyers were told, each cause with its newest run. */
export function Failures({ figures: { failures, failed, runs } }: { figures: CreatorFigures }) {
  return (
    <section class="card" aria-labelledby="failures-title">
      <div class="card-head">
        <h2 id="failures-title">Failures by cause</h2>
        <span class="small faint push num">
          {format(failed)} of {format(runs)}
        </span>
      </div>
      {failures.length === 0 ? (
        <div class="empty">
          <h3>{failed === 0 ? "No failure" : `No failure in the last ${historyDays} days`}</h3>
          <p>
            {failed === 0
              ? "What buyers are told when a run fails will stand here."
              : `What buyers were told is kept for ${historyDays} days.`}
          </p>
        </div>
      ) : (
        <Table
          label="Failures by cause (table)"
          rows={failures}
          columns={[
            { head: "Cause", cell: ({ cause }) => cause || "Not told" },
            { head: "Runs", isNumber: true, cell: ({ runs: count }) => format(count) },
            { head: "Last", isNumber: true, hide: "small", cell: ({ last_at: at }) => <Time at={at} show="ago" /> },
            { head: "Example", cell: ({ example, shared }) => <Example id={example} shared={shared} /> },
          ]}
        />
      )}
      <div class="card-foot">Buyers paid nothing for these. An example can be opened only if its buyer shares it.</div>
    </section>
  );
}

function Example({ id, shared }: { id: string; shared: string | null }) {
  const short = `…${id.slice(-6)}`;
  if (shared === null) {
    return (
      <span class="mono" title={id}>
        {short}
      </span>
    );
  }
  return (
    <a class="link mono" href={`/runs/shared/${shared}`} title={id}>
      {short}
    </a>
  );
}
