/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../shared/page/button.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { duration } from "../../../shared/page/figures.ts";
import { KeyValues } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import type { AgentExample } from "../../runs/agent-examples.ts";
import { RunOutput } from "./result-card.tsx";

interface ExamplesProps {
  readonly examples: readonly AgentExample[];
  readonly agent: string;
  readonly publicUrl: string;
}

/** Inputs that the agent's creator gave it, and its results. */
export function Examples({ examples, agent, publicUrl }: ExamplesProps) {
  return (
    <section class="stack" id="examples" aria-labelledby="examples-title">
      <div class="row between">
        <h2 id="examples-title">Examples</h2>
        <span class="small faint">runs of its creator’s, unchanged</span>
      </div>
      {examples.map((example) => (
        <Example example={example} agent={agent} publicUrl={publicUrl} />
      ))}
    </section>
  );
}

function Example({ example, agent, publicUrl }: { example: AgentExample } & Omit<ExamplesProps, "examples">) {
  const { runId, version, input, output, tookMs, ranAt } = example;
  const [first, ...more] = Object.entries(input).map(([name, value]) => [name, <Said text={String(value)} />] as const);
  return (
    <article class="card">
      <div class="card-body cols cols-5-7">
        <div class="stack stack-3">
          <h3>Input</h3>
          {first ? <KeyValues entries={[first]} /> : <p class="small faint">none</p>}
          {more.length > 0 && (
            <Disclosure summary={`${more.length} more`}>
              <KeyValues entries={more} />
            </Disclosure>
          )}
        </div>
        <div class="stack stack-3">
          <h3>Output</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
          <section class="example-output stack" tabIndex={0} aria-label="Output of this example">
            <RunOutput output={output} publicUrl={publicUrl} />
          </section>
        </div>
      </div>
      <div class="card-foot between">
        <span class="small num">
          <Time at={ranAt} />, version {version}, {duration(tookMs)}
        </span>
        <ButtonLink size="small" href={`/${agent}?example=${runId}`}>
          Use this input
        </ButtonLink>
      </div>
    </article>
  );
}

const charactersShown = 600;

function Said({ text }: { text: string }) {
  return (
    <span class="said" title={text.length > charactersShown ? text.slice(0, 2_000) : undefined}>
      {text.slice(0, charactersShown)}
      {text.length > charactersShown && "…"}
    </span>
  );
}
