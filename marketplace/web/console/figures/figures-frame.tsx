/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Badge, type Tone } from "../../../../shared/page/badge.tsx";
import { Button } from "../../../../shared/page/button.tsx";
import { Select } from "../../../../shared/page/field.tsx";
import { Tabs } from "../../../../shared/page/tabs.tsx";
import type { OwnAgent } from "../../../agents/creator-agents.ts";

export type FiguresTab = "figures" | "images" | "rewards";

/** The head of the pages on one agent of the creator: its name, its state, and the tabs. */
export function FiguresFrame({ agent, agents, tab, children }: FramePropsOf) {
  const { handle, slug, state, newestVersion, liveVersion } = agent;
  const tabs = tabsOf(agent);
  return (
    <>
      <div class="row between row-4">
        <p class="row small faint">
          <span class="mono">{`${handle}/${slug}`}</span>
          <Badge tone={tones[state]} dot>
            {state}
          </Badge>
          <span>version {state === "live" ? liveVersion : newestVersion}</span>
        </p>
        {agents.length > 1 && (
          <form class="row" action="/figures">
            <Select
              name="agent"
              aria-label="Agent"
              value={slug}
              choices={agents.map((one) => ({ value: one.slug, label: one.name }))}
            />
            <Button>Show</Button>
          </form>
        )}
      </div>
      {tabs.length > 1 && (
        <Tabs
          label={`Of ${slug}`}
          tabs={tabs.map((one) => ({
            href: one === "figures" ? `/figures/${slug}` : `/figures/${slug}/${one}`,
            label: labels[one],
            isCurrent: one === tab,
          }))}
        />
      )}
      {children}
    </>
  );
}

interface FramePropsOf {
  readonly agent: OwnAgent;
  readonly agents: readonly OwnAgent[];
  readonly tab: FiguresTab;
  readonly children: ComponentChildren;
}

const labels: Readonly<Record<FiguresTab, string>> = { figures: "Figures", images: "Images", rewards: "Rewards paid" };
const tones: Readonly<Record<OwnAgent["state"], Tone | undefined>> = {
  draft: undefined,
  live: "ok",
  unpublished: "warn",
  suspended: "bad",
};

function tabsOf({ connector }: OwnAgent): FiguresTab[] {
  if (connector === "image-generator") return ["figures", "images"];
  return connector.startsWith("x-reward") ? ["figures", "rewards"] : ["figures"];
}
