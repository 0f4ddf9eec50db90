import type { Tool } from "@modelcontextprotocol/server";
import type { LiveAgent } from "../agents/find.ts";
import type { ConnectorId } from "../connectors/connector.ts";
import { creditsText, dollarText } from "../credits/amount.ts";

/** An agent as a tool. It has no output schema: its creator may republish it on a connector that answers in another shape. */
export function asTool(name: string, { address, version }: LiveAgent): Tool {
  const credits = Number(version.priceCredits);
  const takes = durations[version.connector] ?? seconds(2, 15);
  return {
    name,
    title: version.name,
    description: `${version.description}\n\n${priceText(credits)} ${takes.text}`,
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
      typical_duration_seconds: takes.seconds,
      time_limit_seconds: version.timeLimitMs / 1_000,
    },
  };
}

export function priceText(credits: number): string {
  if (credits === 0) return "Free.";
  return `Costs ${creditsText(credits)} (US${dollarText(BigInt(credits))}) a run; a failed run costs nothing.`;
}

/** As the specification tells them; whatever answers like a text agent is not listed. */
const durations: Partial<Record<ConnectorId, Duration>> = {
  "image-generator": seconds(30, 90),
  "hedera-mint": onChain(),
  "hedera-transfer": onChain(),
  "hcs-write": onChain(),
  "x-reward": onChain(),
};

interface Duration {
  readonly text: string;
  readonly seconds: readonly [least: number, most: number];
}

function seconds(least: number, most: number): Duration {
  return { text: `Usually takes ${least} to ${most} seconds.`, seconds: [least, most] };
}

function onChain(): Duration {
  return { text: "Usually takes a few seconds, and what it does on the chain cannot be undone.", seconds: [3, 15] };
}
