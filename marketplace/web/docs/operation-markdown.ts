import type { Access } from "../../http/endpoint.ts";
import { snippetsOf } from "./examples.ts";
import { tableOf } from "./generated.ts";
import type { DocumentedAnswer, Operation } from "./operations.ts";
import type { FieldRow } from "./schema-rows.ts";

/** Who is let in, in words. */
export const accessNames: Readonly<Record<Access, string>> = {
  public: "no key",
  unlimited: "no key, no limit",
  apiKey: "API key",
  session: "session of a person who is signed in",
  account: "session of a person with an account",
  operator: "session of an operator who showed a code in the last ten minutes",
};

/** One operation as Markdown: the twin of its page. */
export function operationMarkdown(operation: Operation): string {
  const { id, method, path, summary, description, access, parameters, body, answers } = operation;
  return [
    `# ${id}`,
    `\`${method} ${path}\`: ${summary}`,
    description,
    `Who may: ${accessNames[access]}.`,
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
      .map(({ id, method, path, summary }) => [`[${id}](/docs/api/${id})`, `\`${method} ${path}\``, summary]);
    return `## ${tag}\n\n${tableOf(["Operation", "Address", "What it does"], rows)}`;
  });
  return ["# REST API", "Every operation, from the declarations by which they are served.", ...chapters].join("\n\n");
}

function chapter(title: string, rows: readonly FieldRow[]): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map(({ name, type, required, description, rules }) => {
    return [
      `\`${name}\``,
      `${type}${required ? ", required" : ""}`,
      [description, ...rules].filter(Boolean).join("; "),
    ];
  });
  return [`## ${title}`, tableOf(["Name", "Type", "Meaning"], cells)];
}

function exampleOf({ status, mediaType, example }: DocumentedAnswer): string[] {
  if (example === undefined) return [];
  return [`Example of a ${status}:`, `\`\`\`${mediaType === "application/json" ? "json" : ""}\n${example}\n\`\`\``];
}
