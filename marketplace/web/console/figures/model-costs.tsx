/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { TextField } from "../../../../shared/page/field.tsx";
import { figures } from "../../../../shared/page/figures.ts";
import { KeyValues } from "../../../../shared/page/table.tsx";
import type { OwnAgent } from "../../../agents/creator-agents.ts";
import type { ModelState } from "../../../models/model-funds.ts";
import { creditsOf } from "../../money.tsx";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { Seen } from "../seen.tsx";

/** Today's cost of the agent's model, which its creator is charged, and the most that a day may cost. */
export function ModelCosts({ agent, model, ownBudget, refusal }: ModelCostsProps) {
  if (!model) {
    return (
      <Card id="model" title="Model costs">
        <p class="small dim">This agent calls no model of this service, so that its runs cost you nothing.</p>
      </Card>
    );
  }
  const { credits_used_today: used, credits_per_day: most, credits_per_run: perRun } = model;
  return (
    <div class="cols cols-2 cols-even">
      <Card id="model" title="Model costs" aside={<span class="small faint">charged to you</span>}>
        {model.stopped_for && (
          <Callout tone="warn" title="It answers 503 at the moment">
            {`Why: ${model.stopped_for.replaceAll("_", " ")}.`}
          </Callout>
        )}
        <div class="stack stack-2">
          <div class="row between small num">
            <span>Today</span>
            <span>
              {figures(used)} of {creditsOf(most)}
            </span>
          </div>
          <progress
            class="meter"
            max={Math.max(1, most)}
            value={used}
            aria-label="Model costs today of the daily budget"
          />
        </div>
        <KeyValues
          entries={[
            ["A run", perRun === 0 ? "costs you nothing" : `costs you ${creditsOf(perRun)}`],
            ["Paid from", "the price of the run, and what that lacks from your spendable credits"],
          ]}
        />
      </Card>
      <BudgetCard slug={agent.slug} most={most} own={ownBudget} refusal={refusal} />
    </div>
  );
}

interface ModelCostsProps {
  readonly agent: OwnAgent;
  readonly model: ModelState | null;
  readonly ownBudget: number | null;
  readonly refusal: Refusal | undefined;
}

function BudgetCard({ slug, most, own, refusal: given }: BudgetCardProps) {
  const refusal = given?.act === "budget" ? given : undefined;
  const shown = own === null ? "" : String(own);
  return (
    <Card id="budget" title="Daily budget" bare>
      <form class="card-body stack" method="post" action={`/figures/${slug}`}>
        <ActField value="budget" />
        <RefusedNote refusal={refusal} fields={["credits_per_day"]} />
        <Seen values={{ credits_per_day: shown }} refusal={refusal} />
        <TextField
          id="credits_per_day"
          name="credits_per_day"
          label="At most a day"
          note="credits"
          inputMode="numeric"
          help={`When it is spent, buyers are answered 503 until 00:00 UTC and are not charged. Empty: what the operator says${own === null ? `, ${creditsOf(most)} now` : ""}.`}
          placeholder={own === null ? String(most) : undefined}
          value={refusal?.value("credits_per_day") ?? shown}
          error={refusal?.at("credits_per_day")}
        />
        <div class="row">
          <Button>Save</Button>
        </div>
      </form>
    </Card>
  );
}

interface BudgetCardProps {
  readonly slug: string;
  readonly most: number;
  /** Null: the operator's default holds. */
  readonly own: number | null;
  readonly refusal: Refusal | undefined;
}
