/** @jsxRuntime automatic @jsxImportSource preact */
import { Callout } from "../../../../shared/page/callout.tsx";
import { Disclosure } from "../../../../shared/page/disclosure.tsx";
import type { Output } from "../../../connectors/result.ts";
import { RunOutput } from "../../agent/result-card.tsx";
import { JsonCode, type ShownJson, shownJson } from "./json-code.tsx";

type Asked = Readonly<Record<string, string | number | boolean>> | null;

/** What of a run is shown as JSON. */
export interface RunJson {
  /** Null where none was kept. */
  readonly input: ShownJson | null;
  readonly output: ShownJson;
  readonly receipt: ShownJson | null;
}

export async function jsonOf(run: {
  readonly input?: Asked;
  readonly output: object | null;
  readonly receipt: object | null;
}): Promise<RunJson> {
  const { kind, data } = (run.output ?? {}) as { kind?: string; data?: unknown };
  const [input, output, receipt] = await Promise.all([
    run.input && Object.keys(run.input).length > 0 ? shownJson(run.input) : null,
    shownJson(kind === "json" ? data : run.output),
    run.receipt ? shownJson(run.receipt) : null,
  ]);
  return { input, output, receipt };
}

/** What a run was asked. */
export function RunInput({ input, json }: { input: Asked; json: RunJson }) {
  return (
    <section class="stack stack-2" aria-labelledby="input-title">
      <h2 id="input-title">Input</h2>
      {json.input ? (
        <JsonCode id="input" json={json.input} />
      ) : (
        <p class="dim small">
          {input ? "This run took no input." : "The input is not kept: it was too long, or the run is older than that."}
        </p>
      )}
    </section>
  );
}

/** The output of a run, shown by its kind, or why there is none. */
export function RunResultPart({ run, json, publicUrl }: ResultProps) {
  const { state, output, error } = run;
  return (
    <div class="stack stack-6">
      <section class="stack stack-2" aria-labelledby="output-title">
        <h2 id="output-title">Output</h2>
        {output ? (
          <OutputShown output={output} hidden={run.hidden_images} json={json.output} publicUrl={publicUrl} />
        ) : state === "running" ? (
          <Callout tone="info" title="It runs now">
            Its credits are held until it has ended. Load the page again in a moment.
          </Callout>
        ) : state === "succeeded" ? (
          <Callout tone="info" title="It is no longer kept">
            The outputs of the account’s runs take more room than is kept for them, so the oldest were let go.
          </Callout>
        ) : (
          <Callout tone="bad" title={state === "lost" ? "The run was lost" : "The agent failed"}>
            {error ? `“${error}” ` : ""}Nothing was charged.
          </Callout>
        )}
      </section>
      {json.receipt && (
        <section class="stack stack-2" aria-labelledby="receipt-title">
          <h2 id="receipt-title">Receipt</h2>
          <JsonCode id="receipt" json={json.receipt} />
        </section>
      )}
    </div>
  );
}

interface ResultProps {
  readonly run: Result;
  readonly json: RunJson;
  readonly publicUrl: string;
}

interface Result {
  readonly state: "running" | "succeeded" | "failed" | "lost";
  readonly output: object | null;
  readonly hidden_images: readonly string[];
  readonly error?: string;
}

function OutputShown({ output, hidden, json, publicUrl }: OutputShownProps) {
  const { kind, images } = output as { kind?: string; images?: readonly string[] };
  return (
    <>
      {images ? (
        <Images images={images} hidden={hidden} publicUrl={publicUrl} />
      ) : kind === "json" ? undefined : (
        <div class="card">
          <div class="card-body">
            <RunOutput output={output as Output} />
          </div>
        </div>
      )}
      {kind === "json" ? (
        <JsonCode id="output" json={json} />
      ) : (
        <Disclosure summary="As JSON">
          <JsonCode id="output" json={json} />
        </Disclosure>
      )}
    </>
  );
}

interface OutputShownProps {
  readonly output: object;
  readonly hidden: readonly string[];
  readonly json: ShownJson;
  readonly publicUrl: string;
}

/** Pictures of ours are shown; pages load nothing from anywhere else. */
function Images({ images, hidden, publicUrl }: ImagesProps) {
  return (
    <div class="result-images stack">
      {images.map((address, at) => {
        if (hidden.includes(address)) {
          return <p class="dim small">Image {at + 1} has been taken down by its creator.</p>;
        }
        const isOwn = address.startsWith(`${publicUrl}/files/`);
        return (
          <a class="link" href={address} rel="noreferrer">
            {isOwn ? <img src={address} alt={`Result ${at + 1}`} loading="lazy" /> : `Image ${at + 1}: ${address}`}
          </a>
        );
      })}
    </div>
  );
}

interface ImagesProps {
  readonly images: readonly string[];
  readonly hidden: readonly string[];
  readonly publicUrl: string;
}
