import type { IconName } from "../../../shared/page/icons.tsx";
import type { ConnectorId } from "../../connectors/connector.ts";
import { connectors } from "../../connectors/registry.ts";

/** What stands for the building block that an agent runs on; the bot, where a creator's agent is of one that is gone. */
export function connectorIcon(connector: ConnectorId): IconName {
  return connectors.get(connector)?.guide.icon ?? "bot";
}
