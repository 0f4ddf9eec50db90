/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Field } from "../../../../shared/page/field.tsx";
import type { Draft } from "../../../drafts/drafts.ts";
import type { Editor } from "./editor-state.ts";
import { Hidden } from "./history-cards.tsx";

/** Whether no buyer has called it yet. */
export const canMove = ({ agent }: Draft) => agent === undefined || agent.state === "draft";

/** Where it will be called, until it is published. */
export function AddressCard({ editor: { draft, owner, refusedMove } }: { editor: Editor }) {
  if (!canMove(draft)) return null;
  return (
    <section class="card" aria-labelledby="address-title" id="address">
      <div class="card-head">
        <h2 id="address-title">Address</h2>
      </div>
      <form class="card-body stack" method="post" action={`/build/${draft.slug}`}>
        <Hidden revision={draft.revision} act="move" />
        <Field
          id="new-slug"
          name="slug"
          label="Buyers call it at"
          help="It stays once it is published."
          error={refusedMove?.problem}
          control={(tied) => (
            <span class="affix">
              <span class="mono">{`${owner.handle}/`}</span>
              <input
                class="input mono"
                autocomplete="off"
                spellcheck={false}
                minLength={3}
                maxLength={48}
                required
                value={refusedMove?.slug ?? draft.slug}
                {...tied}
              />
            </span>
          )}
        />
        <div class="row">
          <Button>Change address</Button>
        </div>
      </form>
    </section>
  );
}
