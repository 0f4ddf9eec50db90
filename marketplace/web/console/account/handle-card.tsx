/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Callout } from "../../../../shared/page/callout.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { TextField } from "../../../../shared/page/field.tsx";
import { daysBetweenRenames } from "../../../accounts/rename.ts";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";

/** The account's name, and what changing it does. */
export function HandleCard({ handle, host, liveAgents, refusal }: HandleCardProps) {
  const typed = refusal?.act === "rename" ? refusal : undefined;
  const addresses = liveAgents === 1 ? "1 agent’s address" : `${liveAgents} agents’ addresses`;
  return (
    <Card
      id="handle-card"
      title="Handle"
      aside={
        <a class="link" href={`/${handle}`}>
          {host}/{handle}
        </a>
      }
    >
      <div class="cols cols-2">
        <form class="stack" method="post" action="/settings/account">
          <ActField value="rename" />
          <TextField
            id="handle"
            name="handle"
            label="Handle"
            note="3 to 30, a to z, 0 to 9, hyphen"
            required
            minLength={3}
            maxLength={30}
            autocomplete="off"
            spellcheck={false}
            value={typed?.value("handle") ?? handle}
            error={typed?.at("handle")}
          />
          <div>
            <Button>Change handle</Button>
          </div>
        </form>
        <Callout
          tone="warn"
          title={
            liveAgents === 0 ? "Changing the handle changes your address" : `Changing the handle changes ${addresses}`
          }
        >
          The old handle stays yours: calls under it reach the same agents, and no other account can take it. Links on
          other sites and tool names of MCP clients change. Once in {daysBetweenRenames} days.
        </Callout>
      </div>
    </Card>
  );
}

interface HandleCardProps {
  readonly handle: string;
  readonly host: string;
  readonly liveAgents: number;
  readonly refusal: Refusal | undefined;
}
