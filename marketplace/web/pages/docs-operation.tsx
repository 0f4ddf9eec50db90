/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { CodeTabs } from "../../../shared/page/code-tabs.tsx";
import { Copy } from "../../../shared/page/copy.tsx";
import { highlightedNow, loadHighlighter } from "../../../shared/page/highlight.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import { Markdown } from "../../../shared/page/markdown.tsx";
import { type Column, Table } from "../../../shared/page/table.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { snippetsOf } from "../docs/examples.ts";
import { OperationNav } from "../docs/layout.tsx";
import { accessNames } from "../docs/operation-markdown.ts";
import type { DocumentedAnswer, Operation } from "../docs/operations.ts";
import type { FieldRow } from "../docs/schema-rows.ts";
import type { Page } from "../page.ts";

/** One operation of the API: its parameters beside a call that can be sent. */
export function operationPage(operations: () => readonly Operation[]): Page {
  return {
    path: "/docs/api/{operation}",
    scriptBytesMax: 4_096,
    show: async ({ params }) => {
      await loadHighlighter();
      const operation = operations().find(({ id }) => id === params.operation);
      if (!operation) throw new ApiError("not_found", "There is no such operation.");
      return {
        title: titleOf(operation),
        description: operation.summary,
        alternates: [{ type: "text/markdown", href: `/docs/api/${operation.id}.md` }],
        type: "article",
        body: <Shown operation={operation} all={operations()} />,
      };
    },
  };
}

/** `runAgent` → `Run agent`. */
function titleOf({ id }: Operation): string {
  const words = id.replaceAll(/([A-Z])/g, " $1").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Shown({ operation, all }: { operation: Operation; all: readonly Operation[] }) {
  return (
    <div class="wrap page">
      <div class="docs">
        <OperationNav operations={all} here={operation} />
        <div class="stack stack-8">
          <Head operation={operation} />
          <div class="cols cols-2">
            <div class="stack stack-8">
              <Fields title="Parameters" rows={operation.parameters} />
              <Fields title="Body" rows={operation.body} />
              <Answers answers={operation.answers} />
              {operation.answers.map(({ status, fields }) => (
                <Fields title={`Fields of a ${status}`} rows={fields} />
              ))}
            </div>
            <aside class="stack sticky">
              <Call operation={operation} />
              <Examples answers={operation.answers} />
            </aside>
          </div>
        </div>
      </div>
    </div>
  );
}

function Head({ operation }: { operation: Operation }) {
  const { id, method, summary, description, access, call } = operation;
  return (
    <div class="page-head">
      <Crumbs
        trail={[
          { href: "/docs", label: "Docs" },
          { href: "/docs/api", label: "API" },
        ]}
        here={titleOf(operation)}
      />
      <h1>{titleOf(operation)}</h1>
      <p class="row row-3">
        <span class="verb">{method}</span>
        <code class="wrap-any">{operation.path}</code>
        <Copy label="Copy the address" text={call.url} />
      </p>
      <p class="lede lede-wide">{summary}</p>
      <div class="dim measure">
        <Markdown text={description} />
      </div>
      <p class="row row-4 small faint">
        <span class="row">
          <Icon name="key" />
          {accessNames[access]}
        </span>
        <span class="mono">operationId {id}</span>
        <a class="link" href={`/docs/api/${id}.md`}>
          As Markdown
        </a>
      </p>
    </div>
  );
}

const fieldColumns: readonly Column<FieldRow>[] = [
  {
    head: "Name",
    cell: ({ name, required }) => (
      <>
        <code>{name}</code>
        {required && <span class="cell-2">required</span>}
      </>
    ),
  },
  { head: "Type", cell: ({ type }) => <span class="dim">{type}</span> },
  {
    head: "Meaning",
    cell: ({ description, rules }) => (
      <>
        {description ? <Markdown text={description} /> : rules.length === 0 && <span class="faint">–</span>}
        {rules.length > 0 && <span class="cell-2">{rules.join("; ")}</span>}
      </>
    ),
  },
];

function Fields({ title, rows }: { title: string; rows: readonly FieldRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section class="stack stack-2">
      <h2>{title}</h2>
      <div class="card">
        <Table label={title} columns={fieldColumns} rows={rows} />
      </div>
    </section>
  );
}

const answerColumns: readonly Column<DocumentedAnswer>[] = [
  { head: "Status", cell: ({ status }) => <code>{status}</code> },
  { head: "Means", cell: ({ meaning }) => <Markdown text={meaning} /> },
];

function Answers({ answers }: { answers: readonly DocumentedAnswer[] }) {
  return (
    <section class="stack stack-2">
      <div class="row between">
        <h2>Answers</h2>
        <a class="link small" href="/docs/errors">
          What each does to your money
        </a>
      </div>
      <div class="card">
        <Table label="Answers" columns={answerColumns} rows={answers} />
      </div>
    </section>
  );
}

function Call({ operation }: { operation: Operation }) {
  const tabs = snippetsOf(operation.call).map(({ name, language, code }) => {
    return { name, children: highlightedNow(code, languages[language]) };
  });
  return <CodeTabs id="call" tabs={tabs} />;
}

const languages = { sh: "bash", ts: "typescript", python: "python" } as const;
const examplesMax = 4;

function Examples({ answers }: { answers: readonly DocumentedAnswer[] }) {
  const shown = answers.filter(({ example }) => example !== undefined).slice(0, examplesMax);
  if (shown.length === 0) return null;
  const tabs = shown.map(({ status, mediaType, example = "" }) => {
    return {
      name: String(status),
      children: mediaType === "application/json" ? highlightedNow(example, "json") : example,
    };
  });
  return <CodeTabs id="answer" label="Answer" tabs={tabs} />;
}
