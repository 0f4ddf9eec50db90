import { duration, percent } from "../../../shared/page/figures.ts";
import { readableJson } from "../../../shared/page/indented-json.ts";
import { objectLiteral } from "../../../shared/page/literals.ts";
import { figuresDays } from "../../agents/count-runs.ts";
import type { AgentDetail, DescribedField } from "../../agents/detail.ts";
import type { AgentExample } from "../../runs/agent-examples.ts";
import { creditsOf, usdcOf } from "../money.tsx";
import { ruleOf } from "./api-tab.tsx";
import { exampleInput, fieldsOf } from "./form-input.ts";
import { keySnippets, perCallSnippets, type Snippet } from "./snippets.ts";

/** The agent's page without mark-up, for programs that read. */
export function agentMarkdown(detail: AgentDetail, origin: string, [example]: readonly AgentExample[] = []): string {
  const { name, description, agent, price_credits: price, figures, per_call: perCall } = detail;
  const input = exampleInput(detail);
  const cost = price === 0 ? "free" : `${creditsOf(price)} = ${usdcOf(price)} a run; a run that fails costs no credits`;
  const code = (snippet: Snippet | undefined) =>
    snippet ? ["", `\`\`\`${snippet.language}`, programOf(snippet, input), "```"] : [];
  const fields = fieldsOf(detail);
  return [
    `# ${plain(name)}`,
    "",
    `> ${plain(description)}`,
    "",
    `- Id: \`${agent}\``,
    `- Price: ${cost}`,
    `- Runs on: ${detail.connector_name}; answers with ${detail.output_kind}`,
    `- Last ${figuresDays} days: ${figures.runs_30d} runs, ${percent(figures.success_rate)} succeeded, median ${duration(figures.median_ms)}`,
    `- MCP tool: \`${detail.mcp_tool}\` at ${origin}/api/mcp`,
    ...(perCall && price > 0 ? [`- Payable without an account on: ${perCall.networks.join(", ")}`] : []),
    `- Page: ${detail.page_url}`,
    "",
    "## Input",
    "",
    ...(fields.length === 0 ? ["It takes no input."] : fields.map(fieldLine)),
    "",
    ...(example ? exampleLines(example) : []),
    "## Run it with an API key",
    ...code(keySnippets({ origin, detail })[0]),
    ...(perCall ? ["", "## Without an account", ...code(perCallSnippets({ origin, detail })[0])] : []),
    "",
  ].join("\n");
}

const exampleMax = 60_000;

/** JSON has no line of its own that could end the fence. */
function exampleLines({ input, output }: AgentExample): string[] {
  const fenced = (value: unknown) => ["", "```json", readableJson(value, exampleMax), "```", ""];
  return ["## Example", "", "Asked by its creator:", ...fenced(input), "It gave:", ...fenced(output)];
}

function programOf({ before, language, indent, after }: Snippet, input: Parameters<typeof objectLiteral>[0]): string {
  return (
    before +
    objectLiteral(input, language, indent)
      .map(({ text }) => text)
      .join("") +
    after
  );
}

function fieldLine(field: DescribedField): string {
  const need = field.required && field.default === null ? "required" : "optional";
  const fallback = field.default === null ? "" : `; by default ${JSON.stringify(field.default)}`;
  const what = field.description === null ? "" : ` ${plain(field.description)}`;
  return `- \`${field.name}\` (${field.type}, ${need}): ${plain(ruleOf(field))}${fallback}.${what}`;
}

/** A creator's words on one line, escaped so that none begins any Markdown. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_[\]<>#|]/g, "\\$&");
}
