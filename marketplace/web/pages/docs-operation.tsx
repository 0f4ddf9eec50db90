/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { loadHighlighter } from "../../../shared/page/highlight.tsx";
import { OperationReference, operationTitle } from "../../../shared/page/operation.tsx";
import type { Operation } from "../../../shared/reference/operations.ts";
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
        title: operationTitle(operation),
        description: operation.summary,
        alternates: [{ type: "text/markdown", href: `/docs/api/${operation.id}.md` }],
        type: "article",
        body: <OperationReference operation={operation} all={operations()} hasMarkdown moneyHref="/docs/errors" />,
      };
    },
  };
}
