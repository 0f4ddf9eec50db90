/** @jsxRuntime automatic @jsxImportSource preact */

import { z } from "zod";
import { ApiError } from "../../../shared/errors.ts";
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { TextField } from "../../../shared/page/field.tsx";
import { Pagination } from "../../../shared/page/pagination.tsx";
import { Segments } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { resolveReportAs } from "../../admin/act-on.ts";
import { endShareAs } from "../../admin/end-share.ts";
import { pageQuery, readQuery } from "../../query.ts";
import { listReports, type Report, type ReportsPage } from "../../reports/operator-reports.ts";
import { reportReasons } from "../../reports/report-agent.ts";
import { done } from "../console/console-page.tsx";
import type { Refusal } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";
import type { Page } from "../page.ts";
import { StateBadge } from "./list-page.tsx";
import { operatorPage } from "./operator-page.tsx";

const path = "/admin/reports";
const reportsPerPage = 50;
const placeShape = z.object({ cursor: pageQuery(/^rpt_\w{1,40}$/).cursor });

/** What visitors said of agents. */
export function reportsPage({ db }: { readonly db: Database }): Page {
  return operatorPage(
    { db },
    {
      path,
      scriptBytesMax: 4_096,
      notices: { resolved: "The report is resolved.", unshared: "Nothing is under the run’s link any more." },
      show: async ({ query }, refusal) => {
        const asked = askedIn(refusal?.form ?? query);
        const { cursor: after } = readQuery(placeShape, { cursor: asked.cursor });
        const page = await listReports(db, { all: asked.all, limit: reportsPerPage, after });
        return {
          title: "Reports",
          lede: "What visitors said of agents, newest first.",
          body: <Reports page={page} asked={asked} refusal={refusal} />,
        };
      },
      acts: {
        resolve: async ({ operator }, form) => {
          const note = form.get("note") || undefined;
          await resolveReportAs(db, operator, form.get("id") ?? "", { note }, { ifOpen: true });
          return done(hrefOf(askedIn(form)), "resolved");
        },
        unshare: async ({ operator }, form) => {
          const reason = form.get("reason") ?? "";
          await endShareAs(db, operator, form.get("run") ?? "", { reason }).catch(unlessEnded);
          return done(hrefOf(askedIn(form)), "unshared");
        },
      },
    },
  );
}

/** Which reports a page shows. Its forms say it too, so that they lead back to it. */
interface Asked {
  /** The resolved ones too. */
  readonly all: boolean;
  /** The cursor from the page before; empty on the first one. */
  readonly cursor: string;
}

function askedIn(given: URLSearchParams): Asked {
  return { all: given.get("all") === "true", cursor: given.get("cursor") ?? "" };
}

function fieldsOf({ all, cursor }: Asked): Record<string, string> {
  return { ...(all && { all: "true" }), ...(cursor && { cursor }) };
}

function hrefOf(asked: Asked): string {
  const query = new URLSearchParams(fieldsOf(asked));
  return query.size === 0 ? path : `${path}?${query}`;
}

function Reports({ page: { reports, cursor }, asked, refusal }: ReportsProps) {
  const { all } = asked;
  return (
    <div class="stack">
      <div>
        <Segments
          label="Which"
          tabs={[
            { href: hrefOf({ all: false, cursor: "" }), label: "Open", isCurrent: !all },
            { href: hrefOf({ all: true, cursor: "" }), label: "All", isCurrent: all },
          ]}
        />
      </div>
      {refusal && isLate(reports, refusal) && (
        <>
          <RefusedNote refusal={refusal} />
          {refusal.value("note") && <p class="result-text">Your note, which is not kept: {refusal.value("note")}</p>}
          {refusal.value("reason") && (
            <p class="result-text">Your reason, which is not kept: {refusal.value("reason")}</p>
          )}
        </>
      )}
      {reports.length === 0 && <NoReports asked={asked} />}
      {reports.map((report) => (
        <ReportCard report={report} asked={asked} refusal={refusal?.value("id") === report.id ? refusal : undefined} />
      ))}
      {(cursor || asked.cursor) && (
        <Pagination
          label="Pages"
          said={`${reports.length} reports`}
          first={asked.cursor ? hrefOf({ all, cursor: "" }) : undefined}
          next={cursor ? hrefOf({ all, cursor }) : undefined}
        />
      )}
    </div>
  );
}

interface ReportsProps {
  readonly page: ReportsPage;
  readonly asked: Asked;
  readonly refusal: Refusal | undefined;
}

function NoReports({ asked: { all, cursor } }: { asked: Asked }) {
  if (cursor) return <Empty icon="check" under="h2" title={all ? "No more reports" : "No more open reports"} />;
  return (
    <Empty icon="check" under="h2" title={all ? "No reports yet" : "No open reports"}>
      What visitors say with “Report this agent” stands here until it is resolved.
    </Empty>
  );
}

/** A link that its owner ended meanwhile is told beside what was typed, as a report that another operator resolved is. */
function unlessEnded(error: unknown): never {
  if (error instanceof ApiError && error.code === "not_found") throw new ApiError("conflict", error.message);
  throw error;
}

/** Whether the form that was refused is on the page no more: its report is resolved, its run shared no more, or it is listed no more. */
function isLate(reports: readonly Report[], refusal: Refusal): boolean {
  const report = reports.find(({ id }) => id === refusal.value("id"));
  if (!report) return true;
  return refusal.act === "unshare" ? report.shared === null : report.resolved_at !== null;
}

function ReportCard({ report, asked, refusal }: ReportCardProps) {
  const { id, agent, state, reason, text, email, run_id: run, created_at, resolved_at, note } = report;
  return (
    <Card
      id={id}
      title={
        <>
          <span class="mono">{agent}</span>: <code>{id.slice(-6)}</code>
        </>
      }
      aside={<StateBadge state={state} />}
    >
      <p class="small faint">
        {reportReasons[reason]}, <Time at={created_at} show="moment" />
        {email && (
          <>
            , from <span class="mono">{email}</span>
          </>
        )}
      </p>
      <p class="result-text">{text}</p>
      {run && (
        <OfRun report={report} run={run} asked={asked} refusal={refusal?.act === "unshare" ? refusal : undefined} />
      )}
      {resolved_at ? (
        <p class="small dim">
          Resolved <Time at={resolved_at} />
          {note && `: ${note}`}
        </p>
      ) : (
        <form class="stack" method="post" action={path} data-busy="Resolving">
          <input type="hidden" name="act" value="resolve" />
          <input type="hidden" name="id" value={id} />
          <AskedFields asked={asked} />
          <RefusedNote refusal={refusal?.act === "resolve" ? refusal : undefined} fields={["note"]} />
          <TextField
            id={`${id}-note`}
            name="note"
            label="Note"
            note="optional"
            maxLength={2_000}
            value={refusal?.value("note")}
            error={refusal?.at("note")}
          />
          <div class="row">
            <Button>Resolve</Button>
            <ButtonLink look={state === "suspended" ? undefined : "danger"} href={`/admin/agents/${agent}`}>
              {state === "suspended" ? "Restore the agent" : "Suspend the agent"}
            </ButtonLink>
          </div>
        </form>
      )}
    </Card>
  );
}

interface ReportCardProps {
  readonly report: Report;
  readonly asked: Asked;
  readonly refusal: Refusal | undefined;
}

function AskedFields({ asked }: { asked: Asked }) {
  return (
    <>
      {Object.entries(fieldsOf(asked)).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

/** What the visitor saw, as long as it is shared, and the end of that. */
function OfRun({ report: { id, shared }, run, asked, refusal }: OfRunProps) {
  return (
    <>
      <p class="row row-tight small">
        On the run
        <a class="link mono" href={`/admin?id=${run}`} title={run}>
          …{run.slice(-6)}
        </a>
        {shared ? (
          <a class="link" href={`/runs/shared/${shared}`}>
            See what is shared
          </a>
        ) : (
          <span class="dim">It is shared no more.</span>
        )}
      </p>
      {shared && (
        <form class="stack" method="post" action={path} data-busy="Ending">
          <input type="hidden" name="act" value="unshare" />
          <input type="hidden" name="id" value={id} />
          <AskedFields asked={asked} />
          <input type="hidden" name="run" value={run} />
          <RefusedNote refusal={refusal} fields={["reason"]} />
          <TextField
            id={`${id}-reason`}
            name="reason"
            label="Why the link ends"
            help="The account that shared it is told it."
            maxLength={2_000}
            required
            value={refusal?.value("reason")}
            error={refusal?.at("reason")}
          />
          <div class="row">
            <Button look="danger">End the link</Button>
          </div>
        </form>
      )}
    </>
  );
}

interface OfRunProps {
  readonly report: Report;
  readonly run: string;
  readonly asked: Asked;
  readonly refusal: Refusal | undefined;
}
