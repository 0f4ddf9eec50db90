/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import type { RunReport } from "../../../runs/own-run.ts";
import { ActField } from "../act-field.tsx";

/** Puts a creator's own run on the agent's page, or takes it off. */
export function ExampleCard({ run: { run_id: id, agent }, isShown }: { run: RunReport; isShown: boolean }) {
  return (
    <Card id="example" title="Example">
      <p class="small dim">
        {isShown ? (
          <>
            It stands on{" "}
            <a class="link" href={`/${agent}#examples`}>
              the agent’s page
            </a>
            , with its input, for as long as you leave it there.
          </>
        ) : (
          "Buyers see on the agent’s page what it was asked here and what it gave. Every visitor can read both."
        )}
      </p>
      <form method="post" action={`/runs/${id}`}>
        <ActField value={isShown ? "no-example" : "example"} />
        <Button look={isShown ? "danger" : undefined}>{isShown ? "Take it off" : "Show it as an example"}</Button>
      </form>
    </Card>
  );
}
