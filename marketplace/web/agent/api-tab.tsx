/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Callout } from "../../../shared/page/callout.tsx";
import { Code } from "../../../shared/page/code.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { type Column, Table } from "../../../shared/page/table.tsx";
import type { AgentDetail, DescribedField } from "../../agents/detail.ts";
import { CodeTabs, type ColouredSnippet } from "./code-tabs.tsx";
import { exampleInput, fieldsOf } from "./form-input.ts";
import type { ShownAgent } from "./shown-agent.ts";

/** How programs call it: with a key, without an account, with what input, and what the answers mean. */
export function ApiTab({ shown: { detail }, keySnippets, perCallSnippets, schema }: ApiTabProps) {
  const input = exampleInput(detail);
  return (
    <div class="cols cols-7-5">
      <div class="stack stack-8">
        <section class="stack">
          <h2>Run it with a key</h2>
          <p class="dim measure small">
            Underlined values are the input you last tried. <code class="icode">$KEY</code> is an API key of yours. Keep
            it on your server.
          </p>
          <CodeTabs id="key" snippets={keySnippets} input={input} />
        </section>
        {perCallSnippets.length > 0 && (
          <section class="stack">
            <h2>{detail.price_credits === 0 ? "Run it without a key" : "Pay per call"}</h2>
            <p class="dim measure small">
              No account:{" "}
              {detail.price_credits === 0
                ? "it answers at once."
                : "the first answer is the price, the second the result."}
            </p>
            <CodeTabs id="per-call" snippets={perCallSnippets} input={input} />
          </section>
        )}
        <section class="stack">
          <div class="row between">
            <h2>Input</h2>
            <a class="link small" href={`/${detail.agent}/openapi.json`}>
              OpenAPI 3.1 of this agent
            </a>
          </div>
          <InputTable detail={detail} />
          <Disclosure summary="As JSON Schema">
            <Code id="schema" title="input_schema">
              {schema}
            </Code>
          </Disclosure>
        </section>
      </div>
      <aside class="stack sticky">
        <section class="stack stack-2">
          <h2>Answers</h2>
          <div class="card">
            <Table label="Status codes" columns={answerColumns} rows={answers} plain />
          </div>
        </section>
        <Callout title="For agents reading this">
          The page without markup:{" "}
          <a class="link" href={`/${detail.agent}.md`}>
            /{detail.agent}.md
          </a>
        </Callout>
      </aside>
    </div>
  );
}

interface ApiTabProps {
  readonly shown: ShownAgent;
  readonly keySnippets: readonly ColouredSnippet[];
  readonly perCallSnippets: readonly ColouredSnippet[];
  /** The schema of its input, in colours. */
  readonly schema: ComponentChildren;
}

function InputTable({ detail }: { detail: AgentDetail }) {
  const fields = fieldsOf(detail);
  if (fields.length === 0) return <p class="small dim">It takes no input.</p>;
  return (
    <div class="card">
      <Table label="Input fields" columns={fieldColumns} rows={fields} />
    </div>
  );
}

const fieldColumns: ReadonlyArray<Column<DescribedField>> = [
  {
    head: "Field",
    cell: ({ name, required, default: fallback }) => (
      <>
        <code>{name}</code>
        {required && fallback === null && <span class="cell-2">required</span>}
      </>
    ),
  },
  { head: "Type", cell: ({ type }) => type },
  { head: "Rule", hide: "small", cell: (field) => <span class="dim">{ruleOf(field)}</span> },
  {
    head: "Default",
    hide: "medium",
    cell: ({ default: fallback }) =>
      fallback === null ? <span class="faint">none</span> : <code>{String(fallback)}</code>,
  },
];

/** In words, as an answer would say it. */
export function ruleOf({ type, choices, min, max, max_length: lengthMax, pattern }: DescribedField): string {
  const rules = [
    choices && `one of ${choices.join(", ")}`,
    min !== null && `at least ${min}`,
    max !== null && `at most ${max}`,
    lengthMax !== null && `up to ${lengthMax} characters`,
    pattern !== null && `matches ${pattern}`,
    type === "image" && "https or data: address of a PNG, JPEG or WebP",
  ];
  return rules.filter(Boolean).join("; ") || "none";
}

interface Answer {
  readonly status: string;
  readonly means: string;
  readonly charged: string;
}

const answerColumns: ReadonlyArray<Column<Answer>> = [
  { head: "Status", cell: ({ status }) => <code>{status}</code> },
  { head: "Means", cell: ({ means }) => means },
  { head: "Charged", isNumber: true, cell: ({ charged }) => <span class="dim">{charged}</span> },
];

const answers: readonly Answer[] = [
  { status: "200", means: "Handled. Read “success”", charged: "if true" },
  { status: "400", means: "A required field is missing", charged: "no" },
  { status: "401", means: "The key is missing or revoked", charged: "no" },
  { status: "402", means: "Not enough credits, or the price rose", charged: "no" },
  { status: "422", means: "A value broke a rule; it is named", charged: "no" },
  { status: "429", means: "Wait “Retry-After” seconds", charged: "no" },
  { status: "503", means: "Not possible right now", charged: "no" },
];
