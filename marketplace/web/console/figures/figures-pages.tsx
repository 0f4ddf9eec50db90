/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../../shared/page/button.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { Segments } from "../../../../shared/page/tabs.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { findOwnAgent, listOwnAgents } from "../../../agents/creator-agents.ts";
import { figuresQuery, readCreatorFigures } from "../../../agents/creator-figures.ts";
import { type OwnModelNeeds, ownModelState } from "../../../agents/own-model-state.ts";
import { readOwnBudget, setModelBudget } from "../../../models/budget.ts";
import { readQuery } from "../../../query.ts";
import { readExamples, removeExample } from "../../../runs/agent-examples.ts";
import type { Page } from "../../page.ts";
import { consolePage, done } from "../console-page.tsx";
import { wholeNumber } from "../refusal.ts";
import { isTouched } from "../seen.tsx";
import { FiguresBody } from "./figures-body.tsx";
import { FiguresFrame } from "./figures-frame.tsx";
import { ShownExamples } from "./shown-examples.tsx";

const windows = [30, 7, 90] as const;

/** Leads to the agent that was touched last, or that was asked for. */
export function figuresPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path: "/figures",
      scriptBytesMax: 4_096,
      show: async ({ account, query, has }) => {
        const agents = await listOwnAgents(db, account.id);
        const agent = agents.find(({ slug }) => slug === query.get("agent")) ?? agents[0];
        if (agent) return { redirect: `/figures/${agent.slug}` };
        const next = has("/build")
          ? { href: "/build", label: "Build an agent" }
          : { href: "/docs/publishing", label: "How to publish" };
        return {
          title: "Figures",
          lede: "What your agents do, and what they bring.",
          body: (
            <Empty
              icon="figures"
              title="No agent yet"
              under="h2"
              action={<ButtonLink href={next.href}>{next.label}</ButtonLink>}
            >
              Runs, success, time and revenue of each of your agents will stand here.
            </Empty>
          ),
        };
      },
    },
  );
}

/** How one of the creator's agents does. */
export function agentFiguresPage(needs: OwnModelNeeds & { readonly db: Database }): Page {
  const { db } = needs;
  return consolePage(
    { db },
    {
      path: "/figures/{slug}",
      scriptBytesMax: 4_096,
      notices: {
        budget: "The daily budget holds from the next run on.",
        "no-example": "The run stands on the agent’s page no more.",
      },
      show: async ({ account, params, query }, refusal) => {
        const { days } = readQuery(figuresQuery, { days: query.get("days") ?? "" });
        const agent = await findOwnAgent(db, account.id, params.slug ?? "");
        const [agents, figures, model, ownBudget, examples] = await Promise.all([
          listOwnAgents(db, account.id),
          readCreatorFigures(db, agent.id, days),
          ownModelState(needs, agent),
          readOwnBudget(db, agent.id),
          readExamples(db, agent.id),
        ]);
        return {
          title: agent.name,
          lede: "Runs by others, on every way to pay. Your own do not count.",
          aside: (
            <Segments
              label="Window"
              tabs={windows.map((window) => ({
                href: window === 30 ? `/figures/${agent.slug}` : `/figures/${agent.slug}?days=${window}`,
                label: `${window} d`,
                isCurrent: window === days,
              }))}
            />
          ),
          body: (
            <FiguresFrame agent={agent} agents={agents} tab="figures">
              <FiguresBody {...{ agent, figures, days, model, ownBudget, refusal }} />
              <ShownExamples agent={agent} examples={examples} refusal={refusal} />
            </FiguresFrame>
          ),
        };
      },
      acts: {
        budget: async ({ account, params }, form) => {
          const agent = await findOwnAgent(db, account.id, params.slug ?? "");
          if (isTouched(form, "credits_per_day")) {
            await setModelBudget(db, agent.id, wholeNumber(form, "credits_per_day") ?? null);
          }
          return done(`/figures/${agent.slug}`, "budget");
        },
        "no-example": async ({ account, params }, form) => {
          await removeExample(db, account.id, form.get("run") ?? "");
          return done(`/figures/${params.slug}`, "no-example");
        },
      },
    },
  );
}
