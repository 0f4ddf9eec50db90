/** @jsxRuntime automatic @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { Badge } from "../../../shared/page/badge.tsx";
import { Copy } from "../../../shared/page/copy.tsx";
import { duration, figures, percent } from "../../../shared/page/figures.ts";
import { Glyph } from "../../../shared/page/icon.tsx";
import { Crumbs, Tabs } from "../../../shared/page/tabs.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { figuresDays } from "../../agents/count-runs.ts";
import { Money } from "../money.tsx";
import type { Viewer } from "../viewer.ts";
import { connectorIcon } from "./connector-icon.ts";
import { Networks } from "./networks.tsx";
import type { ShownAgent } from "./shown-agent.ts";

export type AgentTab = "try" | "api" | "mcp" | "about";

/** The head of every tab of an agent's page: its name, its price, and whether it works. */
export function AgentPage({ shown, tab, viewer, children }: AgentPageProps) {
  const { detail, handle, slug } = shown;
  return (
    <div class="wrap page stack stack-6" id="agent" data-account={viewer?.account?.id}>
      <div>
        <div class="page-head">
          <Crumbs
            trail={[
              { href: "/explore", label: "Explore" },
              { href: `/${handle}`, label: handle },
            ]}
            here={slug}
          />
          <div class="agent-head">
            <Glyph icon={connectorIcon(detail.connector)} size="large" />
            <div class="grow">
              <h1>{detail.name}</h1>
              <p class="row row-3 small faint">
                <span class="row row-tight">
                  <span class="mono dim">{detail.agent}</span>
                  <Copy label="Copy the agent’s id" text={detail.agent} />
                </span>
                <span>
                  by{" "}
                  <a class="link" href={`/${handle}`}>
                    {handle}
                  </a>
                </span>
                <span class="row row-tight not-small">
                  <a class="link" href={`/${detail.agent}.md`}>
                    As Markdown
                  </a>
                  <Copy label="Copy this page as Markdown, for a model" from={`/${detail.agent}.md`} />
                </span>
              </p>
            </div>
            <Money
              credits={detail.price_credits}
              size="large"
              free={detail.per_call ? "no account" : "with an account"}
            />
          </div>
          <p class="lede lede-wide">{detail.description}</p>
          <Proof shown={shown} />
        </div>
        <Tabs label="Agent" tabs={tabsOf(detail.agent, tab)} />
      </div>
      {children}
    </div>
  );
}

interface AgentPageProps {
  readonly shown: ShownAgent;
  readonly tab: AgentTab;
  readonly viewer: Viewer | undefined;
  readonly children: ComponentChildren;
}

/** Figures of the last `figuresDays`. */
function Proof({ shown: { detail } }: { shown: ShownAgent }) {
  const { per_call: perCall, figures: done } = detail;
  return (
    <div class="row row-4 small faint num">
      <Badge icon={connectorIcon(detail.connector)}>{detail.connector_name}</Badge>
      {done.runs_30d === 0 ? <span>no runs in {figuresDays} days</span> : <Done done={done} />}
      {done.last_success_at && (
        <span>
          last worked <Time at={done.last_success_at} show="ago" />
        </span>
      )}
      {perCall && detail.price_credits > 0 && (
        <span class="net">
          <Networks networks={perCall.networks} /> payable without account
        </span>
      )}
      <span>
        changed <Time at={detail.updated_at} />
      </span>
    </div>
  );
}

function Done({ done }: { done: ShownAgent["detail"]["figures"] }) {
  return (
    <>
      <span>
        <b class="strong">{percent(done.success_rate)}</b> succeeded
      </span>
      <span>
        <b class="strong">{duration(done.median_ms)}</b> median
      </span>
      <span>
        95 % within <b class="strong">{duration(done.p95_ms)}</b>
      </span>
      <span>
        <b class="strong">{figures(done.runs_30d)}</b> {done.runs_30d === 1 ? "run" : "runs"} in {figuresDays} days
      </span>
    </>
  );
}

function tabsOf(agent: string, tab: AgentTab) {
  const all: ReadonlyArray<[AgentTab, string, string]> = [
    ["try", "Try", `/${agent}`],
    ["api", "API", `/${agent}/api`],
    ["mcp", "MCP", `/${agent}/mcp`],
    ["about", "About", `/${agent}/about`],
  ];
  return all.map(([name, label, href]) => ({ href, label, isCurrent: name === tab }));
}
