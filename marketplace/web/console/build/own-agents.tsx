/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { ButtonLink } from "../../../../shared/page/button.tsx";
import { figures, percent } from "../../../../shared/page/figures.ts";
import { Glyph } from "../../../../shared/page/icon.tsx";
import { Pagination } from "../../../../shared/page/pagination.tsx";
import { type Column, Table } from "../../../../shared/page/table.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { ConnectorId } from "../../../connectors/connector.ts";
import { connectorIcon } from "../../agent/connector-icon.ts";
import { dollarsOf } from "../../money.tsx";
import { type OwnRow, type OwnWork, shownAtOnce } from "./own-work.ts";

interface OwnAgentsProps {
  readonly work: OwnWork;
  readonly agentsMax: number;
  readonly has: (path: string) => boolean;
}

export function OwnAgents({ work, agentsMax, has }: OwnAgentsProps) {
  return (
    <section class="stack" aria-labelledby="own-title">
      <div class="row between">
        <h2 id="own-title">Your agents</h2>
        <span class="small faint num">{`${figures(work.agents)} of ${figures(agentsMax)}`}</span>
      </div>
      <div class="card">
        <Table label="Table of your agents" tall columns={columns(has)} rows={work.rows} />
        {work.total > shownAtOnce && (
          <Pagination
            label="Your agents"
            said={`${work.from + 1} to ${Math.min(work.total, work.from + shownAtOnce)} of ${work.total}`}
            first={work.from > 0 ? "/build" : undefined}
            next={work.from + shownAtOnce < work.total ? `/build?from=${work.from + shownAtOnce}` : undefined}
          />
        )}
      </div>
    </section>
  );
}

const tones = { live: "ok", suspended: "bad", draft: undefined, unpublished: undefined } as const;
const figuresPath = "/figures/{slug}";

function columns(has: (path: string) => boolean): readonly Column<OwnRow>[] {
  return [
    { head: "Agent", cell: (row) => <AgentCell row={row} /> },
    { head: "State", cell: ({ agent }) => <StateBadge state={agent?.state ?? "draft"} /> },
    {
      head: "Credits",
      isNumber: true,
      hide: "small",
      cell: ({ agent }) => (agent ? figures(agent.priceCredits) : "–"),
    },
    {
      head: "Runs, 30 d",
      isNumber: true,
      hide: "small",
      cell: (row) => (row.figures ? figures(row.figures.runs_30d) : "–"),
    },
    {
      head: "Success",
      isNumber: true,
      hide: "medium",
      cell: (row) => (row.figures?.success_rate == null ? "–" : percent(row.figures.success_rate)),
    },
    {
      head: "USD, 30 d",
      isNumber: true,
      hide: "medium",
      cell: ({ revenue }) => (revenue === undefined ? "–" : dollarsOf(revenue)),
    },
    {
      head: <span class="vh">Open</span>,
      isNumber: true,
      cell: (row) => <OpenButtons row={row} hasFigures={has(figuresPath)} />,
    },
  ];
}

function AgentCell({ row }: { row: OwnRow }) {
  return (
    <div class="row row-3 row-tight">
      <span class="hide-s">
        <Glyph icon={connectorIcon(row.connector as ConnectorId)} />
      </span>
      <div>
        <a class="strong" href={`/build/${row.slug}`}>
          {row.name || row.slug}
        </a>
        <span class="cell-2">
          <VersionLine row={row} />
        </span>
      </div>
    </div>
  );
}

function StateBadge({ state }: { state: keyof typeof tones }) {
  return (
    <Badge tone={tones[state]} dot={tones[state] !== undefined} line={tones[state] === undefined}>
      {state}
    </Badge>
  );
}

function OpenButtons({ row, hasFigures }: { row: OwnRow; hasFigures: boolean }) {
  return (
    <span class="row row-tight build-open">
      {row.agent && hasFigures && (
        <ButtonLink
          look="ghost"
          size="small"
          class="not-small"
          href={`/figures/${row.slug}`}
          aria-label={`Figures of ${row.name}`}
        >
          Figures
        </ButtonLink>
      )}
      <ButtonLink size="small" href={`/build/${row.slug}`} aria-label={`Edit ${row.name || row.slug}`}>
        Edit
      </ButtonLink>
    </span>
  );
}

/** Which version is live or newest, and whether a draft has been saved since; or why no buyer can run it. */
function VersionLine({ row: { agent, draftSavedAt, why } }: { row: OwnRow }) {
  if (!agent) {
    return <>saved {draftSavedAt && <Time at={draftSavedAt} show="ago" />}</>;
  }
  if (agent.state === "suspended") return <>by the operator{why && `: ${why}`}</>;
  const version = agent.state === "live" ? `version ${agent.liveVersion}` : `version ${agent.newestVersion}`;
  return (
    <>
      {version}
      {draftSavedAt && ", changed since"}
    </>
  );
}
