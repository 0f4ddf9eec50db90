/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { Button } from "../../../../shared/page/button.tsx";
import { KeyValues } from "../../../../shared/page/table.tsx";
import { connectors } from "../../../connectors/registry.ts";
import { triesPerMinute } from "../../../runs/try.ts";
import { AgentCard } from "../../agent/agent-card.tsx";
import { InputFields } from "../../agent/input-fields.tsx";
import { networkName } from "../../agent/networks.tsx";
import { ResultCard } from "../../agent/result-card.tsx";
import { creditsOf, usdcOf } from "../../money.tsx";
import type { Editor } from "./editor-state.ts";
import { listedDraft, previewFields, priceOf } from "./shown-draft.ts";

/** The buyer's own form, with a free try of the draft. */
export function PreviewCard({ editor: { draft, tried } }: { editor: Editor }) {
  const fields = previewFields(draft.definition);
  const isPermanent = connectors.get(draft.definition.connector)?.permanent === true;
  return (
    <section class="card" aria-labelledby="preview-title" id="build-preview">
      <div class="card-head">
        <h2 id="preview-title">Form as buyers see it</h2>
        <span class="push" data-live-badge="" hidden>
          <Badge tone="info">
            <span class="dot dot-live" />
            live preview
          </Badge>
        </span>
      </div>
      <div class="card-body stack" id="build-form">
        <InputFields fields={fields} values={tried.values} wrong={tried.wrong} />
        {fields.length === 0 && <p class="small faint">This agent takes no input.</p>}
      </div>
      <div class="card-foot between">
        <span>
          {isPermanent
            ? "It cannot be tried: what it does cannot be taken back."
            : `Trying is free for you, ${triesPerMinute} a minute.`}
        </span>
        <Button look="primary" size="small" icon="play" name="do" value="try" disabled={isPermanent}>
          Try it
        </Button>
      </div>
    </section>
  );
}

/** What came of the try, as a buyer sees it. */
export function TriedCard({ editor: { tried, publicUrl } }: { editor: Editor }) {
  return (
    <div id="build-result" aria-live="polite">
      {tried.told && <ResultCard told={tried.told} publicUrl={publicUrl} />}
    </div>
  );
}

/** How it will stand in the lists, and what a run costs by each way to pay. */
export function BuyersCard({ editor }: { editor: Editor }) {
  const { owner, draft, networks, publicUrl } = editor;
  const listed = listedDraft(publicUrl, owner, { slug: draft.slug, definition: draft.definition, networks });
  return (
    <section class="card" aria-labelledby="buyers-title" id="build-buyers">
      <div class="card-head">
        <h2 id="buyers-title">What buyers see and pay</h2>
      </div>
      <div class="card-body stack">
        <KeyValues lines entries={waysToPay(editor, listed.per_call?.networks)} />
      </div>
      {priceOf(draft.definition) !== undefined && (
        <div class="build-listed" inert>
          <AgentCard agent={listed} under="h3" hasFigures={draft.agent === undefined} />
        </div>
      )}
    </section>
  );
}

function waysToPay({ draft, networks }: Editor, payable: readonly string[] | undefined) {
  const price = priceOf(draft.definition);
  if (price === undefined) return [["Price", "no whole number of credits yet"]] as const;
  if (price === 0)
    return [
      ["With an account", "free"],
      ["Without one", payable ? "free, within limits" : "not possible"],
    ] as const;
  const perCall = networks.map(
    (network) => [networkName(network), `${usdcOf(price)}, straight to your wallet`] as const,
  );
  return [
    ["Credits", `${creditsOf(price)} = ${usdcOf(price)}; earned credits are spent here`] as const,
    ...(payable ? perCall : [["USDC by wallet", "not offered: no checked wallet, or a run needs an account"] as const]),
    ["MCP", "the same prices"] as const,
  ];
}
