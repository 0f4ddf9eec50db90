import { snippetsOf } from "../../../shared/reference/call-snippets.ts";
import type { DocumentedAnswer, Operation } from "../../../shared/reference/operations.ts";
import type { FieldRow } from "../../../shared/reference/schema-rows.ts";
import { fieldCells, tableOf } from "./generated.ts";

/** One operation as Markdown: the twin of its page. */
export function operationMarkdown(operation: Operation): string {
  const { id, method, path, summary, description, access, parameters, body, answers } = operation;
  return [
    `# ${id}`,
    `\`${method} ${path}\`: ${summary}`,
    description,
    `Who may: ${access}.`,
    ...chapter("Parameters", parameters),
    ...chapter("Body", body),
    "## Call",
    ...snippetsOf(operation.call).map(({ language, code }) => `\`\`\`${language}\n${code}\n\`\`\``),
    "## Answers",
    tableOf(
      ["Status", "Means"],
      answers.map(({ status, meaning }) => [`\`${status}\``, meaning]),
    ),
    ...answers.filter(({ status }) => status < 300).flatMap(exampleOf),
  ].join("\n\n");
}

/** All operations in one list, by what they are about. */
export function operationIndex(operations: readonly Operation[]): string {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const chapters = tags.map((tag) => {
    const rows = operations
      .filter((operation) => operation.tag === tag)
      .map(({ id, method, path, summary }) => [`[${id}](/docs/api/${id}) \`${method} ${path}\``, summary]);
    return `## ${tag}\n\n${tableOf(["Operation", "What it does"], rows)}`;
  });
  return ["# REST API", "Every operation, from the declarations by which they are served.", ...chapters].join("\n\n");
}

function chapter(title: string, rows: readonly FieldRow[]): string[] {
  if (rows.length === 0) return [];
  return [`## ${title}`, tableOf(["Name", "Type", "Meaning"], rows.map(fieldCells))];
}

function exampleOf({ status, mediaType, example }: DocumentedAnswer): string[] {
  if (example === undefined) return [];
  return [`Example of a ${status}:`, `\`\`\`${mediaType === "application/json" ? "json" : ""}\n${example}\n\`\`\``];
}
