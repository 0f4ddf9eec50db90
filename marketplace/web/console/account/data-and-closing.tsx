/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Icon } from "../../../../shared/page/icon.tsx";
import type { IconName } from "../../../../shared/page/icons.tsx";
import type { Closing } from "../../../accounts/closing.ts";
import { historyDays } from "../../../history-days.ts";
import { creditsOf } from "../../money.tsx";

export function DataCard() {
  return (
    <Card
      id="data"
      title="Your data"
      foot={
        <ButtonLink icon="download" href="/api/account/export">
          Download
        </ButtonLink>
      }
    >
      <p class="small dim">
        Account, keys without the keys themselves, wallets, agents with every version and draft but without secrets,
        runs of {historyDays} days with input and output, and the whole statement. One JSON file.
      </p>
    </Card>
  );
}

export function CloseCard({ closing }: { closing: Closing }) {
  return (
    <Card
      id="close"
      title="Close the account"
      foot={
        <ButtonLink class="btn-danger" href="/settings/account/close">
          Close account
        </ButtonLink>
      }
    >
      <Losses closing={closing} />
    </Card>
  );
}

/** The things that closing ends and loses, and those that it does not. */
export function Losses({ closing }: { closing: Closing }) {
  const { credits, earned, live_agents: agents, drafts, keys } = closing;
  return (
    <ul class="checks">
      {credits + earned > 0n ? (
        <Line
          icon="fail"
          look="is-bad"
          small="they are not paid out"
          text={`${creditsOf(credits)} and ${creditsOf(earned).replace(/ credits?$/, "")} earned are lost`}
        />
      ) : (
        <Line icon="ok" look="is-ok" text="No credits are left to lose" />
      )}
      {agents > 0 && (
        <Line
          icon="warning"
          look="is-warn"
          text={agents === 1 ? "1 agent goes, its buyers get 404" : `${agents} agents go, their buyers get 404`}
        />
      )}
      {drafts > 0 && (
        <Line
          icon="warning"
          look="is-warn"
          text={drafts === 1 ? "1 draft of an agent is lost" : `${drafts} drafts of agents are lost`}
        />
      )}
      {keys > 0 && (
        <Line icon="warning" look="is-warn" text={keys === 1 ? "1 key answers 401" : `${keys} keys answer 401`} />
      )}
      <Line icon="ok" look="is-ok" text="What wallets were paid stays theirs; your handle goes to no other account" />
    </ul>
  );
}

function Line({ icon, look, text, small }: { icon: IconName; look: string; text: string; small?: string }) {
  return (
    <li class={look}>
      <Icon name={icon} />
      <span>
        {text}
        {small && <small>{small}</small>}
      </span>
    </li>
  );
}
