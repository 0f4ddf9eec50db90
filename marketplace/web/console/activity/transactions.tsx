/** @jsxRuntime automatic @jsxImportSource preact */

import { Badge } from "../../../../shared/page/badge.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Hash } from "../../../../shared/page/copy.tsx";
import { KeyValues } from "../../../../shared/page/table.tsx";
import type { RunReport } from "../../../runs/own-run.ts";
import { explorerOf, networkName } from "../../agent/networks.tsx";

const tones = { open: "maybe", done: "ok", void: "bad" } as const;

/** What the run did on a chain, each beside the explorer's page of it. */
export function Transactions({ transactions }: Pick<RunReport, "transactions">) {
  return (
    <Card id="transactions" title="On the chain">
      {transactions.map(({ network, transaction_id: id, state }) => (
        <KeyValues
          entries={[
            ["Network", networkName(network)],
            ["Transaction", <Hash value={id} label="Copy transaction" href={explorerOf(network, id)} />],
            [
              "State",
              <Badge tone={tones[state]} dot>
                {state === "open" ? "unknown" : state}
              </Badge>,
            ],
          ]}
        />
      ))}
    </Card>
  );
}
