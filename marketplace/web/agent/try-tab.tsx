/** @jsxRuntime automatic @jsxImportSource preact */

import { Button, GoLink } from "../../../shared/page/button.tsx";
import { Copy } from "../../../shared/page/copy.tsx";
import { Dialog } from "../../../shared/page/dialog.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { duration } from "../../../shared/page/figures.ts";
import { KeyValues } from "../../../shared/page/table.tsx";
import type { Category } from "../../agents/category.ts";
import { figuresDays } from "../../agents/count-runs.ts";
import type { ListedAgent } from "../../agents/list.ts";
import { creditsOf, usdcOf } from "../money.tsx";
import { AgentCard } from "./agent-card.tsx";
import { Examples } from "./examples.tsx";
import { extraField } from "./form-input.ts";
import { InputFields } from "./input-fields.tsx";
import { PayCard } from "./pay-card.tsx";
import { ResultCard } from "./result-card.tsx";
import type { ShownAgent } from "./shown-agent.ts";
import type { Tried } from "./tried.ts";

/** The form, three ways to pay it, and what came of it. It is whole without JavaScript; an island makes it live. */
export function TryTab({ tried }: { tried: Tried }) {
  const { shown, publicUrl, demoWallet } = tried;
  const { detail, agent } = shown;
  const price = detail.price_credits;
  return (
    <>
      <form
        class="cols cols-5-7"
        method="post"
        action={`/${detail.agent}`}
        id="run"
        data-agent={detail.agent}
        data-agent-id={agent.id}
        data-price={price}
        data-pay-url={`/api/agent/${detail.agent}`}
        data-per-call={detail.per_call ? "" : undefined}
        data-settles-first={agent.version.permanent ? "" : undefined}
        data-origin={publicUrl}
        data-explorer={tried.explorer}
      >
        <input type="hidden" name="max_credits" value={price} />
        <input type="hidden" name="request" value={tried.requestName} />
        {tried.viewer?.account && <input type="hidden" name="account" value={tried.viewer.account.id} />}
        <div class="stack">
          <InputCard tried={tried} />
          <PayCard tried={tried} />
        </div>
        <div class="stack" id="outcome">
          {tried.told ? (
            <ResultCard told={tried.told} publicUrl={publicUrl} explorer={tried.explorer} />
          ) : (
            <Waiting shown={shown} hasExamples={tried.examples.length > 0} />
          )}
        </div>
      </form>
      {tried.examples.length > 0 && <Examples examples={tried.examples} agent={detail.agent} publicUrl={publicUrl} />}
      {tried.related.length > 0 && <Related agents={tried.related} category={detail.category} />}
      <RunBar price={price} />
      <PriceRose />
      {/* The island copies its drawings for results. */}
      <span id="copy-pattern" hidden>
        <Copy label="Copy" text="" />
      </span>
      {demoWallet && <script src={demoWallet} defer />}
    </>
  );
}

function InputCard({ tried: { shown, values, wrong } }: { tried: Tried }) {
  const { detail } = shown;
  return (
    <section class="card card-calm" aria-labelledby="input-title">
      <div class="card-head">
        <h2 id="input-title">Input</h2>
        <a class="small faint link push" href={`/${detail.agent}`} data-reset="">
          Reset to example
        </a>
      </div>
      <div class="card-body stack">
        <InputFields fields={detail.inputs} values={values} wrong={wrong} />
        {detail.inputs.length === 0 && <p class="small faint">This agent takes no input.</p>}
        {detail.accepts_extra_instructions && (
          <Disclosure
            summary={
              <>
                Extra instructions <span class="faint">optional</span>
              </>
            }
            open={values.extraInstructions !== undefined || wrong?.field === extraField.name}
          >
            <InputFields fields={[extraField]} values={values} wrong={wrong} />
          </Disclosure>
        )}
      </div>
    </section>
  );
}

/** Where the result will be, and what is known of it before. */
function Waiting({ shown: { detail, agent }, hasExamples }: { shown: ShownAgent; hasExamples: boolean }) {
  const { figures } = detail;
  return (
    <section class="card" aria-labelledby="result-title" id="result">
      <div class="card-head">
        <h2 id="result-title">Result</h2>
      </div>
      <div class="empty">
        <h3>Nothing run yet</h3>
        <p>
          <span id="filled-with">The form is filled in with an example. Run it as it is, or with your own input.</span>
          {hasExamples && (
            <>
              {" "}
              <a class="link" href="#examples">
                What it gave before
              </a>
            </>
          )}
        </p>
      </div>
      <div class="card-foot">
        <KeyValues
          entries={[
            ["Gives", given[detail.output_kind]],
            ...(figures.runs_30d === 0
              ? []
              : [["Takes", `${duration(figures.median_ms)}, the median of ${figuresDays} days`] as const]),
            ["If it fails", agent.version.permanent ? "the payment stays good for another run" : "nothing is charged"],
            ["If the answer is lost", "a reload of this page fetches it, paid once"],
          ]}
        />
      </div>
    </section>
  );
}

const given = {
  text: "text, to copy or save",
  json: "data, as a tree or JSON",
  image: "pictures, kept at their addresses",
  receipt: "a receipt of what was written to the chain",
} as const;

function Related({ agents, category }: { agents: readonly ListedAgent[]; category: Category }) {
  return (
    <section class="stack">
      <div class="row between">
        <h2>Related</h2>
        <GoLink href={`/explore?category=${category}`}>More of this kind</GoLink>
      </div>
      <div class="grid grid-3">
        {agents.map((agent) => (
          <AgentCard agent={agent} under="h3" />
        ))}
      </div>
    </section>
  );
}

/** On small windows: the price and the way to run stay in sight. It submits the form, whichever way to pay is chosen. */
function RunBar({ price }: { price: number }) {
  return (
    <div class="run-bar">
      <div class="grow strong num" id="bar-price">
        {price === 0 ? "Free" : `${creditsOf(price)} = ${usdcOf(price)}`}
      </div>
      <Button look="primary" size="large" icon="play" form="run">
        Run
      </Button>
    </div>
  );
}

/** Opened by the island; its texts are written there. */
function PriceRose() {
  return (
    <Dialog
      id="price-rose"
      title={<span id="price-rose-said">The price rose</span>}
      actions={
        <>
          <Button type="button" data-close="" data-answer="no">
            Not now
          </Button>
          <Button type="button" look="primary" data-answer="yes">
            Agree and run
          </Button>
        </>
      }
    >
      <p class="small dim">Nothing was charged. Run again to agree to the new price.</p>
    </Dialog>
  );
}
