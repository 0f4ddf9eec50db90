/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../../shared/page/button.tsx";
import { duration } from "../../../../shared/page/figures.ts";
import { Stats } from "../../../../shared/page/stats.tsx";
import { Crumbs } from "../../../../shared/page/tabs.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { isExample, removeExample, showExample } from "../../../runs/agent-examples.ts";
import { type RunReport, readOwnRun } from "../../../runs/own-run.ts";
import { revokeShare, shareRun } from "../../../runs/share-run.ts";
import { creditsOf, usdcOf } from "../../money.tsx";
import type { Page } from "../../page.ts";
import { consolePage, done } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { CreditsRail } from "./credits-rail.tsx";
import { ExampleCard } from "./example-card.tsx";
import { jsonOf, RunInput, type RunJson, RunResultPart } from "./run-parts.tsx";
import { RunState, tookMs } from "./run-words.tsx";
import { ShareCard } from "./share-card.tsx";
import { Timeline } from "./timeline.tsx";
import { Transactions } from "./transactions.tsx";

/** One run of the account: what happened, what it cost, and proof of it. */
export function runPage({ db, config }: RunPageNeeds): Page {
  return consolePage(
    { db },
    {
      path: "/runs/{id}",
      scriptBytesMax: 4_096,
      notices: {
        shared: "The run is shared. Anyone with the link sees it.",
        revoked: "The link is revoked. Nothing is under it any more.",
        example: "The run stands on the agent’s page.",
        "no-example": "The run stands on the agent’s page no more.",
      },
      show: async ({ account, params }, refusal) => {
        const run = await readOwnRun(db, account.id, params.id ?? "");
        const [json, example] = await Promise.all([jsonOf(run), isExample(db, account.id, run.run_id)]);
        return {
          title: `${run.agent_name}, run`,
          frame: "bare",
          body: <RunBody {...{ run, json, example, refusal }} publicUrl={config.publicUrl} />,
        };
      },
      acts: {
        share: async ({ account, params, path }, form) => {
          await shareRun(db, account.id, params.id ?? "", { withInput: form.get("with_input") === "true" });
          return done(path, "shared");
        },
        revoke: async ({ account, params, path }) => {
          await revokeShare(db, account.id, params.id ?? "");
          return done(path, "revoked");
        },
        example: async ({ account, params, path }) => {
          await showExample(db, account.id, params.id ?? "");
          return done(path, "example");
        },
        "no-example": async ({ account, params, path }) => {
          await removeExample(db, account.id, params.id ?? "");
          return done(path, "no-example");
        },
      },
    },
  );
}

interface RunPageNeeds {
  readonly db: Database;
  readonly config: { readonly publicUrl: string };
}

function RunBody({ run, json, example, publicUrl, refusal }: BodyProps) {
  return (
    <div class="wrap page stack stack-6">
      <RunHead run={run} />
      <RefusedNote refusal={refusal} />
      <Sums run={run} />
      <CreditsRail run={run} />
      <div class="cols cols-5-7 run-cols">
        <RunInput input={run.input} json={json} />
        <RunResultPart run={run} json={json} publicUrl={publicUrl} />
        <div class="stack stack-6">
          {run.transactions.length > 0 && <Transactions transactions={run.transactions} />}
          <ShareCard run={run} publicUrl={publicUrl} />
          {example !== undefined && <ExampleCard run={run} isShown={example} />}
        </div>
      </div>
      <section class="stack stack-2" aria-labelledby="happened">
        <h2 id="happened">What happened</h2>
        <Timeline run={run} />
      </section>
    </div>
  );
}

interface BodyProps {
  readonly run: RunReport;
  readonly json: RunJson;
  /** Whether the agent's page shows the run as an example; undefined where it cannot. */
  readonly example: boolean | undefined;
  readonly publicUrl: string;
  readonly refusal: Refusal | undefined;
}

function RunHead({ run }: { run: RunReport }) {
  const { run_id: id, agent, agent_name: name, created_at: at } = run;
  return (
    <div class="page-head">
      <Crumbs trail={[{ href: "/activity", label: "Activity" }]} here={id} />
      <div class="row row-4 between">
        <div class="grow row row-3">
          <h1>{name}</h1>
          <RunState state={run.state} />
        </div>
        <div class="row">
          <ButtonLink icon="share" href="#share">
            Share
          </ButtonLink>
          {run.agent_is_live && (
            <ButtonLink look="primary" icon="retry" href={again(run)}>
              Run again
            </ButtonLink>
          )}
        </div>
      </div>
      <p class="row row-4 small faint num">
        <span class="mono">{agent}</span>
        <Time at={at} show="moment" />
        <Time at={at} show="ago" />
      </p>
    </div>
  );
}

/** The drawings have pages of their own. An input that was not kept cannot be filled in. */
function again({ run_id: id, agent, input }: RunReport): string {
  return input && Object.keys(input).length > 0 ? `/${agent}?run=${id}` : `/${agent}`;
}

function Sums({ run }: { run: RunReport }) {
  const { state, credits_used: used, key } = run;
  const cost =
    state === "running"
      ? { value: "–", note: "not known yet" }
      : state === "succeeded"
        ? { value: used === 0 ? "Free" : creditsOf(used), note: used === 0 ? undefined : `= ${usdcOf(used)}` }
        : { value: "Nothing", note: "a run that fails costs nothing" };
  return (
    <Stats
      stats={[
        { name: "Cost", ...cost },
        { name: "Ran for", value: duration(tookMs(run)) },
        { name: "Asked by", value: key?.name ?? "Website", note: key ? "API key" : "signed in" },
        {
          name: state === "succeeded" && used > 0 ? "Paid to" : "Made by",
          value: run.agent.split("/")[0],
          note: `version ${run.agent_version} of the agent`,
        },
      ]}
    />
  );
}
