/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../shared/page/badge.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { indentedJson } from "../../../shared/page/indented-json.ts";
import { KeyValues } from "../../../shared/page/table.tsx";
import type { Output } from "../../connectors/result.ts";
import { JsonCut, jsonShownMax } from "../json-cut.tsx";

/** What is told of a run that was posted as a form. */
export type Told =
  | { readonly outcome: "success"; readonly runId: string; readonly output: Output; readonly paid: string }
  | { readonly outcome: "failed"; readonly runId: string; readonly error: string }
  /** Its chain has not told yet; the error says what follows. */
  | { readonly outcome: "unknown"; readonly runId: string; readonly error: string }
  | Refused;

interface Refused {
  readonly outcome: "refused";
  readonly message: string;
  /** An earlier post of the same form may have run, of which the refusal says nothing. */
  readonly isForNow?: boolean;
  /** An earlier post of the same form ran. */
  readonly wasCharged?: boolean;
}

export function ResultCard({ told, publicUrl, explorer }: { told: Told } & Omit<RunOutputProps, "output">) {
  return (
    <section class="card" aria-labelledby="result-title" id="result">
      <div class="card-head">
        <h2 id="result-title">Result</h2>
        {told.outcome === "success" && (
          <Badge tone="ok" dot>
            success
          </Badge>
        )}
        {told.outcome === "failed" && (
          <Badge tone="bad" dot>
            failed
          </Badge>
        )}
      </div>
      <div class="card-body stack stack-6">
        {told.outcome === "success" && <RunOutput output={told.output} publicUrl={publicUrl} explorer={explorer} />}
        {told.outcome === "failed" && (
          <Callout tone="bad" title="The agent failed" role="alert">
            “{told.error}” Nothing was charged.
          </Callout>
        )}
        {told.outcome === "unknown" && (
          <Callout tone="warn" title="Not known yet" role="alert">
            {told.error}
          </Callout>
        )}
        {told.outcome === "refused" && (
          <Callout tone="warn" title={told.message} role="alert">
            {chargeOf(told)}
          </Callout>
        )}
      </div>
      {told.outcome !== "refused" && (
        <div class="card-foot between">
          <span class="mono small">{told.runId}</span>
          <span class="num">{costOf(told)}</span>
        </div>
      )}
    </section>
  );
}

function chargeOf({ isForNow, wasCharged }: Refused): string {
  if (wasCharged) return "It was charged once, when it ran.";
  return isForNow
    ? "Press Run again later: it runs and is charged once, however often this form is posted."
    : "Nothing was charged.";
}

function costOf(told: Exclude<Told, { readonly outcome: "refused" }>): string {
  if (told.outcome === "success") return told.paid;
  return told.outcome === "failed" ? "Nothing was charged." : "Charged if it was done.";
}

/**
 * The output of a run, shown by its kind. Pictures that this service keeps are shown, where its address is told: pages load
 * nothing from elsewhere.
 */
export function RunOutput({ output, publicUrl, explorer }: RunOutputProps) {
  if ("images" in output) {
    return (
      <>
        {output.images.map((address, at) => (
          <p class="result-images">
            <a class="link" href={address} rel="noreferrer">
              {publicUrl !== undefined && address.startsWith(`${publicUrl}/files/`) ? (
                <img src={address} alt={`Result ${at + 1}`} loading="lazy" />
              ) : (
                `Image ${at + 1}`
              )}
            </a>
          </p>
        ))}
      </>
    );
  }
  if (output.kind === "text") return <div class="result-text">{output.text}</div>;
  if (output.kind === "receipt") {
    return (
      <KeyValues
        entries={[
          ["Status", output.status],
          ["Transaction", <ChainTransaction id={output.transactionId} explorer={explorer} />],
        ]}
      />
    );
  }
  const { text, isCut } = indentedJson(output.data, jsonShownMax);
  return (
    <>
      <div class="code">
        <pre>
          <code>{text}</code>
        </pre>
      </div>
      {isCut && <JsonCut />}
    </>
  );
}

interface RunOutputProps {
  readonly output: Output;
  readonly publicUrl?: string | undefined;
  /** What begins the explorer's addresses. */
  readonly explorer?: string | undefined;
}

/** A reward in credits names the run itself as its transaction, of which no explorer knows. */
function ChainTransaction({ id, explorer }: { id: string; explorer: string | undefined }) {
  if (explorer === undefined || !id.startsWith("0.0.")) return <span class="mono">{id}</span>;
  return (
    <a class="link mono" href={`${explorer}/transaction/${id}`} rel="noreferrer">
      {id}
    </a>
  );
}
