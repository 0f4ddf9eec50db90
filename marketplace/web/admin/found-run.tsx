/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge, type Tone } from "../../../shared/page/badge.tsx";
import { Button } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import { KeyValues, Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Found } from "../../admin/find.ts";
import type { Refusal } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";
import { creditsOf } from "../money.tsx";
import { AccountLink } from "./account-link.tsx";

type Run = Found["runs"][number];

const runTones: Readonly<Record<Run["state"], Tone>> = { running: "info", succeeded: "ok", failed: "bad", lost: "bad" };

/** A run without its input, which an operator reads for a reason that is kept. */
export function RunCard({ run, sought, refusal }: { run: Run; sought: string; refusal: Refusal | undefined }) {
  const mine = refusal?.value("run") === run.run_id ? refusal : undefined;
  return (
    <Card
      id={run.run_id}
      title={<span class="mono">{run.run_id}</span>}
      aside={
        <Badge tone={runTones[run.state]} dot>
          {run.state}
        </Badge>
      }
    >
      <KeyValues
        lines
        entries={[
          [
            "Agent",
            <>
              <a class="link mono" href={`/admin/agents/${run.agent}`}>
                {run.agent}
              </a>{" "}
              version {run.agent_version}
            </>,
          ],
          ["Buyer", run.buyer ? <AccountLink handle={run.buyer} /> : "wallet, no account"],
          ["Key", run.key_id ? <code>{run.key_id}</code> : "none: signed in, or a wallet"],
          ["Price", creditsOf(run.price_credits)],
          ["Begun", <Time at={run.created_at} show="moment" />],
          ["Ended", run.finished_at ? <Time at={run.finished_at} show="moment" /> : "not yet"],
          ...(run.error === null ? [] : ([["Said", run.error]] as const)),
        ]}
      />
      {run.postings.length > 0 && (
        <Table
          label="Credits posted"
          rows={run.postings}
          columns={[
            { head: "Posting", cell: ({ id }) => <code>{id}</code> },
            { head: "Kind", cell: ({ kind }) => kind.replaceAll("_", " ") },
            { head: "Credits", isNumber: true, cell: ({ credits }) => credits },
          ]}
        />
      )}
      {run.input_kept ? (
        <ReadInputForm run={run} sought={sought} refusal={mine} />
      ) : (
        <p class="small dim">Its input was not kept.</p>
      )}
    </Card>
  );
}

/** Asks for the reason to read a run's input, which the audit log keeps. */
function ReadInputForm({ run, sought, refusal }: { run: Run; sought: string; refusal: Refusal | undefined }) {
  return (
    <form class="stack" method="post" action={`/admin?id=${encodeURIComponent(sought)}`} data-busy="Reading">
      <input type="hidden" name="act" value="read_input" />
      <input type="hidden" name="run" value={run.run_id} />
      <RefusedNote refusal={refusal} fields={["note"]} />
      <TextField
        id={`${run.run_id}-note`}
        name="note"
        label="Why its input must be read"
        help="For operators alone. The buyer sees that it was read."
        maxLength={2_000}
        required
        value={refusal?.value("note")}
        error={refusal?.at("note")}
      />
      <div class="row">
        <Button>Read the input</Button>
      </div>
    </form>
  );
}
