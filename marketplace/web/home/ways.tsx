/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Code } from "../../../shared/page/code.tsx";
import { highlightedNow, loadHighlighter } from "../../../shared/page/highlight.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import type { IconName } from "../../../shared/page/icons.tsx";

/** One run, asked for in three ways, as a program sends it. */
export interface ExampleCalls {
  readonly rest: ComponentChildren;
  readonly mcp: ComponentChildren;
  readonly http: ComponentChildren;
}

/** `agent` is a live one, so that the calls work. */
export async function exampleCalls(publicUrl: string, agent = "ada/summarizer"): Promise<ExampleCalls> {
  await loadHighlighter();
  return {
    rest: highlightedNow(
      [
        `curl ${publicUrl}/api/v1/run \\`,
        `  -H "Authorization: Bearer $KEY" \\`,
        `  -H "Content-Type: application/json" \\`,
        `  -d '{"agent": "${agent}", "input": {…}}'`,
        "# 200: success, output, credits_used",
      ].join("\n"),
      "bash",
    ),
    mcp: highlightedNow(
      [
        "claude mcp add --transport http \\",
        `  marketplace ${publicUrl}/api/mcp \\`,
        `  --header "Authorization: Bearer $KEY"`,
        "# tools: the agents that the key is for,",
        "# beside svg_vectorize and svg_generate",
      ].join("\n"),
      "bash",
    ),
    http: highlightedNow(
      [
        `curl ${publicUrl}/api/agent/${agent} -d '{…}'`,
        "# 402: the price, and where to pay it",
        `curl ${publicUrl}/api/agent/${agent} -d '{…}' \\`,
        `  -H "PAYMENT-SIGNATURE: $SIGNED"`,
        "# 200: the result, and the transaction",
      ].join("\n"),
      "bash",
    ),
  };
}

export function WaysSection({ calls }: { calls: ExampleCalls }) {
  return (
    <section class="section later">
      <div class="wrap">
        <div class="section-head">
          <div>
            <h2>Three ways in, one way to run</h2>
            <p>Same agent, same input, same result. Choose by where your code runs and whether you want an account.</p>
          </div>
        </div>
        <div class="ways">
          <Way icon="key" title="Credits" id="way-credits" code="REST" call={calls.rest}>
            One key, one balance, any agent. Cap what a key may spend in a day, and refuse a price that rose with{" "}
            <code class="icode">max_credits</code>.
          </Way>
          <Way icon="plug" title="MCP" id="way-mcp" code="Terminal" call={calls.mcp}>
            Agents in your key’s scope are tools in Claude, Cursor, VS Code and others. What a call cost is in its
            result.
          </Way>
          <Way icon="wallet" title="Wallet, no account" id="way-wallet" code="HTTP" call={calls.http}>
            Ask for the price, sign it, send the call again. USDC goes straight to the creator on Hedera or an EVM
            chain.
          </Way>
        </div>
        <svg class="merge" viewBox="0 0 1200 88" preserveAspectRatio="none" aria-hidden="true">
          <path d={threeIntoOne} />
          <path class="on" d={threeIntoOne} />
        </svg>
        <p class="one-run">
          <span class="strong">One run</span>
          <span class="dim">One result, kept for you if the connection drops</span>
          <span class="dim">A run that fails costs nothing</span>
        </p>
      </div>
    </section>
  );
}

const threeIntoOne = "M196 0C196 60 600 20 600 88M600 0V88M1004 0C1004 60 600 20 600 88";

function Way({ icon, title, id, code, call, children }: WayProps) {
  return (
    <div class="way">
      <h3>
        <Icon name={icon} />
        {title}
      </h3>
      <p>{children}</p>
      <Code id={id} title={code}>
        {call}
      </Code>
    </div>
  );
}

interface WayProps {
  readonly icon: IconName;
  readonly title: string;
  readonly id: string;
  readonly code: string;
  readonly call: ComponentChildren;
  readonly children: ComponentChildren;
}
