/** @jsxRuntime automatic @jsxImportSource preact */
import { ButtonLink } from "../../../shared/page/button.tsx";
import { KeyValues } from "../../../shared/page/table.tsx";
import { creditsOf } from "../money.tsx";
import { CodeTabs, type ColouredSnippet } from "./code-tabs.tsx";
import { fieldsOf } from "./form-input.ts";
import { cursorLink, vsCodeLink } from "./mcp-clients.ts";
import type { ShownAgent } from "./shown-agent.ts";

/** How it becomes a tool of an MCP client. No link carries a key: links are kept and shown. */
export function McpTab({ shown: { detail, agent }, publicUrl, snippets }: McpTabProps) {
  const names = fieldsOf(detail).map(({ name }) => name);
  return (
    <div class="cols cols-7-5">
      <section class="stack">
        <h2>Add it to your client</h2>
        <div class="row">
          <ButtonLink icon="cursor" href={cursorLink(publicUrl)}>
            Add to Cursor
          </ButtonLink>
          <ButtonLink icon="plug" href={vsCodeLink(publicUrl)}>
            Add to VS Code
          </ButtonLink>
        </div>
        <p class="help">
          The buttons never carry a key. The client asks you for it, or reads <code class="icode">KEY</code> from its
          environment.
        </p>
        <CodeTabs id="mcp" snippets={snippets} />
      </section>
      <aside class="stack">
        <h2>The tool</h2>
        <div class="card">
          <div class="card-body">
            <KeyValues
              entries={[
                ["Name", <code>{agent.toolName}</code>],
                ["Costs", detail.price_credits === 0 ? "nothing" : `${creditsOf(detail.price_credits)} a call`],
                [
                  "Takes",
                  names.length === 0
                    ? "no input"
                    : names.map((name, at) => (
                        <>
                          {at > 0 && ", "}
                          <code>{name}</code>
                        </>
                      )),
                ],
                ["Gives", given[detail.output_kind]],
                ["In scope of", "keys of the agent’s creator, and keys that chose it"],
              ]}
            />
          </div>
        </div>
      </aside>
    </div>
  );
}

interface McpTabProps {
  readonly shown: ShownAgent;
  readonly publicUrl: string;
  readonly snippets: readonly ColouredSnippet[];
}

const given = {
  text: "text",
  json: "structured JSON and text",
  image: "addresses of images",
  receipt: "a receipt of what was written",
} as const;
