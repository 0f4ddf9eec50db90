/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { AreaField, TextField } from "../../../shared/page/field.tsx";
import type { Refusal } from "../console/refusal.ts";
import { RefusedNote } from "../console/refused-note.tsx";

/** Suspends or restores what the page is about. */
export function MoveForm({ what, move, effect, refusal }: MoveFormProps) {
  const refused = refusal?.act === "move" ? refusal : undefined;
  return (
    <Card id="move" title={move === "suspend" ? `Suspend ${what}` : `Restore ${what}`} bare>
      <form class="card-body stack" method="post" data-busy="Working">
        <input type="hidden" name="act" value="move" />
        <input type="hidden" name="move" value={move} />
        <p class="small dim">{effect}</p>
        <RefusedNote refusal={refused} fields={["reason", "note"]} />
        <AreaField
          id="reason"
          name="reason"
          label="Reason"
          help="The account concerned is told it."
          rows={3}
          maxLength={2_000}
          required
          value={refused?.value("reason")}
          error={refused?.at("reason")}
        />
        <TextField
          id="move-note"
          name="note"
          label="Note"
          note="optional"
          help="For operators alone."
          maxLength={2_000}
          value={refused?.value("note")}
          error={refused?.at("note")}
        />
        <div class="row">
          <Button look={move === "suspend" ? "danger-solid" : "primary"}>
            {move === "suspend" ? `Suspend ${what}` : `Restore ${what}`}
          </Button>
        </div>
      </form>
    </Card>
  );
}

interface MoveFormProps {
  /** `agent`, `account`. */
  readonly what: string;
  readonly move: "suspend" | "restore";
  /** The effect of the move, in words. */
  readonly effect: string;
  readonly refusal: Refusal | undefined;
}

/** What a posted form asks of the verb. */
export function askedMove(form: URLSearchParams) {
  return { move: form.get("move"), reason: form.get("reason") ?? "", note: form.get("note") || undefined };
}
