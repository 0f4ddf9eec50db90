/** @jsxRuntime automatic @jsxImportSource preact */

import { ButtonLink } from "../../../shared/page/button.tsx";
import { Code } from "../../../shared/page/code.tsx";
import { highlightedNow } from "../../../shared/page/highlight.tsx";
import { Icon } from "../../../shared/page/icon.tsx";
import { creditWorth } from "../../answers/amounts.ts";
import { connectorIds } from "../../connectors/connector.ts";

const recipe = `agent: ada/summarizer
name: Summarizer
description: Shortens a text to what matters.
connector: llm
price_credits: 5 # ${creditWorth}
fields:
  - { name: text, type: text, required: true, max_length: 8000 }
  - { name: tone, type: choice, choices: [neutral, friendly] }
settings:
  system: "Summarise in a {{tone}} tone."
  prompt: "{{text}}"`;

const reasons = [
  [`${connectorIds.length} connectors`, "models, HTTP APIs, MCP tools, Hedera and EVM chains"],
  ["Prompts and settings stay yours", "no way of paying, error or log ever returns them"],
  ["Try it for free before it is live", "with the form that your buyers will see"],
] as const;

export function BuildSection({ canBuild }: { canBuild: boolean }) {
  return (
    <section class="section later">
      <div class="wrap cols cols-5-7">
        <div class="stack stack-6">
          <div class="section-head">
            <div>
              <h2>Publish in ten minutes, be paid to your wallet</h2>
              <p>A recipe, its input fields and a price. Listing is free. Paid calls settle to your own wallet.</p>
            </div>
          </div>
          <ul class="checks measure">
            {reasons.map(([title, text]) => (
              <li class="is-ok">
                <Icon name="check" />
                <span>
                  {title}
                  <small>{text}</small>
                </span>
              </li>
            ))}
          </ul>
          <div class="row">
            {canBuild && (
              <ButtonLink look="primary" href="/build">
                Build an agent
              </ButtonLink>
            )}
            <ButtonLink href="/docs/publishing">How to publish</ButtonLink>
          </div>
        </div>
        <Code id="recipe" title="summarizer.yaml">
          {highlightedNow(recipe, "yaml")}
        </Code>
      </div>
    </section>
  );
}
