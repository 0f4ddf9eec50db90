import type { Tool } from "@modelcontextprotocol/server";
import type { LiveAgent } from "../agents/find.ts";
import { creditsText, dollarText } from "../credits/amount.ts";

/** An agent as a tool. It has no output schema: its creator may republish it on a connector that answers in another shape. */
export function asTool(name: string, { address, version }: LiveAgent): Tool {
  const credits = Number(version.priceCredits);
  return {
    name,
    title: version.name,
    description: `${version.description}\n\n${priceText(credits)} ${durationText(version)}`,
    inputSchema: version.contract.jsonSchema as Tool["inputSchema"],
    annotations: {
      title: version.name,
      readOnlyHint: false,
      destructiveHint: version.permanent,
      idempotentHint: false,
      openWorldHint: true,
    },
    _meta: {
      agent: address,
      price_credits: credits,
      typical_duration_seconds: version.usualSeconds,
      time_limit_seconds: version.timeLimitMs / 1_000,
    },
  };
}

export function priceText(credits: number): string {
  if (credits === 0) return "Free.";
  return `Costs ${creditsText(credits)} (US${dollarText(BigInt(credits))}) a run; a failed run costs nothing.`;
}

function durationText({ usualSeconds: [least, most], permanent }: LiveAgent["version"]): string {
  return `Usually takes ${least} to ${most} seconds${permanent ? ", and what it does cannot be undone" : ""}.`;
}
