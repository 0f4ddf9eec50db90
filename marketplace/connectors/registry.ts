import { approvalCheck } from "./approval-check.ts";
import type { Connector, ConnectorId } from "./connector.ts";
import { hcsWrite } from "./hcs-write.ts";
import { hederaMint } from "./hedera-mint.ts";
import { hederaTransfer } from "./hedera-transfer.ts";
import { httpApi } from "./http-api.ts";
import { imageGenerator } from "./image-generator.ts";
import { llm } from "./llm.ts";
import { mcpTool } from "./mcp-tool.ts";
import { tokenAudit } from "./token-audit.ts";
import { xReward } from "./x-reward.ts";
import { xRewardCredits } from "./x-reward-credits.ts";

/** The connectors an agent can be published on. Settings are checked by `settings` before a connector sees them. */
export const connectors: ReadonlyMap<ConnectorId, AnyConnector> = new Map(
  registered().map((connector) => [connector.id, connector]),
);

function registered(): AnyConnector[] {
  return [
    llm,
    imageGenerator,
    httpApi,
    mcpTool,
    tokenAudit,
    approvalCheck,
    hederaMint,
    hederaTransfer,
    hcsWrite,
    xReward,
    xRewardCredits,
  ];
}

// biome-ignore lint/suspicious/noExplicitAny: each connector has settings of its own, known only to itself
export type AnyConnector = Connector<any>;
