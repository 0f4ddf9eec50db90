import type { ExampleCall } from "./operations.ts";

/** A call of the API as one writes it in some language. */
export interface Snippet {
  readonly name: string;
  readonly language: "sh" | "ts" | "python";
  readonly code: string;
}

/**
 * One call as curl, TypeScript and Python. The key is read from the environment; a call that needs a session has its
 * cookie in a jar, and is curl only.
 */
export function snippetsOf(call: ExampleCall): Snippet[] {
  const curl = { name: "curl", language: "sh", code: curlOf(call) } as const;
  if (call.sends === "session") return [curl];
  return [
    curl,
    { name: "TypeScript", language: "ts", code: typescriptOf(call) },
    { name: "Python", language: "python", code: pythonOf(call) },
  ];
}

function curlOf({ method, url, sends, body, isForm }: ExampleCall): string {
  const usual = body === undefined ? "GET" : "POST";
  const parts = [
    `curl -s ${sends === "session" ? "-b jar " : ""}${method === usual ? "" : `-X ${method} `}${shellQuoted(url)}`,
    ...(sends === "key" ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(body === undefined ? [] : isForm ? formOptions(body) : jsonOptions(body)),
  ];
  return parts.join(" \\\n  ");
}

const jsonOptions = (body: unknown) => [
  "-H 'Content-Type: application/json'",
  `-d ${shellQuoted(jsonOf(body, 4), true)}`,
];
const formOptions = (body: unknown) =>
  Object.entries(body as object).map(([name, value]) => `--data-urlencode ${shellQuoted(`${name}=${value}`)}`);

function typescriptOf({ method, url, sends, body, isForm }: ExampleCall): string {
  const headers = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the example's own
    ...(sends === "key" ? ["authorization: `Bearer ${process.env.KEY}`"] : []),
    ...(body === undefined || isForm ? [] : ['"content-type": "application/json"']),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length > 0 ? [`  headers: { ${headers.join(", ")} },`] : []),
    ...(body === undefined
      ? []
      : [`  body: ${isForm ? "new URLSearchParams" : "JSON.stringify"}(${jsonOf(body, 4)}),`]),
  ];
  const given = options.length > 0 ? `, {\n${options.join("\n")}\n}` : "";
  return `const answer = await fetch(${JSON.stringify(url)}${given});\nconsole.log(answer.status, await answer.text());`;
}

function pythonOf({ method, url, sends, body, isForm, waitSeconds }: ExampleCall): string {
  const headers = [
    ...(sends === "key" ? ['"Authorization": f"Bearer {os.environ[\'KEY\']}"'] : []),
    ...(body === undefined || isForm ? [] : ['"Content-Type": "application/json"']),
  ];
  const encode = isForm ? "urllib.parse.urlencode" : "json.dumps";
  const parts = [
    `    ${JSON.stringify(url)},`,
    `    method="${method}",`,
    ...(headers.length > 0 ? [`    headers={${headers.join(", ")}},`] : []),
    ...(body === undefined ? [] : [`    data=${encode}(${pythonLiteral(body)}).encode(),`]),
  ];
  const imports = [
    ...(body === undefined ? [] : [isForm ? "urllib.parse" : "json"]),
    ...(sends === "key" ? ["os"] : []),
    "urllib.request",
  ];
  return (
    `import ${imports.join(", ")}\n\nrequest = urllib.request.Request(\n${parts.join("\n")}\n)\n` +
    `answer = urllib.request.urlopen(request, timeout=${waitSeconds})\nprint(answer.status, answer.read().decode())`
  );
}

/** On one line where it is short. */
function jsonOf(value: unknown, indent: number): string {
  const line = JSON.stringify(value);
  return line.length <= 60 ? line : JSON.stringify(value, null, 2).replaceAll("\n", `\n${" ".repeat(indent - 2)}`);
}

function shellQuoted(text: string, always = false): string {
  return always || /[^\w:/.?=-]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text;
}

function pythonLiteral(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`);
  return `{${entries.join(", ")}}`;
}
