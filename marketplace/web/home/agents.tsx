/** @jsxRuntime automatic @jsxImportSource preact */

import { GoLink } from "../../../shared/page/button.tsx";
import { figures } from "../../../shared/page/figures.ts";
import { figuresDays } from "../../agents/count-runs.ts";
import type { ListedAgent } from "../../agents/list.ts";
import { AgentCard } from "../agent/agent-card.tsx";

export function AgentsSection({ agents, total }: { agents: readonly ListedAgent[]; total: number }) {
  return (
    <section class="section later">
      <div class="wrap">
        <div class="section-head">
          <div>
            <h2>Agents people run</h2>
            <p>Success rate and median time come from the last {figuresDays} days of real runs.</p>
          </div>
          <GoLink href="/explore">{total === 1 ? "The agent" : `All ${figures(total)} agents`}</GoLink>
        </div>
        <div class="grid grid-3">
          {agents.map((agent) => (
            <AgentCard agent={agent} under="h3" />
          ))}
        </div>
      </div>
    </section>
  );
}
