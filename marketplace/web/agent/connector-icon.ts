import type { IconName } from "../../../shared/page/icons.tsx";
import type { ConnectorId } from "../../connectors/connector.ts";

const icons: Readonly<Partial<Record<ConnectorId, IconName>>> = {
  llm: "text",
  "image-generator": "image",
  "http-api": "globe",
  "mcp-tool": "plug",
  "token-audit": "shield",
  "approval-check": "list-checks",
  "hedera-mint": "stamp",
  "hedera-transfer": "send",
  "hcs-write": "pen",
  "x-reward": "gift",
  "x-reward-credits": "ticket",
};

/** What stands for the building block that an agent runs on. */
export function connectorIcon(connector: ConnectorId): IconName {
  return icons[connector] ?? "bot";
}
