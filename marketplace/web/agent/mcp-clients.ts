import type { Snippet } from "./snippets.ts";

const name = "marketplace";

/** Cursor's link to install a server: its settings in base64, which read the key from the environment. */
export function cursorLink(origin: string): string {
  const settings = { url: `${origin}/api/mcp`, headers: { Authorization: `Bearer \${env:KEY}` } };
  const config = Buffer.from(JSON.stringify(settings)).toString("base64");
  return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name, config })}`;
}

/** VS Code's: it asks for the key and keeps it itself. */
export function vsCodeLink(origin: string): string {
  const settings = {
    name,
    type: "http",
    url: `${origin}/api/mcp`,
    headers: { Authorization: `Bearer \${input:key}` },
    inputs: [{ id: "key", type: "promptString", description: "API key", password: true }],
  };
  return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(settings))}`;
}

/** What is typed or pasted for other clients. */
export function mcpSnippets(origin: string, isPaidPerCall: boolean): readonly Snippet[] {
  const url = `${origin}/api/mcp`;
  const whole = (title: string, before: string): Snippet => ({
    title,
    language: "bash",
    before,
    indent: "",
    after: "",
  });
  return [
    whole(
      "Claude Code",
      `claude mcp add --transport http ${name} \\
  ${url} \\
  --header "Authorization: Bearer $KEY"`,
    ),
    whole(
      "Codex",
      `[mcp_servers.${name}]
url = "${url}"
bearer_token_env_var = "KEY"`,
    ),
    whole(
      "Gemini CLI",
      `{ "mcpServers": { "${name}": {
  "httpUrl": "${url}",
  "headers": { "Authorization": "Bearer $KEY" } } } }`,
    ),
    ...(isPaidPerCall
      ? [
          whole(
            "No key",
            `{ "mcpServers": { "${name}": {
  "url": "${origin}/api/x402/mcp" } } }`,
          ),
        ]
      : []),
  ];
}
