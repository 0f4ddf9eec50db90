/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { Card } from "../../../shared/page/card.tsx";
import { loadHighlighter } from "../../../shared/page/highlight.tsx";
import { OperationReference, operationTitle } from "../../../shared/page/operation.tsx";
import { Table } from "../../../shared/page/table.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { type Operation, operationsOf, type ReferenceFacts } from "../../../shared/reference/operations.ts";
import type { Access, Endpoint } from "../../http/endpoint.ts";
import { meanings, usualAnswers } from "../../http/openapi.ts";
import type { Page } from "../page.ts";

const section = "/docs";

/** Every operation of the daemon, from the declarations that its OpenAPI document is made of. */
export function referencePages(endpoints: readonly Endpoint[]): Page[] {
  const operations = operationsOf<Access>(() => endpoints, {
    // The service learns from each request where it is found.
    publicUrl: "",
    exampleUrl: "https://facilitator.example",
    // Longer than /settle waits for a chain.
    waitSeconds: 90,
    meanings,
    access,
    usualAnswers: (endpoint) => usualAnswers(endpoint as Endpoint),
  });
  return [indexPage(operations), operationPage(operations)];
}

const access: ReferenceFacts<Access>["access"] = {
  payments: { name: "any caller; a known resource server has a limit of its own", sends: "nothing" },
  reads: { name: "any caller", sends: "nothing" },
  unlimited: { name: "any caller, without a limit", sends: "nothing" },
};

function indexPage(operations: () => readonly Operation[]): Page {
  return {
    path: "/docs/api",
    scriptBytesMax: 2_048,
    show: () => ({
      title: "API",
      description: "Every operation of this x402 facilitator, with its fields, answers and examples.",
      section,
      body: <Index operations={operations()} />,
    }),
  };
}

function operationPage(operations: () => readonly Operation[]): Page {
  return {
    path: "/docs/api/{operation}",
    scriptBytesMax: 2_048,
    show: async ({ params, origin }) => {
      await loadHighlighter();
      const declared = operations().find(({ id }) => id === params.operation);
      if (!declared) throw new ApiError("not_found", "There is no such operation.");
      const operation = { ...declared, call: { ...declared.call, url: origin + declared.call.url } };
      return {
        title: operationTitle(operation),
        description: operation.summary,
        section,
        body: <OperationReference operation={operation} all={operations()} />,
      };
    },
  };
}

function Index({ operations }: { operations: readonly Operation[] }) {
  return (
    <div class="wrap page">
      <div class="stack stack-8">
        <div class="page-head">
          <Crumbs trail={[{ href: "/docs", label: "Docs" }]} here="API" />
          <h1>API</h1>
          <p class="dim measure">
            Every operation, from the declarations by which they are served. The same for programs:{" "}
            <a class="link" href="/openapi.json">
              OpenAPI 3.1
            </a>
            .
          </p>
        </div>
        {[...new Set(operations.map(({ tag }) => tag))].map((tag) => (
          <Chapter tag={tag} operations={operations.filter((operation) => operation.tag === tag)} />
        ))}
      </div>
    </div>
  );
}

function Chapter({ tag, operations }: { tag: string; operations: readonly Operation[] }) {
  return (
    <Card id={tag.toLowerCase()} title={tag} bare>
      <Table
        label={`Operations: ${tag}`}
        rows={operations}
        columns={[
          {
            head: "Operation",
            cell: (operation) => (
              <a class="link" href={`/docs/api/${operation.id}`}>
                {operationTitle(operation)}
              </a>
            ),
          },
          {
            head: "Address",
            cell: ({ method, path }) => (
              <code class="said">
                {method} {path}
              </code>
            ),
          },
          { head: "What it does", hide: "small", cell: ({ summary }) => summary },
        ]}
      />
    </Card>
  );
}
