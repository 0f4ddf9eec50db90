/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { ButtonLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { duration } from "../../../shared/page/figures.ts";
import { Stats } from "../../../shared/page/stats.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { reportSharedRun } from "../../reports/report-agent.ts";
import { readSharedRun, type SharedRun } from "../../runs/share-run.ts";
import { jsonOf, RunInput, type RunJson, RunResultPart } from "../console/activity/run-parts.tsx";
import { creditsOf, usdcOf } from "../money.tsx";
import type { Page, View, Visit } from "../page.ts";
import { emptyForm, type Filled, ReportForm, reportBytesMax, saidIn } from "../report/report-form.tsx";

interface Needs {
  readonly db: Database;
  readonly config: { readonly publicUrl: string };
}

/** A run that its account shows to every visitor who has the link, and how to tell the operator that it should not. */
export function sharedRunPages(needs: Needs): Page[] {
  const path = "/runs/shared/{token}";
  return [
    { path, scriptBytesMax: 4_096, show: ({ params }) => showRun(needs, params.token ?? "") },
    {
      path: `${path}/report`,
      scriptBytesMax: 4_096,
      show: async ({ params }) => reportView(await readSharedRun(needs.db, params.token ?? ""), params, emptyForm),
      submit: { bytesMax: reportBytesMax, take: (visit, form) => takeReport(needs.db, visit, form) },
    },
  ];
}

/** Seen only by visitors who have the link: kept by no cache and no search engine. */
const unlisted = {
  isPrivate: true,
  headers: { "cache-control": "no-store" },
} as const;

async function showRun({ db, config }: Needs, token: string): Promise<View> {
  const run = await readSharedRun(db, token);
  return {
    ...unlisted,
    title: `${run.agent_name}, a shared run`,
    body: <Shared run={run} json={await jsonOf(run)} token={token} {...config} />,
  };
}

function Shared({ run, json, token, publicUrl }: SharedProps) {
  const { agent, agent_name: name, success, created_at: at, credits_used: used } = run;
  const tookMs = Date.parse(run.finished_at) - Date.parse(at);
  return (
    <div class="wrap page stack stack-6">
      <div class="page-head">
        <div class="row row-4 between">
          <div class="grow row row-3">
            <h1>{name}</h1>
            <Badge tone={success ? "ok" : "bad"} dot>
              {success ? "succeeded" : "failed"}
            </Badge>
          </div>
          {run.agent_is_live && (
            <ButtonLink look="primary" href={`/${agent}`}>
              Try this agent
            </ButtonLink>
          )}
        </div>
        <p class="row row-4 small faint num">
          <span class="mono">{agent}</span>
          <Time at={at} show="moment" />
          <span>Shared by the account that ran it</span>
        </p>
      </div>
      <Stats
        stats={[
          {
            name: "Cost",
            value: success ? (used === 0 ? "Free" : creditsOf(used)) : "Nothing",
            note: success && used > 0 ? `= ${usdcOf(used)}` : undefined,
          },
          { name: "Ran for", value: duration(tookMs) },
          { name: "Made by", value: agent.split("/")[0] },
          { name: "Run", value: <span class="mono small">…{run.run_id.slice(-6)}</span> },
        ]}
      />
      {run.input ? (
        <div class="cols cols-5-7">
          <RunInput input={run.input} json={json} />
          <RunResultPart run={{ ...run, state: success ? "succeeded" : "failed" }} json={json} publicUrl={publicUrl} />
        </div>
      ) : (
        <RunResultPart run={{ ...run, state: success ? "succeeded" : "failed" }} json={json} publicUrl={publicUrl} />
      )}
      <p class="small dim">
        What you see was made by an agent for a buyer who shared it; we have not checked it.{" "}
        <a class="link" href={`/runs/shared/${token}/report`}>
          Report this run
        </a>
      </p>
    </div>
  );
}

interface SharedProps {
  readonly run: SharedRun;
  readonly json: RunJson;
  readonly token: string;
  readonly publicUrl: string;
}

async function takeReport(db: Database, { params, request }: Visit, form: URLSearchParams): Promise<View> {
  const token = params.token ?? "";
  const run = await readSharedRun(db, token);
  const said = saidIn(form);
  try {
    const { id } = await reportSharedRun(db, token, { address: request.ip ?? "", said });
    return thanksView(id);
  } catch (refusal) {
    if (!(refusal instanceof ApiError) || refusal.status >= 500 || refusal.code === "not_found") throw refusal;
    return reportView(run, params, { ...said, refusal });
  }
}

function reportView({ agent_name: name }: SharedRun, { token }: Visit["params"], filled: Filled): View {
  const { refusal } = filled;
  const back = `/runs/shared/${token}`;
  return {
    ...unlisted,
    status: refusal?.status,
    headers: { ...unlisted.headers, ...refusal?.headers },
    title: "Report a shared run",
    islands: ["typed.js"],
    body: (
      <div class="wrap page">
        <div class="cols cols-7-5">
          <div class="stack stack-6">
            <Crumbs trail={[{ href: back, label: name }]} here="Report" />
            <h1>Report this run</h1>
            <p class="lede">
              This goes to the operator of this service. Neither the account that shared the run nor the agent’s creator
              is told who you are.
            </p>
            {refusal?.code === "rate_limited" && (
              <Callout tone="warn" title="Not taken" role="alert">
                {refusal.message}
              </Callout>
            )}
            <ReportForm action={`${back}/report`} back={back} filled={filled} />
          </div>
        </div>
      </div>
    ),
  };
}

function thanksView(id: string): View {
  return {
    ...unlisted,
    title: "Reported",
    body: (
      <div class="wrap page stack stack-6">
        <h1>Reported</h1>
        <Callout tone="ok" title="The operator has your report" role="status">
          Its number is <code class="icode">{id}</code>. If you gave an address, the answer comes there.
        </Callout>
      </div>
    ),
  };
}
