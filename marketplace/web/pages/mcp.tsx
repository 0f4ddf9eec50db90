/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { type Column, Table } from "../../../shared/page/table.tsx";
import { CodeTabs, type ColouredSnippet, coloured } from "../agent/code-tabs.tsx";
import { cursorLink, mcpSnippets, vsCodeLink } from "../agent/mcp-clients.ts";
import type { Page } from "../page.ts";

/** How to add the agents to an MCP client. */
export function mcpPage(publicUrl: string): Page {
  return {
    path: "/mcp",
    scriptBytesMax: 8_192,
    show: async () => {
      const snippets = await coloured(mcpSnippets(publicUrl, true));
      return {
        title: "Agents as tools in your MCP client",
        description:
          "One address for Claude, Cursor, VS Code and others. The key decides which agents appear and what they may spend.",
        alternates: [{ type: "text/markdown", href: "/docs/mcp.md" }],
        islands: ["agent-code.js"],
        body: <ConnectSnippets publicUrl={publicUrl} snippets={snippets} />,
      };
    },
  };
}

function ConnectSnippets({ publicUrl, snippets }: { publicUrl: string; snippets: readonly ColouredSnippet[] }) {
  return (
    <div class="wrap page stack stack-8">
      <div class="page-head">
        <h1>Agents as tools in your client</h1>
        <p class="lede">
          One address. Which agents appear, how often they may run and what they may spend is up to the key.
        </p>
      </div>
      <div class="cols cols-5-7">
        <section class="stack" aria-labelledby="scope">
          <h2 id="scope">1. What it may run</h2>
          <div class="card">
            <Table label="Scopes of a key" columns={scopeColumns} rows={scopes} />
          </div>
          <p class="help">
            The scope is set when a key is made, with its rate and its cap a day: <Docs page="keys">keys and caps</Docs>
            .
          </p>
          <h2>Tools that every key has</h2>
          <div class="card">
            <Table label="Tools of every key" columns={toolColumns} rows={tools} />
          </div>
        </section>
        <section class="stack" aria-labelledby="add">
          <h2 id="add">2. Add it</h2>
          <div class="row row-3">
            <ButtonLink look="primary" icon="cursor" href={cursorLink(publicUrl)}>
              Add to Cursor
            </ButtonLink>
            <ButtonLink icon="plug" href={vsCodeLink(publicUrl)}>
              Add to VS Code
            </ButtonLink>
          </div>
          <p class="help">
            No link carries a key. VS Code asks you for it; Cursor reads <code class="icode">KEY</code> from its
            environment.
          </p>
          <CodeTabs id="mcp" snippets={snippets} />
          <h2>3. Ask for it</h2>
          <p class="small dim measure">
            “Summarise this thread with ada/summarizer, and say what it cost.” Each answer carries the credits that it
            used.
          </p>
          <Callout tone="info" title="A client that gives up loses the answer, not the run">
            The result is in the account’s history. <Docs page="mcp">What a call answers</Docs>
          </Callout>
          <div class="card">
            <Table label="Clients" columns={clientColumns} rows={clients} />
          </div>
        </section>
      </div>
    </div>
  );
}

function Docs({ page, children }: { page: string; children: string }) {
  return (
    <a class="link" href={`/docs/${page}`}>
      {children}
    </a>
  );
}

interface Scope {
  readonly name: string;
  readonly says: string;
}

const scopes: readonly Scope[] = [
  { name: "own_agents", says: "your own live agents; usual" },
  { name: "chosen_agents", says: "agents that you name, of any creator" },
  { name: "rest_only", says: "none as tools; the API as ever" },
];

const scopeColumns: ReadonlyArray<Column<Scope>> = [
  { head: "Scope", cell: ({ name }) => <code>{name}</code> },
  { head: "Tools", cell: ({ says }) => <span class="dim">{says}</span> },
];

const tools: readonly Scope[] = [
  { name: "agents_search", says: "finds agents in the key’s scope; free" },
  { name: "svg_vectorize", says: "traces an image" },
  { name: "svg_generate", says: "draws what you describe" },
];

const toolColumns: ReadonlyArray<Column<Scope>> = [
  { head: "Tool", cell: ({ name }) => <code>{name}</code> },
  { head: "Does", cell: ({ says }) => <span class="dim">{says}</span> },
];

interface Client {
  readonly name: string;
  readonly button: boolean;
  readonly key: string;
}

const clients: readonly Client[] = [
  { name: "Claude Code", button: false, key: "in the command" },
  { name: "Cursor", button: true, key: "from the environment" },
  { name: "VS Code", button: true, key: "asked for, kept by it" },
  { name: "Codex, Gemini CLI", button: false, key: "from the environment" },
  { name: "claude.ai and others that sign in", button: false, key: "none: you allow it on a page" },
];

const clientColumns: ReadonlyArray<Column<Client>> = [
  { head: "Client", cell: ({ name }) => name },
  {
    head: "Button",
    hide: "small",
    cell: ({ button }) => (button ? <span class="dim">yes</span> : <span class="faint">–</span>),
  },
  { head: "Key", cell: ({ key }) => <span class="dim">{key}</span> },
];
