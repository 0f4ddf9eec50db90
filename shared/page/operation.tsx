/** @jsxRuntime automatic @jsxImportSource preact */
import { snippetsOf } from "../reference/call-snippets.ts";
import type { DocumentedAnswer, Operation } from "../reference/operations.ts";
import type { FieldRow } from "../reference/schema-rows.ts";
import { Breakable } from "./breakable.tsx";
import { CodeTabs } from "./code-tabs.tsx";
import { Copy } from "./copy.tsx";
import { highlightedNow } from "./highlight.tsx";
import { Icon } from "./icon.tsx";
import { Markdown } from "./markdown.tsx";
import { type Column, Table } from "./table.tsx";
import { Crumbs } from "./tabs.tsx";

/** `runAgent` → `Run agent`, `exchangeOAuthCode` → `Exchange OAuth code`. */
export function operationTitle({ id }: Operation): string {
  const words = id.split(/(?=OAuth)|(?<!O)(?=[A-Z])/).map((word) => properly[word] ?? word.toLowerCase());
  const title = words.join(" ");
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Names that are written in their own way. */
const properly: Readonly<Record<string, string>> = {
  Api: "API",
  Hd: "HD",
  Mcp: "MCP",
  OAuth: "OAuth",
  Svg: "SVG",
  Txt: "text",
  Yaml: "YAML",
};

/** One operation of a service: what it takes and answers, beside a call that can be sent. The highlighter must be loaded. */
export function OperationReference({ operation, all, hasMarkdown = false, moneyHref }: OperationReferenceProps) {
  return (
    <div class="wrap page">
      <div class="docs">
        <OperationNav operations={all} here={operation} />
        <div class="stack stack-8">
          <OperationHead operation={operation} hasMarkdown={hasMarkdown} />
          <div class="cols cols-2">
            <div class="stack stack-8">
              <Fields title="Parameters" rows={operation.parameters} />
              <Fields title="Body" rows={operation.body} />
              <Answers answers={operation.answers} moneyHref={moneyHref} />
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

interface OperationReferenceProps {
  readonly operation: Operation;
  readonly all: readonly Operation[];
  /** The reference is also at this address with `.md` behind it. */
  readonly hasMarkdown?: boolean;
  /** Where it is told what each status does to the caller's money. */
  readonly moneyHref?: string;
}

function OperationHead({ operation, hasMarkdown }: { operation: Operation; hasMarkdown: boolean }) {
  const { id, method, summary, description, access, call } = operation;
  return (
    <div class="page-head">
      <Crumbs
        trail={[
          { href: "/docs", label: "Docs" },
          { href: "/docs/api", label: "API" },
        ]}
        here={operationTitle(operation)}
      />
      <h1>{operationTitle(operation)}</h1>
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
        <span class="row row-tight">
          <Icon name="key" />
          {access}
        </span>
        <span class="mono">operationId {id}</span>
        {hasMarkdown && (
          <a class="link" href={`/docs/api/${id}.md`}>
            As Markdown
          </a>
        )}
      </p>
    </div>
  );
}

const fieldColumns: readonly Column<FieldRow>[] = [
  {
    head: "Name",
    cell: ({ name, type, required }) => (
      <>
        <code>
          <Breakable text={name} after="." />
        </code>
        <span class="cell-2">{required ? `${type}, required` : type}</span>
      </>
    ),
  },
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
        <Table label={title} columns={fieldColumns} rows={rows} stack />
      </div>
    </section>
  );
}

const answerColumns: readonly Column<DocumentedAnswer>[] = [
  { head: "Status", cell: ({ status }) => <code>{status}</code> },
  { head: "Means", cell: ({ meaning }) => <Markdown text={meaning} /> },
];

function Answers({ answers, moneyHref }: { answers: readonly DocumentedAnswer[]; moneyHref: string | undefined }) {
  return (
    <section class="stack stack-2">
      <div class="row between">
        <h2>Answers</h2>
        {moneyHref && (
          <a class="link small" href={moneyHref}>
            What each does to your money
          </a>
        )}
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

/** The operations of one chapter of the API, beside one of them. */
function OperationNav({ operations, here }: { operations: readonly Operation[]; here: Operation }) {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return (
    <nav class="side" aria-label="Operations">
      <ul>
        <li>
          <a href="/docs/api">All operations</a>
        </li>
      </ul>
      {tags.map((tag) =>
        tag === here.tag ? (
          <>
            <p class="side-title">{tag}</p>
            <ul>
              {operations
                .filter((operation) => operation.tag === tag)
                .map((operation) => (
                  <li>
                    <a href={`/docs/api/${operation.id}`} aria-current={operation.id === here.id ? "page" : undefined}>
                      <span class="verb verb-sm">{operation.method === "DELETE" ? "DEL" : operation.method}</span>
                      <code>{shortPath(operation.path)}</code>
                    </a>
                  </li>
                ))}
            </ul>
          </>
        ) : null,
      )}
      <p class="side-title">Others</p>
      <ul>
        {tags
          .filter((tag) => tag !== here.tag)
          .map((tag) => (
            <li>
              <a href={`/docs/api#${anchorOf(tag)}`}>{tag}</a>
            </li>
          ))}
      </ul>
    </nav>
  );
}

const shortPath = (path: string) => path.replace(/^\/api(\/v1)?(\/account)?(?=\/)/, "");
const anchorOf = (tag: string) => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
