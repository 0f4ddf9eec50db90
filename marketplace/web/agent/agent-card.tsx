/** @jsxRuntime automatic @jsxImportSource preact */

import { classes } from "../../../shared/page/classes.ts";
import { duration, percent, shortFigures } from "../../../shared/page/figures.ts";
import { Glyph, Icon } from "../../../shared/page/icon.tsx";
import { figuresDays } from "../../agents/count-runs.ts";
import type { ListedAgent } from "../../agents/list.ts";
import { creditsOf, usdcOf } from "../money.tsx";
import { connectorIcon } from "./connector-icon.ts";
import { Networks } from "./networks.tsx";

/** An agent among others: what it does, what it costs, and whether it works. The whole card is one link. */
export function AgentCard({ agent, under = "h2", isLater = false, hasFigures = true }: AgentCardProps) {
  const Heading = under;
  return (
    <article class={classes("agent", isLater && "later")}>
      <div class="agent-top">
        <Glyph icon={connectorIcon(agent.connector)} />
        <div class="grow">
          <Heading class="agent-name">
            <a href={`/${agent.agent}`}>{agent.name}</a>
          </Heading>
          <span class="agent-id">{agent.agent}</span>
        </div>
        <Price agent={agent} />
      </div>
      <p class="agent-desc">{agent.description}</p>
      <div class="agent-foot">
        {hasFigures && <Done figures={agent.figures} />}
        <span class="row">
          <Networks networks={(agent.per_call?.networks ?? []).slice(0, networksShown)} />
        </span>
      </div>
    </article>
  );
}

interface AgentCardProps {
  readonly agent: ListedAgent;
  readonly under?: "h2" | "h3";
  /** Below the first screen of a phone. */
  readonly isLater?: boolean;
  /** False where its runs are not known: nothing is said of them. */
  readonly hasFigures?: boolean;
}

const networksShown = 4;

function Price({ agent: { price_credits, per_call } }: { agent: ListedAgent }) {
  const isFree = price_credits === 0;
  return (
    <div class="agent-price">
      <b>{isFree ? "Free" : creditsOf(price_credits)}</b>
      <span>{isFree ? (per_call ? "no account" : "with an account") : usdcOf(price_credits)}</span>
    </div>
  );
}

function Done({ figures: { runs_30d, success_rate, median_ms } }: Pick<ListedAgent, "figures">) {
  if (runs_30d === 0) return <span>no runs in {figuresDays} days</span>;
  return (
    <>
      <span title={`Runs that succeeded, last ${figuresDays} days`}>
        <Icon name="ok" />
        <span class="vh">Succeeded</span>
        {percent(success_rate)}
      </span>
      <span title="Median time of a run">
        <Icon name="timer" />
        <span class="vh">Median time</span>
        {duration(median_ms)}
      </span>
      <span>
        {shortFigures(runs_30d)} {runs_30d === 1 ? "run" : "runs"}
      </span>
    </>
  );
}
