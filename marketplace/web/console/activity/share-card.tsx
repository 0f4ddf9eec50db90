/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Copy } from "../../../../shared/page/copy.tsx";
import { Choice } from "../../../../shared/page/field.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import { historyDays } from "../../../history-days.ts";
import type { RunReport } from "../../../runs/own-run.ts";
import { ActField } from "../act-field.tsx";

/** Shares the run by a link, or ends that. */
export function ShareCard({ run, publicUrl }: { run: RunReport; publicUrl: string }) {
  const { run_id: id, share, state } = run;
  if (state === "running") return null;
  const link = share && `${publicUrl}/runs/shared/${share.token}`;
  return (
    <Card id="share" title="Share">
      {share && link ? (
        <>
          <p class="small dim">
            Shared <Time at={share.created_at} show="ago" />,{" "}
            {share.with_input ? "with its input" : "without its input"}. Anyone with the link sees the run; search
            engines are told to leave it out.
          </p>
          <p class="row row-tight">
            <a class="link icode" href={link}>
              {link}
            </a>
            <Copy label="Copy the link" text={link} />
          </p>
        </>
      ) : (
        <p class="small dim">
          Makes a link that cannot be guessed. It shows what the run gave, not who ran it, and ends when you revoke it,
          or with the run after {historyDays} days.
        </p>
      )}
      <form class="stack stack-3" method="post" action={`/runs/${id}`}>
        <ActField value="share" />
        {run.input && (
          <Choice
            name="with_input"
            value="true"
            checked={share?.with_input ?? false}
            label="Show the input too"
            help="Everything that the run was asked."
          />
        )}
        <div class="row">
          {!share && <Button icon="share">Make a link</Button>}
          {share && run.input && <Button>Save</Button>}
        </div>
      </form>
      {share && (
        <form method="post" action={`/runs/${id}`}>
          <ActField value="revoke" />
          <Button look="danger">Revoke the link</Button>
        </form>
      )}
    </Card>
  );
}
