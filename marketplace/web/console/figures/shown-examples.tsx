/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { OwnAgent } from "../../../agents/creator-agents.ts";
import type { AgentExample } from "../../../runs/agent-examples.ts";
import { ActField } from "../act-field.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";

/** The creator's runs that stand on the agent's page: a run's own page is gone long before its example is. */
export function ShownExamples({ agent, examples, refusal }: ShownExamplesProps) {
  if (examples.length === 0) return null;
  return (
    <section class="card" aria-labelledby="examples-title">
      <div class="card-head">
        <h2 id="examples-title">Examples</h2>
        <a class="link small push" href={`/${agent.handle}/${agent.slug}#examples`}>
          As buyers see them
        </a>
      </div>
      <RefusedNote refusal={refusal?.act === "no-example" ? refusal : undefined} />
      <ul>
        {examples.map((example) => (
          <Example slug={agent.slug} example={example} />
        ))}
      </ul>
    </section>
  );
}

interface ShownExamplesProps {
  readonly agent: OwnAgent;
  readonly examples: readonly AgentExample[];
  readonly refusal: Refusal | undefined;
}

function Example({ slug, example: { runId, version, input, ranAt } }: { slug: string; example: AgentExample }) {
  return (
    <li class="key-slot">
      <div>
        <h3>{titleOf(input)}</h3>
        <p class="key-meta">
          <span>
            run <Time at={ranAt} />
          </span>
          <span>version {version}</span>
        </p>
      </div>
      <form class="row row-tight" method="post" action={`/figures/${slug}`}>
        <ActField value="no-example" />
        <input type="hidden" name="run" value={runId} />
        <Button size="small" look="ghost" aria-label={`Take off: ${titleOf(input)}`}>
          Take off
        </Button>
      </form>
    </li>
  );
}

/** What it was asked, on a line. */
function titleOf(input: AgentExample["input"]): string {
  const text = Object.values(input).map(String).join(", ") || "Without input";
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
