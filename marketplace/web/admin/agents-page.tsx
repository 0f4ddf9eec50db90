/** @jsxRuntime automatic @jsxImportSource preact */

import { ApiError } from "../../../shared/errors.ts";
import { ButtonLink } from "../../../shared/page/button.tsx";
import { KeyValues, Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { Database } from "../../../shared/postgres.ts";
import { moveAgentAs } from "../../admin/act-on.ts";
import { agentsQuery, type ListedAgent, listAllAgents } from "../../admin/lists.ts";
import { readQuery } from "../../query.ts";
import type { Refusal } from "../console/refusal.ts";
import type { Page } from "../page.ts";
import { listPage, StateBadge } from "./list-page.tsx";
import { askedMove, MoveForm } from "./move-form.tsx";
import { operatorPage } from "./operator-page.tsx";

/** Agents in any state. */
export function allAgentsPage({ db }: { readonly db: Database }): Page {
  return listPage(db, {
    path: "/admin/agents",
    title: "Agents",
    label: "Address begins with",
    states: ["draft", "live", "unpublished", "suspended"],
    one: "agent",
    list: async (asked) => {
      const { agents: rows, cursor } = await listAllAgents(db, readQuery(agentsQuery, asked));
      return { rows, cursor };
    },
    table: (agents) => <AgentTable agents={agents} />,
  });
}

function AgentTable({ agents }: { agents: readonly ListedAgent[] }) {
  return (
    <div class="card">
      <Table
        label="Agents"
        rows={agents}
        columns={[
          {
            head: "Agent",
            cell: ({ agent }) => (
              <a class="link mono" href={`/admin/agents/${agent}`}>
                {agent}
              </a>
            ),
          },
          { head: "State", cell: ({ state }) => <StateBadge state={state} /> },
          { head: "Open reports", isNumber: true, hide: "small", cell: ({ open_reports }) => open_reports },
          { head: "Since", hide: "medium", cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </div>
  );
}

/** One agent: its state, and the form that changes it. */
export function oneAgentPage({ db }: { readonly db: Database }): Page {
  const path = "/admin/agents/{handle}/{slug}";
  return operatorPage(
    { db },
    {
      path,
      scriptBytesMax: 4_096,
      notices: {
        suspended: "The agent is suspended. Nobody can run it.",
        live: "The agent is restored.",
        unpublished: "The agent is restored.",
      },
      show: async ({ params }, refusal) => {
        const address = `${params.handle}/${params.slug}`;
        const agent = await agentAt(db, address);
        return {
          title: address,
          lede: "Every act is in the audit log, and the creator sees it.",
          body: <AgentBody agent={agent} handle={params.handle ?? ""} refusal={refusal} />,
        };
      },
      acts: {
        move: async ({ params, operator }, form) => {
          const { agent, state } = await moveAgentAs(db, operator, `${params.handle}/${params.slug}`, askedMove(form));
          return { redirect: `/admin/agents/${agent}?done=${state}` };
        },
      },
    },
  );
}

interface AgentBodyProps {
  readonly agent: ListedAgent;
  readonly handle: string;
  readonly refusal: Refusal | undefined;
}

function AgentBody({ agent, handle, refusal }: AgentBodyProps) {
  return (
    <div class="stack stack-6">
      <KeyValues
        lines
        entries={[
          ["State", <StateBadge state={agent.state} />],
          ["Live version", agent.live_version ?? "–"],
          ["Open reports", agent.open_reports],
          ["Since", <Time at={agent.created_at} />],
          [
            "Creator",
            <a class="link mono" href={`/admin/accounts/${handle}`}>
              {handle}
            </a>,
          ],
        ]}
      />
      {agent.state === "live" && (
        <div class="row">
          <ButtonLink href={`/${agent.agent}`}>Look at its page</ButtonLink>
        </div>
      )}
      {agent.state === "draft" ? (
        <p class="small dim">A draft was never on the market: there is nothing to suspend.</p>
      ) : (
        <MoveForm
          what="agent"
          move={agent.state === "suspended" ? "restore" : "suspend"}
          effect={
            agent.state === "suspended"
              ? "It is again what it was before."
              : "From the next call on buyers get 404. Runs under way are finished."
          }
          refusal={refusal}
        />
      )}
    </div>
  );
}

async function agentAt(db: Database, address: string): Promise<ListedAgent> {
  const { agents } = await listAllAgents(db, readQuery(agentsQuery, {}), address);
  const found = agents[0];
  if (!found) throw new ApiError("not_found", `There is no agent "${address}".`);
  return found;
}
