/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Field } from "../../../../shared/page/field.tsx";
import { newId } from "../../../ids.ts";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";

/** Making earned credits spendable. */
export function MoveEarned({ earned, hasWallets, refusal }: MoveProps) {
  const refused = refusal?.act === "move" ? refusal : undefined;
  return (
    <Card
      id="move"
      title="Move earned to balance"
      foot="Credits earned are spent here. Calls paid by wallet go to your own wallet in USDC."
    >
      <form class="stack" method="post" action="/settings/credits" data-busy="Moving">
        <ActField value="move" />
        <input type="hidden" name="reference" value={newId("mov")} />
        <Field
          id="move-credits"
          name="credits"
          label="Credits"
          note={`${earned.toLocaleString("en-US")} earned`}
          help="At once and free. It cannot be moved back."
          error={refused && (refused.at("credits") ?? refused.sentence)}
          control={(tied) => (
            <span class="affix">
              <input
                class="input num"
                inputMode="numeric"
                required
                maxLength={13}
                value={refused?.value("credits") ?? (earned > 0 ? String(earned) : "")}
                disabled={earned === 0}
                {...tied}
              />
              <span>credits</span>
            </span>
          )}
        />
        <div class="row between">
          {hasWallets ? (
            <a class="link small" href="/settings/wallets">
              Want USDC instead?
            </a>
          ) : (
            <span />
          )}
          <Button disabled={earned === 0}>{earned === 0 ? "Nothing to move" : "Move to balance"}</Button>
        </div>
      </form>
    </Card>
  );
}

interface MoveProps {
  readonly earned: number;
  readonly hasWallets: boolean;
  readonly refusal: Refusal | undefined;
}
